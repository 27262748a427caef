import { CLOSE_APPLIED_WITHIN_MS, monthOf } from '@brand-data/contracts';
import { elapsedMs, type Instant, setInstant } from '@brand-data/runtime';
import type { ReplicaPreference } from '../upstream/hedge.ts';
import { type HeldGrant, leftMs } from './held-grant.ts';

/** How many permits a month an account has in one pool, and the revision of the plan that sets this limit. */
export interface Allowance {
  accountId: string;
  pool: string;
  limit: number;
  limitRevision: number;
  /** The statement about this limit that accounts has signed, for metering. */
  signed?: string;
  /** Until when `signed` is valid, in milliseconds since 1970. */
  signedUntilMs?: number;
}

/** An Acquire that has no answer yet. A retry has the same seq and month. */
export interface PendingAcquire {
  seq: number;
  /** When the gateway first sent it. */
  since: Instant;
  /** A time in the month for which it asks, in milliseconds since 1970. */
  fromMs: number;
}

/** This gateway's grants of one account and pool, and metering's last answers about the account's other permits. */
export interface Holding {
  readonly accountId: string;
  readonly pool: string;
  limit: number;
  limitRevision: number;
  /** The signed allowance that is valid for the longest time. Empty: none. */
  signed: string;
  signedUntilMs: number;
  /** Decides which replica of metering is asked first about this account and pool. */
  readonly preference: ReplicaPreference;
  grants: HeldGrant[];
  pendingAcquire: PendingAcquire | undefined;
  /**
   * For some months (YYYY-MM), the seq of the last Acquire whose grant was accepted. No grant for a later seq of the month is ever
   * used, except the grant for the pending Acquire.
   */
  lastTaken: readonly { month: string; seq: number }[];
  /** The same for every month that `lastTaken` does not contain. */
  lastTakenBefore: number;
  exhausted: { at: Instant; periodEndMs: number } | undefined;
  /** The month's used permits of all gateways, as metering told last, and when that was, on the monotonic clock. */
  used: { permits: number; atMs: number; periodEndMs: number } | undefined;
  /** Decaying counts of calls, for the permits to ask for. `count` halves every ten seconds, `soon` every tenth of one. */
  readonly demand: { count: number; soon: number; readonly at: Instant };
  /** When metering last recalled permits of this account and pool. */
  recalledAt: Instant | undefined;
  nextMonthAskedAt: Instant | undefined;
}

const EXHAUSTED_TRUSTED_MS = 3_000;
const PENDING_ACQUIRE_KEPT_MS = 4_000;
const HOLDING_KEPT_MS = 60_000;
const DEMAND_HALF_LIFE_MS = 10_000;
const SOON_HALF_LIFE_MS = 100;

export function newHolding(
  { accountId, pool, limit, limitRevision, signed = '', signedUntilMs = 0 }: Allowance,
  lastTakenBefore: number,
  now: Instant,
): Holding {
  return {
    preference: { key: `${accountId}/${pool}` },
    accountId,
    pool,
    limit,
    limitRevision,
    signed,
    signedUntilMs,
    grants: [],
    lastTaken: [],
    lastTakenBefore,
    pendingAcquire: undefined,
    exhausted: undefined,
    used: undefined,
    recalledAt: undefined,
    demand: { count: 0, soon: 0, at: { ...now } },
    nextMonthAskedAt: undefined,
  };
}

/** Returns the seq of the last Acquire of the month whose grant the gateway has accepted. */
export function lastTakenSeq({ lastTaken, lastTakenBefore }: Holding, month: string): number {
  return lastTaken.find((taken) => taken.month === month)?.seq ?? lastTakenBefore;
}

export function noteTaken(holding: Holding, taken: { month: string; seq: number }, thisMonth: string): void {
  // If someone sets the wall clock back, the gateway may ask for permits of a month again that is over.
  for (const { month, seq } of holding.lastTaken)
    if (month < thisMonth) holding.lastTakenBefore = Math.max(holding.lastTakenBefore, seq);
  const others = holding.lastTaken.filter(({ month }) => month >= thisMonth && month !== taken.month);
  holding.lastTaken = others.concat(taken);
}

/** Counts a call. The counts decide how many permits the next Acquire asks for. */
export function countCall(holding: Holding, now: Instant): void {
  const { count, soon } = demandNow(holding, now);
  holding.demand.count = count + 1;
  holding.demand.soon = soon + 1;
  setInstant(holding.demand.at, now);
}

