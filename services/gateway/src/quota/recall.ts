import { elapsedMs, type Instant } from '@brand-data/runtime';
import { freedOf, freeOf, type HeldGrant, isQuiet, isSpent, progressOf } from './held-grant.ts';
import { demandOf, type Holding } from './holding.ts';

/**
 * What a gateway does after a recall. Metering recalls permits when calls of an account wait, here or at another gateway, and no
 * permit is available.
 */

/** For this long after a recall, the gateway reports the outcome of each call at once. */
const RECALLED_FOR_MS = 1_000;
/** The share that a gateway keeps of the permits that its calls are expected to use in the next moment. */
const KEPT_SHARE = 1 / 4;

export function isRecalled({ recalledAt }: Holding, now: Instant): boolean {
  return recalledAt !== undefined && elapsedMs(recalledAt, now) < RECALLED_FOR_MS;
}

/**
 * Returns the free permits of a holding, except some for this gateway's calls of the next moment. It keeps `KEPT_SHARE` of the
 * permits that these calls are expected to use, but at most half of the free permits.
 */
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
 * Returns the grants that are closed or spent, if metering may not know that yet. With `all`, also returns the grants with used
 * or returned permits that metering may not know yet.
 */
export function unreportedGrants({ grants }: Holding, all: boolean): HeldGrant[] {
  return grants.filter(
    (grant) => grant.closed || (grant.reported < progressOf(grant) && (all || isSpent(grant))),
  );
}

/**
 * Returns the unreported grants whose report can end a wait, here or at another gateway. These are the grants with returned or
 * freed permits that metering may not know. Once every call of this gateway has an outcome and the gateway holds no free permit,
 * these are all unreported grants, because their reports may show that the allowance is used up.
 */
export function awaitedGrants(holding: Holding, now: Instant): HeldGrant[] {
  const isDecided = holding.grants.every(
    (grant) => (grant.reserved === 0 && freeOf(grant) === 0) || now.wallMs < grant.periodStartMs,
  );
  return unreportedGrants(holding, true).filter((grant) => isDecided || grant.reportedFreed < freedOf(grant));
}
