import { CLOSE_APPLIED_WITHIN_MS, monthOf } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';
import type { ReplicaPreference } from './hedge.ts';
import { type HeldGrant, leftMs } from './held-grant.ts';

/** Whose permits: one account's in one pool, with its allowance a month and the revision that this is from. */
export interface Allowance {
  accountId: string;
  pool: string;
  limit: number;
  limitRevision: number;
}

/** An Acquire that metering has not answered yet: sent again under its seq, for its month, timed from its first send. */
export interface PendingAcquire {
  seq: number;
  since: Instant;
  fromMs: number;
}

/** What this gateway has of one account and pool. */
export interface Holding {
  readonly accountId: string;
  readonly pool: string;
  limit: number;
  limitRevision: number;
  /** Of metering's replicas, for what concerns this holding alone. */
  readonly preference: ReplicaPreference;
  grants: HeldGrant[];
  pendingAcquire: PendingAcquire | undefined;
  /**
   * By month (YYYY-MM), the seq of the last grant of it that was taken. Whatever a later one opened in that month, but for
   * the wish's, is nobody's for good.
   */
  lastTakenSeqs: Map<string, number>;
  /** The same of other months: what this holding began after, and the last of those that are over and forgotten. */
  lastTakenBefore: number;
  exhausted: { at: Instant; periodEndMs: number } | undefined;
  /** Permits of the month in nobody's hands, by metering's last answer. */
  remaining: { permits: number; periodEndMs: number } | undefined;
  /** Calls, halved every ten seconds and every tenth of a second: how much to ask for. */
  demand: { count: number; soon: number; at: Instant };
  /** When it was last heard that nothing is free any more and calls wait somewhere. */
  recalledAt: Instant | undefined;
  /** When the next month was last asked for. */
  nextMonthAskedAt: Instant | undefined;
}

const EXHAUSTED_TRUSTED_MS = 3_000;
const PENDING_ACQUIRE_KEPT_MS = 4_000;
const HOLDING_KEPT_MS = 60_000;
const DEMAND_HALF_LIFE_MS = 10_000;
const SOON_HALF_LIFE_MS = 100;

export function newHolding(
  { accountId, pool, limit, limitRevision }: Allowance,
  lastTakenBefore: number,
  now: Instant,
): Holding {
  return {
    preference: { key: keyOf({ accountId, pool }) },
    ...{ accountId, pool, limit, limitRevision, grants: [], lastTakenSeqs: new Map(), lastTakenBefore },
    ...{ pendingAcquire: undefined, exhausted: undefined, remaining: undefined, recalledAt: undefined },
    ...{ demand: { count: 0, soon: 0, at: now }, nextMonthAskedAt: undefined },
  };
}

export function keyOf({ accountId, pool }: Pick<Allowance, 'accountId' | 'pool'>): string {
  return `${accountId}/${pool}`;
}

/** A call has come, of which the next wish is to know. */
export function countCall(holding: Holding, now: Instant): void {
  const { count, soon } = demandNow(holding, now);
  holding.demand = { count: count + 1, soon: soon + 1, at: now };
}

function demandNow({ demand }: Holding, now: Instant): { count: number; soon: number } {
  const ms = elapsedMs(demand.at, now);
  return {
    count: demand.count * 0.5 ** (ms / DEMAND_HALF_LIFE_MS),
    soon: demand.soon * 0.5 ** (ms / SOON_HALF_LIFE_MS),
  };
}

/** `soon`: how many calls come in the next moment, about a seventh of a second. */
export function demandOf(holding: Holding, now: Instant): { perMs: number; soon: number } {
  const { count, soon } = demandNow(holding, now);
  // A count that is halved every half-life settles at rate × half-life / ln 2.
  return { perMs: (count * Math.LN2) / DEMAND_HALF_LIFE_MS, soon };
}

/** Whether it is still believed that the allowance is used up. */
export function exhaustedNow({ exhausted }: Holding, now: Instant): Holding['exhausted'] {
  if (!exhausted || now.wallMs >= exhausted.periodEndMs) return undefined;
  return elapsedMs(exhausted.at, now) < EXHAUSTED_TRUSTED_MS ? exhausted : undefined;
}

/** The wish that is with metering, unless it is too old or its month is over. */
export function pendingAcquireAt({ pendingAcquire }: Holding, now: Instant): PendingAcquire | undefined {
  if (!pendingAcquire || elapsedMs(pendingAcquire.since, now) >= PENDING_ACQUIRE_KEPT_MS) return undefined;
  return monthOf(pendingAcquire.fromMs) < monthOf(now.wallMs) ? undefined : pendingAcquire;
}

/** The close is in the stream for so long that it is surely applied. */
export function isApplied(grant: HeldGrant, now: Instant): boolean {
  return appliedInMs(grant, now) <= 0;
}

function appliedInMs({ storedAt }: HeldGrant, now: Instant): number {
  return storedAt ? CLOSE_APPLIED_WITHIN_MS - elapsedMs(storedAt, now) : Number.POSITIVE_INFINITY;
}

/** Until a holding is to be forgotten, if nothing happens; it is by 0. */
export function keptMs({ grants, demand, pendingAcquire }: Holding, now: Instant): number {
  if (grants.length > 0) return Number.POSITIVE_INFINITY;
  const pendingLeftMs = pendingAcquire ? PENDING_ACQUIRE_KEPT_MS - elapsedMs(pendingAcquire.since, now) : 0;
  return Math.max(HOLDING_KEPT_MS - elapsedMs(demand.at, now), pendingLeftMs);
}

/** Until something of a holding may fall due by itself: what calls' outcomes make due is looked at when they come. */
export function dueInMs(holding: Holding, now: Instant): number {
  return holding.grants.reduce(
    (least, grant) => {
      if (grant.closed) return Math.min(least, appliedInMs(grant, now));
      if (grant.retired) return least;
      // One that is not quiet when it would be idle is looked at again and again.
      const idleMs = grant.idleMs || Number.POSITIVE_INFINITY;
      const idleInMs = Math.max(0, idleMs - elapsedMs(grant.lastUse, now));
      return Math.min(least, leftMs(grant, now), idleInMs);
    },
    keptMs(holding, now),
  );
}
