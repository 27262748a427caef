import { setImmediate, setTimeout } from 'node:timers/promises';

/** One reading of both clocks, in milliseconds. */
export interface Instant {
  /** Never goes back, but may stand still while the machine sleeps. */
  monotonicMs: number;
  /** Since 1970; may jump. */
  wallMs: number;
}

/** Time, for code whose rules depend on it. */
export interface Clock {
  now(): Instant;
  /** Resolves after `ms` by the monotonic clock; after 0 ms, at the end of this turn of the event loop. */
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
  sleep: async (ms) => {
    await (ms === 0 ? setImmediate() : setTimeout(ms));
  },
};

/** Sets `instant` to `now`. A new instant at each call would live until the next one, which is dear to collect. */
export function setInstant(instant: Instant, { monotonicMs, wallMs }: Instant): void {
  instant.monotonicMs = monotonicMs;
  instant.wallMs = wallMs;
}

/** Returns the time that has passed, by the clock that shows more: a grant has expired as soon as either clock says so. */
export function elapsedMs(since: Instant, now: Instant): number {
  return Math.max(now.monotonicMs - since.monotonicMs, now.wallMs - since.wallMs);
}
