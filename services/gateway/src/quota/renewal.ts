import { NEXT_MONTH_ASKED_WITHIN_MS } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';
import { freeOf, type HeldGrant } from './held-grant.ts';
import { demandOf, type Holding } from './holding.ts';

/** When a gateway asks metering for more permits, and for how many. */

const IN_HAND_MS = 30_000;
const NEXT_MONTH_ASKED_EVERY_MS = 5_000;
/** Metering gives a small share of what is left at most: to ask for little would only mean to ask often. */
const LEAST_WANT = 1_000;
const MOST_WANT = 1_000_000;
const GRANTS_HELD = 2;
/** So many calls follow in the next moment for each one of a group that came together. */
const AGAIN_SOON = 8;

/**
 * Whether to ask before the permits in hand are gone, so that permits for 30 s stay in hand, and in a month's last minute
 * permits of the next month. Near the limit the gateway does not ask early: another gateway may need what would lie idle here.
 *
 * @param spendable the holding's grants that have free permits now
 */
export function wantsRenewal(holding: Holding, spendable: readonly HeldGrant[], now: Instant): boolean {
  const newest = spendable.at(-1);
  if (!newest) return false;
  if (wantsNextMonth(holding, newest, now)) return true;
  if (spendable.length >= GRANTS_HELD || newest.size === 1) return false;
  // For a long grant the margin is longer: an account that calls seldom has to call within it, or wait when the grant ends.
  const margin = Math.min(Math.max(IN_HAND_MS, newest.ttlMs / 3), newest.ttlMs / 2);
  if (elapsedMs(newest.since, now) > newest.ttlMs - margin) return true;
  const inHand = spendable.reduce((sum, grant) => sum + freeOf(grant), 0);
  const { perMs, soon } = demandOf(holding, now);
  return inHand < Math.min(perMs * IN_HAND_MS, Math.max(newest.size / 2, soon));
}

/** Whether permits of the month after that of the newest grant are due, and were not asked for just now. */
export function wantsNextMonth(holding: Holding, newest: HeldGrant, now: Instant): boolean {
  if (newest.periodEndMs - now.wallMs > NEXT_MONTH_ASKED_WITHIN_MS) return false;
  const { grants, nextMonthAskedAt } = holding;
  if (nextMonthAskedAt && elapsedMs(nextMonthAskedAt, now) < NEXT_MONTH_ASKED_EVERY_MS) return false;
  return grants.every((grant) => grant.periodStartMs < newest.periodEndMs);
}

/**
 * How many permits to ask for: enough for a minute, and of these for the next moment.
 *
 * @param waiting calls that wait for the answer
 */
export function permitsWanted(
  holding: Holding,
  waiting: number,
  now: Instant,
): { want: number; wantSoon: number } {
  const { perMs, soon } = demandOf(holding, now);
  return {
    want: Math.min(MOST_WANT, Math.max(LEAST_WANT, Math.ceil(perMs * 60_000) + waiting)),
    wantSoon: Math.min(MOST_WANT, Math.max(Math.ceil(soon), (waiting - 1) * AGAIN_SOON)),
  };
}
