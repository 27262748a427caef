import type { Clock } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';

/** No answer waits longer, also if a client's many connections then get more answers a second than the pace allows. */
const HELD_AT_MOST_MS = 2_000;
/** The largest number of answers that wait, of all together. */
const MOST_HELD = 5_000;
const KEPT = 10_000;

/** Too many answers wait already: the gateway closes the connection without an answer. */
export class TooManyHeld extends Error {
  override readonly name = 'TooManyHeld';
}

export type Pacing = ReturnType<typeof createPacing>;

/**
 * Slows down answers that are not counted, so that they cannot take the processor's time away from counted calls.
 *
 * @param perSecond answers a second for each account or address
 * @param burst answers that may go at once after a pause
 */
export function createPacing(clock: Clock, { perSecond, burst }: { perSecond: number; burst: number }) {
  const intervalMs = 1_000 / perSecond;
  /** By account or address, the time at which its answers so far would have gone without any burst. */
  const dueMs = new LRUCache<string, number>({ max: KEPT });
  let held = 0;

  const hold = async (ms: number): Promise<void> => {
    if (held >= MOST_HELD) throw new TooManyHeld('too many answers wait already');
    held += 1;
    await clock.sleep(ms);
    held -= 1;
  };

  return {
    /**
     * Resolves when the next answer may go to this account or address. Returns undefined if it may go at once. Rejects with
     * TooManyHeld. An answer releases its place itself when it goes.
     *
     * @param cost how many answers this one counts as
     */
    admit: (who: string, cost = 1): Promise<void> | undefined => {
      const nowMs = clock.now().monotonicMs;
      const due = Math.max(nowMs, dueMs.get(who) ?? 0);
      const waitMs = due + (cost - burst) * intervalMs - nowMs;
      if (waitMs >= HELD_AT_MOST_MS) return hold(HELD_AT_MOST_MS);
      dueMs.set(who, due + cost * intervalMs);
      return waitMs <= 0 ? undefined : hold(waitMs);
    },
  };
}
