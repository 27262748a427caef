import { setImmediate } from 'node:timers/promises';
import { Fault } from '@brand-data/runtime';

/** So long may one piece of work keep look-ups waiting. */
const LONGEST_MS = 10;
/** Each holds a batch in memory. */
const MOST_WAITING = 64;

/**
 * Runs `work` once it has its turn. Rejects with Fault `unavailable`, and does not run it, if the signal comes first or too
 * many wait.
 */
export type Turns = <T>(signal: AbortSignal | undefined, work: () => Promise<T>) => Promise<T>;

/** Lets `atOnce` pieces of work run at a time; the others wait, first come first served. */
export function turns(atOnce: number): Turns {
  const waiting: (() => void)[] = [];
  let free = atOnce;
  return async (signal, work) => {
    if (free > 0) free--;
    else if (waiting.length >= MOST_WAITING)
      throw new Fault('unavailable', 'too many changes are under way: send it again later');
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      stopIfAbandoned(signal);
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** Throws Fault `unavailable` when nobody waits for the answer any more. */
export function stopIfAbandoned(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Fault('unavailable', 'too late: send it again');
}

/** To be awaited between the steps of long work: lets others have the processor, and stops when it is abandoned. */
export function pauses(signal: AbortSignal | undefined): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < LONGEST_MS) return;
    await setImmediate();
    stopIfAbandoned(signal);
    since = performance.now();
  };
}
