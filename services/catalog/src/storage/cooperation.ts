import { setImmediate } from 'node:timers/promises';
import { Fault } from '@brand-data/runtime';

/** The longest time that a plan may block the event loop. Look-ups wait for that long. */
const MAX_BLOCKING_MS = 10;

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
