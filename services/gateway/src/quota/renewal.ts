import { NEXT_MONTH_ASKED_WITHIN_MS } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';
import { freeOf, type HeldGrant } from './held-grant.ts';
import { demandOf, type Holding } from './holding.ts';

/** When a gateway asks metering for more permits, and for how many. */

const IN_HAND_MS = 30_000;
const NEXT_MONTH_ASKED_EVERY_MS = 5_000;
/**
 * A gateway asks for at least so many permits, so that it need not ask often. Metering limits a grant to a share of what is left.
 */
const LEAST_WANT = 1_000;
const MOST_WANT = 1_000_000;
const GRANTS_HELD = 2;
/** If calls come as a group, the gateway expects this many calls in the next moment for each call of the group. */
const AGAIN_SOON = 8;

/**
 * Whether to ask for more permits although the holding still has some. The gateway tries to hold permits for the next 30 s and,
 * in the last minute of a month, permits of the next month. Near the limit it does not ask early, because another gateway may
 * need the permits that would be idle here.
 *
 * @param spendable the holding's grants that have free permits now
 */
export function wantsRenewal(holding: Holding, spendable: readonly HeldGrant[], now: Instant): boolean {
  const newest = spendable.at(-1);
  if (!newest) return false;
  if (wantsNextMonth(holding, newest, now)) return true;
  if (spendable.length >= GRANTS_HELD || newest.size === 1) return false;
  // Only a call starts the renewal. A long grant has a longer margin, so that a rare call still falls into the margin. Otherwise
  // the first call after the grant's end would have to wait.
  const margin = Math.min(Math.max(IN_HAND_MS, newest.ttlMs / 3), newest.ttlMs / 2);
  if (elapsedMs(newest.since, now) > newest.ttlMs - margin) return true;
  const inHand = spendable.reduce((sum, grant) => sum + freeOf(grant), 0);
  const { perMs, soon } = demandOf(holding, now);
  return inHand < Math.min(perMs * IN_HAND_MS, Math.max(newest.size / 2, soon));
}

/**
 * Whether it is time to ask for permits of the month after the newest grant's month, and the gateway has not just asked for them.
 */
export function wantsNextMonth(holding: Holding, newest: HeldGrant, now: Instant): boolean {
  if (newest.periodEndMs - now.wallMs > NEXT_MONTH_ASKED_WITHIN_MS) return false;
  const { grants, nextMonthAskedAt } = holding;
  if (nextMonthAskedAt && elapsedMs(nextMonthAskedAt, now) < NEXT_MONTH_ASKED_EVERY_MS) return false;
  return grants.every((grant) => grant.periodStartMs < newest.periodEndMs);
}

/**
 * Returns how many permits to ask for: `want` for the next minute, and `wantSoon` for the next moment.
 *
 * @param waiting how many calls wait for the answer
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
