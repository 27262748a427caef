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
export function keepRoom(service: Service, nats: Nats, streams: readonly UsageStream[]): void {
  const { log, signal } = service;
  const lookAfter = async ({ name }: UsageStream): Promise<void> => {
    const { state, config } = await nats.manager.streams.info(name);
    if (config.max_bytes <= 0 || state.bytes < config.max_bytes * FULL_ENOUGH) return;
    const { ack_floor } = await nats.manager.consumers.info(name, USAGE_CONSUMER);
    const middle = state.first_seq + Math.ceil((state.last_seq - state.first_seq) / 2);
    const firstKept = Math.min(ack_floor.stream_seq + 1, middle);
    if (firstKept <= state.first_seq) return;
    const { purged } = await nats.manager.streams.purge(name, { seq: firstKept });
    log.info({ stream: name, purged }, 'applied usage was taken out of the stream');
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      for (const stream of streams) {
        if (signal.aborted) return;
        await lookAfter(stream).catch((err) => log.debug({ err }, 'no look at how full the usage stream is'));
      }
    }
  };
  const running = run();
  service.onStop('usage retention', () => running);
}
