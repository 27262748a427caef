import { createLogger } from '@brand-data/runtime';
import { openWorkers, type Workers } from '../src/workers/workers.ts';

/** Starts real worker processes for a test. */
export async function runningWorkers(count: number): Promise<Workers & { close(): Promise<void> }> {
  const stops: (() => unknown)[] = [];
  const log = createLogger('images', 'silent');
  const workers = await openWorkers({ log, onStop: (_what, stop) => stops.push(stop) }, { count });
  return {
    ...workers,
    close: async () => {
      for (const stop of stops.reverse()) await stop();
    },
  };
}
