import { Fault } from '@brand-data/runtime';
import pLimit from 'p-limit';
import { throwIfAbandoned } from './cooperation.ts';

/** Each waiting change holds its batch in memory. */
const MAX_WAITING = 64;

/**
 * Runs a change once fewer than the limit are running, first come, first served. Rejects with Fault `unavailable`, and
 * does not run the change, when too many are waiting or when its signal is aborted before it starts.
 */
export type RunChange = <T>(signal: AbortSignal | undefined, change: () => Promise<T>) => Promise<T>;

export function changeQueue(concurrency: number): RunChange {
  const limit = pLimit(concurrency);
  return async (signal, change) => {
    if (limit.pendingCount >= MAX_WAITING)
      throw new Fault('unavailable', 'too many changes are under way: send it again later');
    return limit(() => {
      throwIfAbandoned(signal);
      return change();
    });
  };
}
