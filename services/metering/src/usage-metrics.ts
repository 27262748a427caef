import { setTimeout as delay } from 'node:timers/promises';
import { DEAD_LETTER_STREAM, USAGE_CONSUMER, USAGE_STREAM } from '@brand-data/contracts';
import type { Nats, Service } from '@brand-data/runtime';
import { Gauge } from 'prom-client';

/** A scrape waits for NATS no longer than this. */
const ASK_WITHIN_MS = 500;

/** How far the usage stream is from being applied and from being full, asked for at each scrape; absent without NATS. */
export function registerUsageGauges({ metrics }: Service, { manager }: Nats): void {
  const registers = [metrics];
  const consumerInfo = () => inTime(manager.consumers.info(USAGE_STREAM, USAGE_CONSUMER));
  const streamInfo = (stream: string) => inTime(manager.streams.info(stream));
  new Gauge({
    name: 'metering_usage_consumer_lag_messages',
    help: 'Usage messages that are not applied: "pending" with nobody yet, "unacknowledged" with a replica',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      const info = await consumerInfo();
      if (!info) return;
      this.set({ state: 'pending' }, info.num_pending);
      this.set({ state: 'unacknowledged' }, info.num_ack_pending);
    },
  });
  new Gauge({
    name: 'metering_dead_letter_messages',
    help: 'Messages that nobody could read, in the dead-letter stream',
    registers,
    async collect() {
      this.remove();
      const info = await streamInfo(DEAD_LETTER_STREAM);
      if (info) this.set(info.state.messages);
    },
  });
  new Gauge({
    name: 'metering_usage_stream_fill_ratio',
    help: 'Bytes in the usage stream, of the most that it takes; at 1 it takes nothing more',
    registers,
    async collect() {
      this.remove();
      const info = await streamInfo(USAGE_STREAM);
      if (info && info.config.max_bytes > 0) this.set(info.state.bytes / info.config.max_bytes);
    },
  });
}

async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  return Promise.race([answer.catch(() => undefined), delay(ASK_WITHIN_MS, undefined, { ref: false })]);
}
