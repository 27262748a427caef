import { Fault } from '@brand-data/runtime';

/**
 * Runs at most `most` tasks at once. The others wait for their turn, each at most `waitMs`: then the task is not run, and the
 * promise rejects with Fault `resource_exhausted`. Whoever adds tasks bounds their number.
 */
export function createLimiter({
  most,
  waitMs,
}: {
  most: number;
  waitMs: number;
}): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting = new Set<() => void>();
  let running = 0;

  const turn = () =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(late);
        waiting.delete(begin);
        resolve();
      };
      const late = setTimeout(() => {
        waiting.delete(begin);
        reject(new Fault('resource_exhausted', 'other pictures take too long: try again in a second'));
      }, waitMs);
      waiting.add(begin);
    });

  return async (task) => {
    if (running < most) running += 1;
    else await turn();
    try {
      return await task();
    } finally {
      // The turn goes on to the task that waits longest, or ends.
      const [next] = waiting;
      if (next) next();
      else running -= 1;
    }
  };
}
