import type { Service } from '@brand-data/runtime';
import { Counter, Gauge } from 'prom-client';

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
export function registerCacheMetrics(
  { metrics }: Pick<Service, 'metrics'>,
  caches: Record<string, () => CacheStats>,
): void {
  const registers = [metrics];
  const all = () => Object.entries(caches).map(([cache, stats]) => ({ cache, ...stats() }));
  new Counter({
    name: 'gateway_cache_requests_total',
    help: 'Look-ups in a cache. "hit": the cache had the answer. "miss": the gateway asked another service. "stale": that service did not answer, so the gateway used the old entry',
    labelNames: ['cache', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { cache, hits, misses, stale } of all()) {
        this.inc({ cache, result: 'hit' }, hits);
        this.inc({ cache, result: 'miss' }, misses);
        this.inc({ cache, result: 'stale' }, stale);
      }
    },
  });
  new Gauge({
    name: 'gateway_cache_entries',
    help: 'Entries that a cache holds now',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const { cache, entries } of all()) this.set({ cache }, entries);
    },
  });
  new Gauge({
    name: 'gateway_cache_size_bytes',
    help: 'Bytes that the entries of a cache take now; only for caches with a limit in bytes',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const { cache, bytes } of all()) if (bytes !== undefined) this.set({ cache }, bytes);
    },
  });
}
