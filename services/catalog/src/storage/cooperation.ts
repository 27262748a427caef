import { setImmediate } from 'node:timers/promises';
import { Fault } from '@brand-data/runtime';
import pLimit from 'p-limit';

/** The longest time that a plan may block the event loop. Look-ups wait for that long. */
const MAX_BLOCKING_MS = 10;

/** The bound matters because each waiting change holds its batch in memory. */
const MAX_WAITING = 64;

/**
 * Returns a function that runs a change as soon as fewer changes than the limit are running, in order of arrival. If too many
 * are waiting, or if the signal is aborted before the change starts, it rejects with Fault `unavailable` and does not run it.
 */
export function changeQueue(concurrency: number) {
  const limit = pLimit(concurrency);
  return async <T>(signal: AbortSignal | undefined, change: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= MAX_WAITING)
      throw new Fault('unavailable', 'too many changes are waiting: send this change again later');
    return limit(() => {
      throwIfAbandoned(signal);
      return change();
    });
  };
}

/** Throws Fault `unavailable` when the caller no longer waits for the answer. */
export function throwIfAbandoned(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Fault('unavailable', 'the deadline has passed: send the request again');
}

/**
 * Returns a function to await between the steps of long work. The function yields to the event loop if the work has blocked
 * it for MAX_BLOCKING_MS. After that it throws Fault `unavailable` if the caller no longer waits.
 */
export function cooperativeYield(signal: AbortSignal | undefined): () => Promise<void> {
  let resumedAt = performance.now();
  return async () => {
    if (performance.now() - resumedAt < MAX_BLOCKING_MS) return;
    await setImmediate();
    throwIfAbandoned(signal);
    resumedAt = performance.now();
  };
}
