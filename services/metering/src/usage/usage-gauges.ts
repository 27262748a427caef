import { setTimeout as delay } from 'node:timers/promises';
import { DEAD_LETTER_STREAM, USAGE_CONSUMER } from '@brand-data/contracts';
import type { Nats, Service } from '@brand-data/runtime';
import { Gauge } from 'prom-client';
import type { UsageStreams } from './usage-streams.ts';

/** A scrape of the metrics waits for NATS at most twice this long. */
const ASK_WITHIN_MS = 500;

/**
 * Gauges that NATS answers at each scrape: how many messages of each usage stream are not applied, how full it is, and how many
 * dead letters there are. A gauge is absent if NATS does not answer.
 */
export function registerUsageGauges(
  { metrics }: Service,
  { manager }: Nats,
  streams: Pick<UsageStreams, 'list'>,
): void {
  const registers = [metrics];
  const streamInfo = (stream: string) => orUndefined(manager.streams.info(stream));
  const ofEach = async (gauge: Gauge, set: (stream: string) => Promise<void>): Promise<void> => {
    gauge.reset();
    await Promise.all(((await orUndefined(streams.list())) ?? []).map(({ name }) => set(name)));
  };
  new Gauge({
    name: 'metering_usage_consumer_lag_messages',
    help: 'Usage messages that are not applied. "pending": no replica has them yet. "unacknowledged": a replica has them',
    labelNames: ['stream', 'state'],
    registers,
    collect() {
      return ofEach(this, async (stream) => {
        const info = await orUndefined(manager.consumers.info(stream, USAGE_CONSUMER));
        if (!info) return;
        this.set({ stream, state: 'pending' }, info.num_pending);
        this.set({ stream, state: 'unacknowledged' }, info.num_ack_pending);
      });
    },
  });
  new Gauge({
    name: 'metering_dead_letter_messages',
    help: 'Messages in the dead-letter stream: usage events that metering could not read or bill',
    registers,
    async collect() {
      this.remove();
      const info = await streamInfo(DEAD_LETTER_STREAM);
      if (info) this.set(info.state.messages);
    },
  });
  new Gauge({
    name: 'metering_usage_stream_fill_ratio',
    help: 'Bytes in a usage stream divided by its largest size; at 1 the stream accepts no more messages',
    labelNames: ['stream'],
    registers,
    collect() {
      return ofEach(this, async (stream) => {
        const info = await streamInfo(stream);
        if (info && info.config.max_bytes > 0) this.set({ stream }, info.state.bytes / info.config.max_bytes);
      });
    },
  });
}

async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  return Promise.race([answer.catch(() => undefined), delay(ASK_WITHIN_MS, undefined, { ref: false })]);
}
