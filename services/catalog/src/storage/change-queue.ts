import { Fault } from '@brand-data/runtime';
import { throwIfAbandoned } from './cooperation.ts';

/** Each waiting change holds its batch in memory. */
const MAX_WAITING = 64;

/**
 * Runs a change once fewer than the limit are running, first come, first served. Rejects with Fault `unavailable`, and
 * does not run the change, when too many are waiting or when its signal is aborted before it starts.
 */
export type RunChange = <T>(signal: AbortSignal | undefined, change: () => Promise<T>) => Promise<T>;

export function changeQueue(concurrency: number): RunChange {
  const waiting: (() => void)[] = [];
  let free = concurrency;
  return async (signal, change) => {
    if (free > 0) free--;
    else if (waiting.length >= MAX_WAITING)
      throw new Fault('unavailable', 'too many changes are under way: send it again later');
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      throwIfAbandoned(signal);
      return await change();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
