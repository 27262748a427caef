import { inBatchSpan, type Service, SpanKind, spanContextOfMessage } from '@brand-data/runtime';
import { Counter, Histogram } from 'prom-client';
import { countDropped, countRejected, reportDropped } from '../ledger/ledger-counters.ts';
import { headersOf } from './nats-usage-streams.ts';
import type { UsageConsumerEvents } from './usage-consumer.ts';

/** Reports to Prometheus, traces and the log what happens to usage from the streams. */
export function usageConsumerEvents(service: Service): UsageConsumerEvents {
  const { log, metrics, tracer } = service;
  const registers = [metrics];
  const results = new Counter({
    name: 'metering_usage_messages_total',
    help: 'Messages that metering took from the usage streams, by result',
    labelNames: ['result'],
    registers,
  });
  // Prometheus sees the first event as an increase only if the series already exists.
  for (const result of ['applied', 'redelivered', 'dead_letter']) results.inc({ result }, 0);
  const batchMessages = new Histogram({
    name: 'metering_usage_batch_messages',
    help: 'Messages that metering applied together, in one batch',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const applySeconds = new Histogram({
    name: 'metering_usage_apply_duration_seconds',
    help: 'Seconds until a batch of usage messages was stored or failed',
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    registers,
  });
  const dropped = countDropped(service);
  const rejected = countRejected(service);
  return {
    applying: async (batch, apply) => {
      batchMessages.observe(batch.length);
      const stopTimer = applySeconds.startTimer();
      const spanContexts = tracer
        ? batch.flatMap((message) => spanContextOfMessage({ headers: headersOf(message) }) ?? [])
        : [];
      try {
        return await inBatchSpan(tracer, 'apply usage', { spanContexts, kind: SpanKind.CONSUMER }, apply);
      } finally {
        stopTimer();
      }
    },
    applied: (messages) => results.inc({ result: 'applied' }, messages),
    refused: (grants) => log.info({ grants }, 'usage of closed grants refused'),
    redelivered: (messages, why, err) => {
      results.inc({ result: 'redelivered' }, messages);
      log.warn({ err, messages, why }, 'usage was not stored, the stream delivers it again');
    },
    deadLettered: ({ stream, sequence: seq, usage = [] }, reason, applied) => {
      results.inc({ result: 'dead_letter' });
      reportDropped(usage, applied, dropped);
      if (reason === 'forged' || reason === 'foreign_grant') rejected(reason);
      log.error({ stream, seq, reason }, 'a usage message was set aside');
    },
    notOpen: (err) => log.warn({ err }, 'cannot take usage from the stream, opening it again'),
  };
}