function demandNow({ demand }: Holding, now: Instant): { count: number; soon: number } {
  const ms = elapsedMs(demand.at, now);
  return {
    count: demand.count * 0.5 ** (ms / DEMAND_HALF_LIFE_MS),
    soon: demand.soon * 0.5 ** (ms / SOON_HALF_LIFE_MS),
  };
}

/** Returns the rate of calls, and in `soon` how many calls to expect in the next moment, which is about a seventh of a second. */
export function demandOf(holding: Holding, now: Instant): { perMs: number; soon: number } {
  const { count, soon } = demandNow(holding, now);
  // At a steady rate of calls, a count that halves every half-life approaches rate × half-life / ln 2.
  return { perMs: (count * Math.LN2) / DEMAND_HALF_LIFE_MS, soon };
}

/** Returns metering's answer that the allowance is used up, unless it is too old or its month is over. */
export function exhaustedNow({ exhausted }: Holding, now: Instant): Holding['exhausted'] {
  if (!exhausted || now.wallMs >= exhausted.periodEndMs) return undefined;
  return elapsedMs(exhausted.at, now) < EXHAUSTED_TRUSTED_MS ? exhausted : undefined;
}

/** Returns the pending Acquire, or undefined if there is none, it is too old or its month is over. */
export function pendingAcquireAt({ pendingAcquire }: Holding, now: Instant): PendingAcquire | undefined {
  if (!pendingAcquire || elapsedMs(pendingAcquire.since, now) >= PENDING_ACQUIRE_KEPT_MS) return undefined;
  return monthOf(pendingAcquire.fromMs) < monthOf(now.wallMs) ? undefined : pendingAcquire;
}

/** Whether the stream acknowledged the grant's close so long ago that the gateway may assume that metering has applied it. */
export function isApplied(grant: HeldGrant, now: Instant): boolean {
  return appliedInMs(grant, now) <= 0;
}

function appliedInMs({ storedAt }: HeldGrant, now: Instant): number {
  return storedAt ? CLOSE_APPLIED_WITHIN_MS - elapsedMs(storedAt, now) : Number.POSITIVE_INFINITY;
}

/** Milliseconds until the gateway can forget the holding if no call comes. If the result is 0 or less, it can do so now. */
export function keptMs({ grants, demand, pendingAcquire }: Holding, now: Instant): number {
  if (grants.length > 0) return Number.POSITIVE_INFINITY;
  const pendingLeftMs = pendingAcquire ? PENDING_ACQUIRE_KEPT_MS - elapsedMs(pendingAcquire.since, now) : 0;
  return Math.max(HOLDING_KEPT_MS - elapsedMs(demand.at, now), pendingLeftMs);
}

/** Milliseconds until a sweep may have to change the holding, if no call of it begins or ends before. */
export function dueInMs(holding: Holding, now: Instant): number {
  return holding.grants.reduce(
    (least, grant) => {
      if (grant.closed) return Math.min(least, appliedInMs(grant, now));
      if (grant.retired) return least;
      // A grant with a call under way is not idle. Once its last use is `idleMs` ago, each sweep looks at it until the call ends.
      const idleMs = grant.idleMs || Number.POSITIVE_INFINITY;
      const idleInMs = Math.max(0, idleMs - elapsedMs(grant.lastUse, now));
      return Math.min(least, leftMs(grant, now), idleInMs);
    },
    keptMs(holding, now),
  );
}

type Place = Pick<Holding, 'accountId' | 'pool'>;

/**
 * Holdings by account and pool. Each call searches its holding, so the search joins no key: the hash of an account's id is known
 * already. Few accounts use more than one pool, so their holdings are a list.
 */
export class Holdings {
  readonly #ofAccount = new Map<string, readonly Holding[]>();

  get({ accountId, pool }: Place): Holding | undefined {
    const holdings = this.#ofAccount.get(accountId);
    if (!holdings) return undefined;
    for (const holding of holdings) if (holding.pool === pool) return holding;
    return undefined;
  }

  add(holding: Holding): void {
    this.#ofAccount.set(holding.accountId, [...(this.#ofAccount.get(holding.accountId) ?? []), holding]);
  }

  delete({ accountId, pool }: Place): void {
    const others = this.#ofAccount.get(accountId)?.filter((holding) => holding.pool !== pool) ?? [];
    if (others.length > 0) this.#ofAccount.set(accountId, others);
    else this.#ofAccount.delete(accountId);
  }

  all(): Holding[] {
    return [...this.#ofAccount.values()].flat();
  }
}
