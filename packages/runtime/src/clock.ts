import { setImmediate, setTimeout } from 'node:timers/promises';

/** One reading of both clocks, milliseconds. */
export interface Instant {
  /** Never goes back, but may stand still while the machine sleeps. */
  monotonicMs: number;
  /** Since 1970; may jump. */
  wallMs: number;
}

/** Time, for code whose rules depend on it. */
export interface Clock {
  now(): Instant;
  /** Resolves after `ms` by the monotonic clock; 0: at the end of this turn. */
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
  sleep: async (ms) => {
    await (ms === 0 ? setImmediate() : setTimeout(ms));
  },
};

/** The larger of what the two clocks say has passed: a lease that is over by either is over. */
export function elapsedMs(since: Instant, now: Instant): number {
  return Math.max(now.monotonicMs - since.monotonicMs, now.wallMs - since.wallMs);
}
