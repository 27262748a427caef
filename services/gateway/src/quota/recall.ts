import { elapsedMs, type Instant } from '@brand-data/runtime';
import { freedOf, freeOf, type HeldGrant, isQuiet, isSpent, progressOf } from './held-grant.ts';
import { demandOf, type Holding } from './holding.ts';

/** What a gateway does while calls of an account wait, here or at another gateway, and metering has no free permits. */

/** For this long after a recall, outcomes of calls are reported as they become known. */
const RECALLED_FOR_MS = 1_000;
/** Share that the gateway keeps of the permits that its own calls will use in the next moment. */
const KEPT_SHARE = 1 / 4;

export function isRecalled({ recalledAt }: Holding, now: Instant): boolean {
  return recalledAt !== undefined && elapsedMs(recalledAt, now) < RECALLED_FOR_MS;
}

/** Returns the permits that are not reserved, except for a share of what the next moment's calls here will use: at most half. */
export function returnUnneeded(holding: Holding, now: Instant): void {
  const open = holding.grants.filter((grant) => !grant.closed && now.wallMs >= grant.periodStartMs);
  const free = open.reduce((sum, grant) => sum + freeOf(grant), 0);
  let kept = Math.min(Math.floor(free / 2), Math.floor(demandOf(holding, now).soon * KEPT_SHARE));
  for (const grant of open) {
    const keeps = Math.min(kept, freeOf(grant));
    kept -= keeps;
    if (keeps > 0) grant.returned += freeOf(grant) - keeps;
    else if (isQuiet(grant)) grant.retired = true;
    else grant.returned += freeOf(grant);
  }
}

/**
 * Grants of which metering may not know that they are closed or used up; with `all`, also grants of which it may know less
 * than is used and returned.
 */
export function unreportedGrants({ grants }: Holding, all: boolean): HeldGrant[] {
  return grants.filter(
    (grant) => grant.closed || (grant.reported < progressOf(grant) && (all || isSpent(grant))),
  );
}

/**
 * The unreported grants that waiting calls depend on: grants that free permits; and, once every call here has its outcome and
 * no permit is free, all of them, since they may show that nothing is left.
 */
export function awaitedGrants(holding: Holding, now: Instant): HeldGrant[] {
  const isDecided = holding.grants.every(
    (grant) => (grant.reserved === 0 && freeOf(grant) === 0) || now.wallMs < grant.periodStartMs,
  );
  return unreportedGrants(holding, true).filter((grant) => isDecided || grant.reportedFreed < freedOf(grant));
}
