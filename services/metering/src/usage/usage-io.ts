import { inBatchSpan, type Nats, placeOfMessage, type Service, systemClock } from '@brand-data/runtime';
import { Counter, Histogram } from 'prom-client';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { countDropped, tellDropped } from './dropped-usage.ts';
import { headersOf } from './nats-usage-streams.ts';
import { startUsageConsumer, type UsageConsumer } from './usage-consumer.ts';
import { registerUsageGauges } from './usage-metrics.ts';
import { keepRoom } from './usage-retention.ts';
import type { UsageStreams } from './usage-streams.ts';

/** Usage applied from the streams, and room kept in them, on the real clock and NATS, with their metrics. */
export async function consumeUsage(
  service: Service,
  nats: Nats,
  { store, streams }: { store: LedgerStore; streams: UsageStreams },
): Promise<UsageConsumer> {
  const { log, metrics, tracing } = service;
  const registers = [metrics];
  const results = new Counter({
    name: 'metering_usage_messages_total',
    help: 'Usage messages taken from the stream, by what became of them',
    labelNames: ['result'],
    registers,
  });
  // There from the start, so that the first of them is an increase.
  for (const result of ['applied', 'redelivered', 'dead_letter']) results.inc({ result }, 0);
  const batchMessages = new Histogram({
    name: 'metering_usage_batch_messages',
    help: 'Usage messages applied at once',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const applySeconds = new Histogram({
    name: 'metering_usage_apply_duration_seconds',
    help: 'Time that a batch of usage messages took to be stored, or to fail',
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    registers,
  });
  const dropped = countDropped(service);
  registerUsageGauges(service, nats, streams);
  const clock = systemClock;
  const retention = keepRoom(
    { streams, clock },
    {
      purged: ({ name }, purged) =>
        log.info({ stream: name, purged }, 'applied usage was taken out of the stream'),
      failed: (err, times) => {
        // NATS may be away for a moment; what fails on and on is the operators' business.
        if (times === 3) log.warn({ err }, 'usage streams cannot be kept from filling');
      },
    },
  );
  service.onStop('usage retention', () => retention.stop());
  const consumer = startUsageConsumer(
    { streams, store, clock },
    {
      applying: async (batch, apply) => {
        batchMessages.observe(batch.length);
        const stopTimer = applySeconds.startTimer();
        const places = tracing
          ? batch.flatMap((message) => placeOfMessage(tracing, { headers: headersOf(message) }) ?? [])
          : [];
        try {
          return await inBatchSpan(tracing, 'apply usage', { places, kind: 'consumer' }, apply);
        } finally {
          stopTimer();
        }
      },
      applied: (messages) => results.inc({ result: 'applied' }, messages),
      refused: (grants) => log.info({ grants }, 'usage of closed grants refused'),
      comeAgain: (messages, why, err) => {
        results.inc({ result: 'redelivered' }, messages);
        log.warn({ err, messages, why }, 'usage was not stored: it comes again');
      },
      setAside: ({ stream, sequence: seq, usage = [] }, reason, applied) => {
        results.inc({ result: 'dead_letter' });
        tellDropped(usage, applied, dropped);
        log.error({ stream, seq, reason }, 'a usage message was set aside');
      },
      notOpen: (err) => log.warn({ err }, 'usage cannot be taken from the stream: it is opened again'),
    },
  );
  service.onStop('usage consumer', () => consumer.stop());
  await consumer.opened;
  return consumer;
}
