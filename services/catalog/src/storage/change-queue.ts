import { Fault } from '@brand-data/runtime';
import pLimit from 'p-limit';
import { throwIfAbandoned } from './cooperation.ts';

/** The bound matters because each waiting change holds its batch in memory. */
const MAX_WAITING = 64;

/**
 * Runs a change as soon as fewer changes than the limit are running, in order of arrival. If too many changes are waiting,
 * or if the signal is aborted before the change starts, it rejects with Fault `unavailable` and does not run the change.
 */
export type RunChange = <T>(signal: AbortSignal | undefined, change: () => Promise<T>) => Promise<T>;

export function changeQueue(concurrency: number): RunChange {
  const limit = pLimit(concurrency);
  return async (signal, change) => {
    if (limit.pendingCount >= MAX_WAITING)
      throw new Fault('unavailable', 'too many changes are waiting: send this change again later');
    return limit(() => {
      throwIfAbandoned(signal);
      return change();
    });
  };
}
