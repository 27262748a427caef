import type { Service } from '@brand-data/runtime';
import { Counter, Gauge } from 'prom-client';
import type { Pictures } from './pictures.ts';

/** Registers the metrics of the cache of pictures, which are read at each scrape. */
export function registerPictureMetrics(
  { metrics }: Pick<Service, 'metrics'>,
  pictures: Pick<Pictures, 'stats'>,
): void {
  const registers = [metrics];
  new Counter({
    name: 'images_cache_requests_total',
    help: 'Requests for a picture. "hit": the cache had it. "joined": it was being made already. "miss": it had to be made',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      const { hits, joined, misses } = pictures.stats();
      this.inc({ result: 'hit' }, hits);
      this.inc({ result: 'joined' }, joined);
      this.inc({ result: 'miss' }, misses);
    },
  });
  new Gauge({
    name: 'images_cache_entries',
    help: 'Pictures that the cache holds now',
    registers,
    collect() {
      this.set(pictures.stats().entries);
    },
  });
  new Gauge({
    name: 'images_cache_size_bytes',
    help: 'Bytes that the pictures in the cache take now',
    registers,
    collect() {
      this.set(pictures.stats().bytes);
    },
  });
}
