import type { Service } from '@brand-data/runtime';
import { Counter, Gauge, Histogram } from 'prom-client';
import { countBy, readAtScrape } from '../metrics/series.ts';
import type { QuotaEvents } from './acquirer.ts';
import type { GrantBook } from './grant-book.ts';
import type { JournalEvents } from './usage-journal.ts';

/** Registers the metrics of the quota. Returns what counts its events, and logs usage that could not be made durable in time. */
export function quotaMetrics(
  { log, metrics }: Pick<Service, 'log' | 'metrics'>,
  book: GrantBook,
): QuotaEvents & Omit<JournalEvents, 'waits'> {
  const registers = [metrics];
  const batchCalls = new Histogram({
    name: 'gateway_usage_batch_calls',
    help: 'Calls whose usage was acknowledged in one batch',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    registers,
  });
  const commitSeconds = new Histogram({
    name: 'gateway_usage_commit_duration_seconds',
    help: 'Seconds until a batch of usage was durable, by path: "stream" (NATS) or "report" (directly to metering)',
    labelNames: ['path'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
    registers,
  });
  // These series start at zero. Without them Prometheus would not see the first commit as an increase.
  for (const path of ['stream', 'report']) commitSeconds.zero({ path });
  const commitFailures = new Counter({
    name: 'gateway_usage_commit_failed_calls_total',
    help: 'Calls whose usage neither the stream nor metering confirmed in time. They got 503, and their permits stay used',
    registers,
  });
  const asked = countBy(metrics, {
    name: 'gateway_quota_acquires_total',
    help: 'Requests for grants, by the answer of metering; "unavailable" if there was none',
    label: 'outcome',
    values: ['grant', 'wait', 'exhausted', 'stale', 'unavailable'],
  });
  const waits = new Counter({
    name: 'gateway_quota_waited_calls_total',
    help: 'Calls that waited for a grant because the gateway held no permit for them',
    registers,
  });
  const recalledPermits = new Counter({
    name: 'gateway_quota_recalled_permits_total',
    help: 'Permits that the gateway returned because calls waited at other gateways',
    registers,
  });
  const grants = { name: 'gateway_quota_grants', help: 'Grants that the gateway holds now' };
  readAtScrape(Gauge, metrics, grants, () => [[{}, book.size.grants]]);
  const permits = {
    name: 'gateway_quota_permits',
    help: 'Permits that the gateway holds now and that are neither used nor reserved',
  };
  readAtScrape(Gauge, metrics, permits, () => [[{}, book.size.permits]]);
  return {
    committed: (path, calls, tookMs) => {
      batchCalls.observe(calls);
      commitSeconds.observe({ path }, tookMs / 1000);
    },
    failed: (calls, err) => {
      commitFailures.inc(calls);
      log.warn({ err, calls }, 'usage could not be made durable in time');
    },
    asked,
    waited: () => waits.inc(),
    recalled: (permits) => recalledPermits.inc(permits),
  };
}

/** The calls that callers see as charged, so that operators can compare them with metering's bills. */
export interface ChargedCalls {
  /** Their usage is durable, so metering bills them. */
  answered: number;
  /** The gateway answers them with 503, and metering may bill them or not. */
  unsure: number;
}

/** Registers the counter of charged calls. It is set at each scrape, so that a call only adds to a number. */
export function countCharged({ metrics }: Pick<Service, 'metrics'>): ChargedCalls {
  const charged: ChargedCalls = { answered: 0, unsure: 0 };
  const metric = {
    name: 'gateway_charged_calls_total',
    help: 'Calls whose answer said that they are charged. "answered" ones are billed. "unsure" ones (503) may be billed or not',
    labelNames: ['certainty'],
  };
  readAtScrape(Counter, metrics, metric, () =>
    Object.entries(charged).map(([certainty, calls]) => [{ certainty }, calls]),
  );
  return charged;
}
