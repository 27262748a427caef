/** One reading of both clocks, milliseconds. */
export interface Instant {
  /** Never goes back, but may stand still while the machine sleeps. */
  monotonicMs: number;
  /** Since 1970; may jump. */
  wallMs: number;
}

export type Clock = () => Instant;

export const systemClock: Clock = () => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/** The larger of what the two clocks say has passed: a lease that is over by either is over. */
export function elapsedMs(since: Instant, now: Instant): number {
  return Math.max(now.monotonicMs - since.monotonicMs, now.wallMs - since.wallMs);
}
