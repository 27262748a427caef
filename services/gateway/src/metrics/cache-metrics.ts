import type { Service } from '@brand-data/runtime';
import { Counter, Gauge } from 'prom-client';

/** What a cache has answered since the start, and what it holds. */
export interface CacheStats {
  hits: number;
  /** Somebody had to be asked. */
  misses: number;
  /** Of what somebody was asked for, but did not answer in time. */
  stale: number;
  entries: number;
  /** Absent: its bound is a number of entries. */
  bytes?: number;
}

/** Read at each scrape: the calls only count. */
export function registerCacheMetrics(
  { metrics }: Pick<Service, 'metrics'>,
  caches: Record<string, () => CacheStats>,
): void {
  const registers = [metrics];
  const all = () => Object.entries(caches).map(([cache, stats]) => ({ cache, ...stats() }));
  new Counter({
    name: 'gateway_cache_requests_total',
    help: 'What caches were asked for: "hit", "miss" (another service was asked), "stale" (it did not answer in time)',
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
    help: 'Entries that a cache holds',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const { cache, entries } of all()) this.set({ cache }, entries);
    },
  });
  new Gauge({
    name: 'gateway_cache_size_bytes',
    help: 'Bytes that a cache holds, as far as it counts them',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const { cache, bytes } of all()) if (bytes !== undefined) this.set({ cache }, bytes);
    },
  });
}
