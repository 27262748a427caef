import { Fault, type Service } from '@brand-data/runtime';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { PictureStats } from './pictures.ts';
import type { Workers } from './rendering/workers.ts';

/** Registers the metrics of the cache of pictures, which are read at each scrape. */
export function registerCacheMetrics({ metrics }: Pick<Service, 'metrics'>, stats: () => PictureStats): void {
  const registers = [metrics];
  new Counter({
    name: 'images_cache_requests_total',
    help: 'Requests for a picture. "hit": the cache had it. "joined": it was being made already. "miss": it had to be made',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      const { hits, joined, misses } = stats();
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
      this.set(stats().entries);
    },
  });
  new Gauge({
    name: 'images_cache_size_bytes',
    help: 'Bytes that the pictures in the cache take now',
    registers,
    collect() {
      this.set(stats().bytes);
    },
  });
}

/** Returns a function that counts the sweeps by how they ended. */
export function countSweeps({ metrics }: Pick<Service, 'metrics'>): (result: 'done' | 'failed') => void {
  const sweeps = new Counter({
    name: 'images_sweeps_total',
    help: 'Sweeps of the images that no record names, by result',
    labelNames: ['result'],
    registers: [metrics],
  });
  // Without these series, Prometheus would not see the first sweep of a new process as an increase.
  for (const result of ['done', 'failed']) sweeps.inc({ result }, 0);
  return (result) => sweeps.inc({ result });
}

/** Counts and times the work of the workers. */
export function measureWorkers({ metrics }: Pick<Service, 'metrics'>, workers: Workers): Workers {
  const registers = [metrics];
  const duration = new Histogram({
    name: 'images_work_duration_seconds',
    help: 'Seconds until a worker had ingested a file or rendered a picture, with the wait for a worker',
    labelNames: ['work'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const failures = new Counter({
    name: 'images_work_failures_total',
    help: 'Work that failed. "refused": the file is not acceptable. "killed": the picture took too much time or memory to draw. "too_busy": no worker was free in time. "defect": any other reason',
    labelNames: ['work', 'reason'],
    registers,
  });
  for (const work of ['ingest', 'render'])
    for (const reason of ['refused', 'killed', 'too_busy', 'defect']) failures.inc({ work, reason }, 0);

  const measured = async <T>(work: 'ingest' | 'render', run: () => Promise<T>): Promise<T> => {
    const stop = duration.startTimer({ work });
    try {
      return await run();
    } catch (error) {
      failures.inc({ work, reason: reasonOf(error) });
      throw error;
    } finally {
      stop();
    }
  };
  return {
    ingest: (...given) => measured('ingest', () => workers.ingest(...given)),
    render: (...given) => measured('render', () => workers.render(...given)),
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Fault)) return 'defect';
  if (error.kind === 'invalid_argument') return 'refused';
  return error.kind === 'failed_precondition' ? 'killed' : 'too_busy';
}
