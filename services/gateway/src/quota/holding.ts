import { CLOSE_APPLIED_WITHIN_MS, monthOf } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';
import type { ReplicaPreference } from './hedge.ts';
import { type HeldGrant, leftMs } from './held-grant.ts';

/** One account's permits in one pool: how many a month, and the revision of the plan that says so. */
export interface Allowance {
  accountId: string;
  pool: string;
  limit: number;
  limitRevision: number;
}

/** An Acquire without an answer yet. It is sent again under its seq and for its month, and timed from its first send. */
export interface PendingAcquire {
  seq: number;
  since: Instant;
  fromMs: number;
}

/** What this gateway holds of one account and pool: its grants, and what it knows of the rest. */
export interface Holding {
  readonly accountId: string;
  readonly pool: string;
  limit: number;
  limitRevision: number;
  /** Which replica of metering is asked first about this account and pool. */
  readonly preference: ReplicaPreference;
  grants: HeldGrant[];
  pendingAcquire: PendingAcquire | undefined;
  /**
   * By month (YYYY-MM), the seq of the last Acquire whose grant was taken. Grants that metering opened for later seqs of that
   * month, except for the pending Acquire, will never be used.
   */
  lastTakenSeqs: Map<string, number>;
  /** The same for months that are not in `lastTakenSeqs`: before the holding's start, or over. */
  lastTakenBefore: number;
  exhausted: { at: Instant; periodEndMs: number } | undefined;
  /** Permits of the month that no gateway held when metering last answered. */
  remaining: { permits: number; periodEndMs: number } | undefined;
  /** Calls, halved every ten seconds (`count`) and every tenth of a second (`soon`): how much to ask for. */
  demand: { count: number; soon: number; at: Instant };
  /** When metering last broadcast that calls wait and nothing is free. */
  recalledAt: Instant | undefined;
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

/** Counts a call, so that the next Acquire asks for as much as calls use. */
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

/** Metering's answer that the allowance is used up, while it is still believed. */
export function exhaustedNow({ exhausted }: Holding, now: Instant): Holding['exhausted'] {
  if (!exhausted || now.wallMs >= exhausted.periodEndMs) return undefined;
  return elapsedMs(exhausted.at, now) < EXHAUSTED_TRUSTED_MS ? exhausted : undefined;
}

/** The pending Acquire, unless it is given up: it is too old, or its month is over. */
export function pendingAcquireAt({ pendingAcquire }: Holding, now: Instant): PendingAcquire | undefined {
  if (!pendingAcquire || elapsedMs(pendingAcquire.since, now) >= PENDING_ACQUIRE_KEPT_MS) return undefined;
  return monthOf(pendingAcquire.fromMs) < monthOf(now.wallMs) ? undefined : pendingAcquire;
}

/** Metering has surely applied the grant's close: the stream acknowledged it long enough ago. */
export function isApplied(grant: HeldGrant, now: Instant): boolean {
  return appliedInMs(grant, now) <= 0;
}

function appliedInMs({ storedAt }: HeldGrant, now: Instant): number {
  return storedAt ? CLOSE_APPLIED_WITHIN_MS - elapsedMs(storedAt, now) : Number.POSITIVE_INFINITY;
}

/** Milliseconds until the holding can be forgotten if nothing happens to it; 0 or less: now. */
export function keptMs({ grants, demand, pendingAcquire }: Holding, now: Instant): number {
  if (grants.length > 0) return Number.POSITIVE_INFINITY;
  const pendingLeftMs = pendingAcquire ? PENDING_ACQUIRE_KEPT_MS - elapsedMs(pendingAcquire.since, now) : 0;
  return Math.max(HOLDING_KEPT_MS - elapsedMs(demand.at, now), pendingLeftMs);
}

/** Milliseconds until the passing of time alone changes the holding. Outcomes of calls are looked at when they come. */
export function dueInMs(holding: Holding, now: Instant): number {
  return holding.grants.reduce(
    (least, grant) => {
      if (grant.closed) return Math.min(least, appliedInMs(grant, now));
      if (grant.retired) return least;
      // A grant that has calls under way when it would be idle is looked at again and again.
      const idleMs = grant.idleMs || Number.POSITIVE_INFINITY;
      const idleInMs = Math.max(0, idleMs - elapsedMs(grant.lastUse, now));
      return Math.min(least, leftMs(grant, now), idleInMs);
    },
    keptMs(holding, now),
  );
}
