import { countBy, readAtScrape, type Service } from '@brand-data/runtime';
import { Counter, Gauge, Histogram } from 'prom-client';

type Metered = Pick<Service, 'metrics'>;

/** Returns a function that counts a request that the named service did not answer in time. An alert uses this counter. */
export function countUpstreamFailures({ metrics }: Metered) {
  return countBy(metrics, {
    name: 'gateway_upstream_failures_total',
    help: 'Requests to accounts or catalog that got no answer in time',
    label: 'upstream',
    values: ['accounts', 'catalog'],
  });
}

/** Why all cached records are looked up again, and not only those that have changed. */
export type FullExpiry = 'many_changes' | 'missed_message' | 'reconnect';

/** Returns a function that counts that all cached records have expired. */
export function countFullExpiries({ metrics }: Metered): (reason: FullExpiry) => void {
  return countBy(metrics, {
    name: 'gateway_record_full_expiries_total',
    help: 'Times that all cached records expired, because the gateway could not know which ones had changed',
    label: 'reason',
    values: ['many_changes', 'missed_message', 'reconnect'],
  });
}

/** Returns a function that records how many look-ups a request to catalog contains. */
export function measureLookups({ metrics }: Metered): (queries: number) => void {
  const batches = new Histogram({
    name: 'gateway_lookup_batch_queries',
    help: 'Look-ups that the gateway sent to catalog in one request',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200],
    registers: [metrics],
  });
  return (queries) => batches.observe(queries);
}

/** Counts the calls whose token the gateway refused without a question to accounts. */
export function countUnaskedRefusals({ metrics }: Metered, refused: () => Record<string, number>): void {
  const name = 'gateway_tokens_refused_unasked_total';
  const help =
    'Calls whose token the gateway refused without asking accounts. "wrong": mistyped or made up. "limited": too many unknown tokens are being tried';
  readAtScrape(Counter, metrics, { name, help, labelNames: ['reason'] }, () =>
    Object.entries(refused()).map(([reason, calls]) => [{ reason }, calls]),
  );
}

/** A cache's counters since the start of the process, and its size. */
export interface CacheStats {
  hits: number;
  /** Requests to the other service, because the cache had no usable entry, or to renew the verification of a token. */
  misses: number;
  /** How often the cache kept an old entry in use because the other service did not answer in time. */
  stale: number;
  entries: number;
  /** Absent if the cache limits its number of entries and not its bytes. */
  bytes?: number;
}

/** Registers the caches' metrics, which are read at each scrape. */
export function registerCacheMetrics({ metrics }: Metered, caches: Record<string, () => CacheStats>): void {
  const all = () => Object.entries(caches).map(([cache, stats]) => ({ cache, ...stats() }));
  const requests = {
    name: 'gateway_cache_requests_total',
    help: 'Look-ups in a cache. "hit": the cache had the answer. "miss": the gateway asked another service. "stale": that service did not answer, so the gateway used the old entry',
    labelNames: ['cache', 'result'],
  };
  readAtScrape(Counter, metrics, requests, () =>
    all().flatMap(({ cache, hits, misses, stale }) => [
      [{ cache, result: 'hit' }, hits],
      [{ cache, result: 'miss' }, misses],
      [{ cache, result: 'stale' }, stale],
    ]),
  );
  const labelNames = ['cache'];
  const entries = { name: 'gateway_cache_entries', help: 'Entries that a cache holds now', labelNames };
  readAtScrape(Gauge, metrics, entries, () => all().map(({ cache, entries }) => [{ cache }, entries]));
  const size = {
    name: 'gateway_cache_size_bytes',
    help: 'Bytes that the entries of a cache take now; only for caches with a limit in bytes',
    labelNames,
  };
  readAtScrape(Gauge, metrics, size, () =>
    all().flatMap(({ cache, bytes }) => (bytes === undefined ? [] : [[{ cache }, bytes]])),
  );
}
