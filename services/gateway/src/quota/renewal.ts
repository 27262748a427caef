import { NEXT_MONTH_ASKED_WITHIN_MS } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';
import { freedOf, freeOf, freeOfAll, type HeldGrant, isQuiet, isSpent, progressOf } from './held-grant.ts';
import { demandOf, type Holding } from './holding.ts';

/** When a gateway asks metering for more permits and for how many, and which it returns. */

const IN_HAND_MS = 30_000;
const NEXT_MONTH_ASKED_EVERY_MS = 5_000;
/** A gateway asks for at least this many permits, so that it need not ask often. Near the limit, metering gives fewer. */
const LEAST_WANT = 1_000;
const MOST_WANT = 1_000_000;
const GRANTS_HELD = 2;
/** If several calls wait at once, the gateway expects this many calls in the next moment for each of them except the first. */
const AGAIN_SOON = 8;
/** For this long after a recall, the gateway reports the outcome of each call at once. */
const RECALLED_FOR_MS = 1_000;
/** The share that a gateway keeps of the permits that its calls are expected to use in the next moment. */
const KEPT_SHARE = 1 / 4;

/**
 * Decides whether to ask for more permits although the holding still has some: to hold permits for the next 30 s, to have a new grant
 * before the newest one ends and, in the last minute of a month, to hold permits of the next month. While half of the newest grant is
 * left, it is enough for the next 30 s, unless calls will use more in the next moment. If the newest grant has a single permit, the
 * gateway asks only for the next month, because near the limit another gateway may need the permit.
 */
export function wantsRenewal(
  holding: Holding,
  isSpendable: (grant: HeldGrant) => boolean,
  now: Instant,
): boolean {
  let newest: HeldGrant | undefined;
  let spendable = 0;
  let inHand = 0;
  // Every call comes here, so this makes no list.
  for (const grant of holding.grants) {
    if (!isSpendable(grant)) continue;
    newest = grant;
    spendable += 1;
    inHand += freeOf(grant);
  }
  if (!newest) return false;
  if (wantsNextMonth(holding, newest, now)) return true;
  if (spendable >= GRANTS_HELD || newest.size === 1) return false;
  // Only a call starts the renewal. If no call falls into the margin before the grant's end, the first call after the end has to
  // wait. Therefore a longer grant has a longer margin.
  const margin = Math.min(Math.max(IN_HAND_MS, newest.ttlMs / 3), newest.ttlMs / 2);
  if (elapsedMs(newest.since, now) > newest.ttlMs - margin) return true;
  const { perMs, soon } = demandOf(holding, now);
  return inHand < Math.min(perMs * IN_HAND_MS, Math.max(newest.size / 2, soon));
}

/** Whether to ask for permits of the month after the newest grant's month, and the gateway has not just asked for them. */
export function wantsNextMonth(holding: Holding, newest: HeldGrant, now: Instant): boolean {
  if (newest.periodEndMs - now.wallMs > NEXT_MONTH_ASKED_WITHIN_MS) return false;
  const { grants, nextMonthAskedAt } = holding;
  if (nextMonthAskedAt && elapsedMs(nextMonthAskedAt, now) < NEXT_MONTH_ASKED_EVERY_MS) return false;
  return grants.every((grant) => grant.periodStartMs < newest.periodEndMs);
}

/** Returns how many permits to ask for while `waiting` calls wait: `want` for the next minute, `wantSoon` for the next moment. */
export function permitsWanted(holding: Holding, waiting: number, now: Instant) {
  const { perMs, soon } = demandOf(holding, now);
  return {
    want: Math.min(MOST_WANT, Math.max(LEAST_WANT, Math.ceil(perMs * 60_000) + waiting)),
    wantSoon: Math.min(MOST_WANT, Math.max(Math.ceil(soon), (waiting - 1) * AGAIN_SOON)),
  };
}

/** Whether metering has just recalled permits, because calls of the account wait, here or at another gateway, and none is available. */
export function isRecalled({ recalledAt }: Holding, now: Instant): boolean {
  return recalledAt !== undefined && elapsedMs(recalledAt, now) < RECALLED_FOR_MS;
}

/**
 * Returns the free permits of a holding, except `KEPT_SHARE` of those that this gateway's calls are expected to use in the next
 * moment. It keeps at most half of the free permits.
 */
export function returnUnneeded(holding: Holding, now: Instant): void {
  const open = holding.grants.filter((grant) => !grant.closed && now.wallMs >= grant.periodStartMs);
  let kept = Math.min(Math.floor(freeOfAll(open) / 2), Math.floor(demandOf(holding, now).soon * KEPT_SHARE));
  for (const grant of open) {
    const keeps = Math.min(kept, freeOf(grant));
    kept -= keeps;
    if (keeps > 0) grant.returned += freeOf(grant) - keeps;
    else if (isQuiet(grant)) grant.retired = true;
    else grant.returned += freeOf(grant);
  }
}

/** Returns the grants that are closed or spent and, with `all`, those with used or returned permits, if metering may not know that. */
export function unreportedGrants({ grants }: Holding, all: boolean): HeldGrant[] {
  return grants.filter(
    (grant) => grant.closed || (grant.reported < progressOf(grant) && (all || isSpent(grant))),
  );
}

/**
 * Returns the unreported grants whose report can end a wait, here or at another gateway: those with returned or freed permits that
 * metering may not know. Once every call has an outcome and no permit is free, these are all unreported grants, because their reports
 * may show that the allowance is used up.
 */
export function awaitedGrants(holding: Holding, now: Instant): HeldGrant[] {
  const isDecided = holding.grants.every(
    (grant) => (grant.reserved === 0 && freeOf(grant) === 0) || now.wallMs < grant.periodStartMs,
  );
  return unreportedGrants(holding, true).filter((grant) => isDecided || grant.reportedFreed < freedOf(grant));
}
