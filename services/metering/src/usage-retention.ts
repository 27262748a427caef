import { setTimeout as delay } from 'node:timers/promises';
import { USAGE_CONSUMER, type UsageStream } from '@brand-data/contracts';
import type { Nats, Service } from '@brand-data/runtime';

const LOOK_EVERY_MS = 10_000;
/** Below the half that alerts: at a steady load what is not applied alone can bring a stream there. */
const FULL_ENOUGH = 0.4;

/**
 * Makes room in usage streams before they are full: takes the older half of the messages away, as far as they are applied.
 * What is not applied stays, however full a stream is. Every replica does so; twice is as good as once.
 */
export function keepRoom(service: Service, { manager }: Nats, streams: readonly UsageStream[]): void {
  const { log, signal } = service;
  const lookAfter = async ({ name }: UsageStream): Promise<void> => {
    const purged = await makeRoom(manager, name);
    if (purged > 0) log.info({ stream: name, purged }, 'applied usage was taken out of the stream');
  };
  const run = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      try {
        for (const stream of streams) if (!signal.aborted) await lookAfter(stream);
        failures = 0;
      } catch (err) {
        failures += 1;
        // NATS may be away for a moment; what fails on and on is the operators' business.
        if (failures === 3) log.warn({ err }, 'usage streams cannot be kept from filling');
      }
    }
  };
  const running = run();
  service.onStop('usage retention', () => running);
}

/** Returns how many messages went. */
export async function makeRoom(manager: Nats['manager'], stream: string): Promise<number> {
  const { state, config } = await manager.streams.info(stream);
  if (config.max_bytes <= 0 || state.bytes < config.max_bytes * FULL_ENOUGH) return 0;
  const { ack_floor } = await manager.consumers.info(stream, USAGE_CONSUMER);
  const middle = state.first_seq + Math.ceil((state.last_seq - state.first_seq) / 2);
  const firstKept = Math.min(ack_floor.stream_seq + 1, middle);
  if (firstKept <= state.first_seq) return 0;
  return (await manager.streams.purge(stream, { seq: firstKept })).purged;
}
