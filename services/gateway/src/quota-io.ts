import { randomBytes } from 'node:crypto';
import {
  type MeteringServiceClient,
  RECALLS_SUBJECT,
  Recall,
  UsageEvent,
  usageStream,
  usageStreamOf,
} from '@brand-data/contracts';
import { callUnary, inBatchSpan, type Nats, type Service, systemClock } from '@brand-data/runtime';
import { Counter, Gauge, Histogram } from 'prom-client';
import { createCommitPlaces } from './commit-places.ts';
import { LeaseBook } from './lease-book.ts';
import { type Quota, startQuota } from './quota.ts';
import { createUsageJournal } from './usage-journal.ts';

const PUBLISH_WITHIN_MS = 250;

/**
 * The quota on the real clock, NATS and metering, with its metrics.
 *
 * @param streams how many usage streams there are
 */
export function connectQuota(
  service: Service,
  nats: Nats,
  metering: MeteringServiceClient,
  streams: number,
): Quota {
  const { log, metrics, tracing } = service;
  const registers = [metrics];
  const clock = systemClock;
  // New at each boot: what an earlier process held is settled, not taken over.
  const holder = randomBytes(12).toString('hex');
  const subject = usageStream(usageStreamOf(holder, streams)).subjectOf(holder);
  const book = new LeaseBook();

  const batchCalls = new Histogram({
    name: 'gateway_usage_batch_calls',
    help: 'Calls whose usage was acknowledged with one batch',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    registers,
  });
  const commitSeconds = new Histogram({
    name: 'gateway_usage_commit_duration_seconds',
    help: 'Time until a batch of usage was durable, by path',
    labelNames: ['path'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers,
  });
  // There from the start, so that the first of them is an increase.
  for (const path of ['stream', 'report']) commitSeconds.zero({ path });
  const commitFailures = new Counter({
    name: 'gateway_usage_commit_failed_calls_total',
    help: 'Calls whose usage could not be made durable in time',
    registers,
  });
  const acquires = new Counter({
    name: 'gateway_quota_acquires_total',
    help: 'Requests for grants, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['grant', 'wait', 'exhausted', 'stale', 'unavailable']) acquires.inc({ outcome }, 0);
  const waits = new Counter({
    name: 'gateway_quota_waited_calls_total',
    help: 'Calls that had to wait for a grant',
    registers,
  });
  const recalledPermits = new Counter({
    name: 'gateway_quota_recalled_permits_total',
    help: 'Permits given back because other gateways had calls waiting',
    registers,
  });
  new Gauge({
    name: 'gateway_quota_grants',
    help: 'Grants in hand',
    registers,
    collect() {
      this.set(book.size.grants);
    },
  });
  new Gauge({
    name: 'gateway_quota_permits',
    help: 'Permits in hand that are neither used nor reserved',
    registers,
    collect() {
      this.set(book.size.permits);
    },
  });

  const places = tracing && createCommitPlaces(tracing);
  const journal = createUsageJournal(
    {
      ...{ book, holder, clock },
      paths: {
        publish: async (event, msgID) => {
          const payload = UsageEvent.encode(event).finish();
          await inBatchSpan(tracing, 'record usage', { places: places?.take(event.usage) ?? [] }, () =>
            nats.publish('usage', subject, payload, { msgID, timeout: PUBLISH_WITHIN_MS }),
          );
        },
        report: (request, deadlineMs) =>
          inBatchSpan(tracing, 'report usage', { places: places?.of(request.usage) ?? [] }, () =>
            callUnary(metering, metering.report, request, { deadlineMs }),
          ),
      },
    },
    {
      committed: (path, calls, tookMs) => {
        batchCalls.observe(calls);
        commitSeconds.observe({ path }, tookMs / 1000);
      },
      failed: (calls, err) => {
        commitFailures.inc(calls);
        log.warn({ err, calls }, 'usage could not be made durable in time');
      },
    },
  );
  const quota = startQuota(
    {
      ...{ book, journal, clock, holder },
      acquire: (request, deadlineMs) => callUnary(metering, metering.acquire, request, { deadlineMs }),
    },
    {
      asked: (outcome) => acquires.inc({ outcome }),
      waited: () => waits.inc(),
      recalled: (permits) => recalledPermits.inc(permits),
    },
  );
  nats.connection.subscribe(RECALLS_SUBJECT, {
    callback: (error, message) => {
      if (!error) quota.recall(Recall.decode(message.data));
    },
  });
  service.onStop('quota', () => quota.stop());
  if (!places) return quota;
  return {
    ...quota,
    commit: (permit) => {
      places.wait();
      return quota.commit(permit);
    },
  };
}
