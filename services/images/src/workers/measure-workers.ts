import { Fault, type Service } from '@brand-data/runtime';
import { Counter, Histogram } from 'prom-client';
import type { Workers } from './workers.ts';

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
