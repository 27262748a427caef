import type { Service } from '@brand-data/runtime';
import { Counter, Histogram } from 'prom-client';

/** Returns a function that counts a request that the named service did not answer in time. An alert uses this counter. */
export function countUpstreamFailures({ metrics }: Service): (upstream: 'accounts' | 'catalog') => void {
  const failures = new Counter({
    name: 'gateway_upstream_failures_total',
    help: 'Requests to accounts or catalog that got no answer in time',
    labelNames: ['upstream'],
    registers: [metrics],
  });
  for (const upstream of ['accounts', 'catalog']) failures.inc({ upstream }, 0);
  return (upstream) => failures.inc({ upstream });
}

const FULL_EXPIRIES = ['many_changes', 'missed_message', 'reconnect'] as const;
/** Why all cached records are looked up again, and not only those that have changed. */
export type FullExpiry = (typeof FULL_EXPIRIES)[number];

/** Returns a function that counts that all cached records have expired. */
export function countFullExpiries({ metrics }: Pick<Service, 'metrics'>): (reason: FullExpiry) => void {
  const expiries = new Counter({
    name: 'gateway_record_full_expiries_total',
    help: 'Times that all cached records expired, because the gateway could not know which ones had changed',
    labelNames: ['reason'],
    registers: [metrics],
  });
  for (const reason of FULL_EXPIRIES) expiries.inc({ reason }, 0);
  return (reason) => expiries.inc({ reason });
}

/** Returns a function that records how many look-ups a request to catalog contains. */
export function measureLookups({ metrics }: Service): (queries: number) => void {
  const batches = new Histogram({
    name: 'gateway_lookup_batch_queries',
    help: 'Look-ups that the gateway sent to catalog in one request',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200],
    registers: [metrics],
  });
  return (queries) => batches.observe(queries);
}

/** Counts the calls whose token the gateway refused without a question to accounts. */
export function countUnaskedRefusals(
  { metrics }: Pick<Service, 'metrics'>,
  tokens: { refusedUnasked(): Record<string, number> },
): void {
  new Counter({
    name: 'gateway_tokens_refused_unasked_total',
    help: 'Calls whose token the gateway refused without asking accounts. "wrong": mistyped or made up. "limited": too many unknown tokens are being tried',
    labelNames: ['reason'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const [reason, calls] of Object.entries(tokens.refusedUnasked())) this.inc({ reason }, calls);
    },
  });
}
