import type { Grant, GrantUsage, Route, UsageCell } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';
import { ALL_RULES, type LeaseRules } from './lease-rules.ts';
import { monthOf } from './month.ts';

/** Whose permits: one account's in one pool, with its allowance a month and the revision that this is from. */
export interface Allowance {
  accountId: string;
  pool: string;
  limit: number;
  limitRevision: number;
}

/** One permit, reserved for one call. Exactly one of `use` and `release` is called, once. */
export interface Permit {
  grant: HeldGrant;
  /** The call ends in an answer that is counted; `settled` is called once it is known whether that is durable. */
  use(answer: { keyId: string; route: Route; status: number }): void;
  settled(): void;
  /** The call fails without an answer that is counted. */
  release(): void;
}

export type Admission =
  | { kind: 'permit'; permit: Permit }
  /** The month's allowance is used up; said by metering. */
  | { kind: 'exhausted'; periodEndMs: number }
  /** Metering is to be asked first. */
  | { kind: 'empty' };

/** A grant in this gateway's hands. */
export interface HeldGrant {
  readonly id: string;
  /** Whose lease it belongs to. */
  readonly leaseKey: string;
  readonly size: number;
  readonly ttlMs: number;
  readonly idleMs: number;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** When its seq was first sent: its time runs from here. */
  readonly since: Instant;
  /** Calls that have a permit and no outcome. */
  reserved: number;
  used: number;
  /** Calls among the used whose usage is not known to be durable. */
  unsettled: number;
  /** Given back while it is open. */
  returned: number;
  lastUse: Instant;
  /** Nothing more is admitted on it. */
  retired: boolean;
  /** Retired with nothing in flight: what it used is final. */
  closed: boolean;
  /** When the stream acknowledged its close; absent: it has not. */
  storedAt: Instant | undefined;
  /** Metering closed it without this gateway: no usage of it counts any more. */
  refused: boolean;
  cells: Map<string, UsageCell>;
  /** As much as this of what is used and returned has been told to metering itself; the stream may know more. */
  told: number;
}

/** What this gateway has of one account and pool. */
export interface Lease {
  readonly accountId: string;
  readonly pool: string;
  limit: number;
  limitRevision: number;
  grants: HeldGrant[];
  /** The wish that is with metering: retried under its seq, for its month, timed from its first send. */
  wish: { seq: number; since: Instant; fromMs: number } | undefined;
  /**
   * By month (YYYY-MM), the seq of the last grant of it that was taken. Whatever a later one opened in that month, but for
   * the wish's, is nobody's for good.
   */
  lastTakenSeqs: Map<string, number>;
  /** The same of other months: what this lease began after, and the last of those that are over and forgotten. */
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

interface Snapshot {
  /** Permits used and returned. */
  told: number;
  closed: boolean;
}

/** A request to metering as the book decides it; the account, pool and limit are the lease's. */
export interface Wish {
  seq: number;
  want: number;
  wantSoon: number;
  ignoredFromSeq: number;
  usage: GrantUsage[];
  fromMs: number;
}

/** A JetStream acknowledgement counts for this long after a grant's time is over (`design.md`, D). */
const ACKNOWLEDGEMENT_GRACE_MS = 5_000;
/** A message that a replica took and does not acknowledge goes to another within this. */
const APPLIED_WITHIN_MS = 11_000;
const EXHAUSTED_TRUSTED_MS = 3_000;
const WISH_KEPT_MS = 4_000;
const LEASE_KEPT_MS = 60_000;
const DEMAND_HALF_LIFE_MS = 10_000;
const SOON_HALF_LIFE_MS = 100;
/** After a recall, outcomes are told as they come to be known. */
const RECALLED_FOR_MS = 1_000;
const IN_HAND_MS = 30_000;
const NEXT_MONTH_WITHIN_MS = 60_000;
const NEXT_MONTH_ASKED_EVERY_MS = 5_000;
/** Metering gives no more than a small share of what is left: to ask for little only means to ask often. */
const LEAST_WANT = 1_000;
const MOST_WANT = 1_000_000;
const GRANTS_HELD = 2;

/**
 * The quota's decisions of one gateway: which permits it holds, when to ask for more, when a grant is over. It does no
 * I/O and reads no clock.
 */
export class LeaseBook {
  readonly #leases = new Map<string, Lease>();
  readonly #rules: LeaseRules;
  #lastSeq = 0;
  #outcome: (lease: Lease, isReleased: boolean) => void = () => {};

  constructor(rules: LeaseRules = ALL_RULES) {
    this.#rules = rules;
  }

  /** Tells of each permit that is released and, while a lease is recalled, of each that is used. */
  onOutcome(listener: (lease: Lease, isReleased: boolean) => void): void {
    this.#outcome = listener;
  }

  /** A call has come, of which the next wish is to know. */
  callCame(lease: Lease, now: Instant): void {
    const { count, soon } = demandNow(lease, now);
    lease.demand = { count: count + 1, soon: soon + 1, at: now };
  }

  /** Takes a permit from what is in hand. */
  take(lease: Lease, now: Instant): Admission {
    for (const grant of lease.grants) {
      if (!this.#isSpendable(grant, now)) continue;
      grant.reserved += 1;
      grant.lastUse = now;
      return {
        kind: 'permit',
        permit: this.#permitOf(lease, grant, new Date(now.wallMs).toISOString().slice(0, 10)),
      };
    }
    const exhausted = exhaustedNow(lease, now);
    return exhausted ? { kind: 'exhausted', periodEndMs: exhausted.periodEndMs } : { kind: 'empty' };
  }

  /** The lease of an account and pool; what is out of date in it is forgotten first. */
  lease({ accountId, pool, limit, limitRevision }: Allowance, now: Instant): Lease {
    const key = keyOf(accountId, pool);
    let lease = this.#leases.get(key);
    if (!lease) {
      lease = {
        ...{ accountId, pool, limit, limitRevision, grants: [], wish: undefined, exhausted: undefined },
        ...{
          lastTakenSeqs: new Map(),
          lastTakenBefore: this.#lastSeq,
          remaining: undefined,
          demand: { count: 0, soon: 0, at: now },
          recalledAt: undefined,
          nextMonthAskedAt: undefined,
        },
      };
      this.#leases.set(key, lease);
    }
    if (limitRevision > lease.limitRevision) {
      // What was granted under a higher limit is given back, and asked for anew under the lower one.
      if (limit < lease.limit) for (const grant of lease.grants) grant.retired = true;
      Object.assign(lease, { limit, limitRevision, exhausted: undefined, remaining: undefined });
    }
    lease.exhausted = exhaustedNow(lease, now);
    if (lease.remaining && now.wallMs >= lease.remaining.periodEndMs) lease.remaining = undefined;
    return lease;
  }

  /**
   * Whether to ask before the permits in hand are gone: so that 30 s of time and of traffic stay in hand, and next month's
   * in this one's last minute. Not near the limit, where every permit that lies idle is one that somebody else lacks.
   */
  wantsRenewal(lease: Lease, now: Instant): boolean {
    const live = lease.grants.filter((grant) => this.#isSpendable(grant, now));
    const newest = live.at(-1);
    if (!newest) return false;
    if (this.#wantsNextMonth(lease, newest, now)) return true;
    if (live.length >= GRANTS_HELD || newest.size === 1) return false;
    // A long grant sooner: an account that seldom calls is to call within the margin, or it waits once its time is over.
    const margin = Math.min(Math.max(IN_HAND_MS, newest.ttlMs / 3), newest.ttlMs / 2);
    if (elapsedMs(newest.since, now) > newest.ttlMs - margin) return true;
    const inHand = live.reduce((sum, grant) => sum + freeOf(grant), 0);
    return (
      inHand < Math.min(perMs(lease, now) * IN_HAND_MS, Math.max(newest.size / 2, demandNow(lease, now).soon))
    );
  }

  /** The next request to metering: the wish that is still unanswered, or a new one. */
  wish(lease: Lease, waiting: number, now: Instant): Wish {
    if (lease.wish && (elapsedMs(lease.wish.since, now) >= WISH_KEPT_MS || isOfEndedMonth(lease.wish, now))) {
      lease.wish = undefined;
    }
    if (!lease.wish) {
      this.#lastSeq += 1;
      const newest = lease.grants.findLast((grant) => this.#isSpendable(grant, now));
      const nextMonth = newest && this.#wantsNextMonth(lease, newest, now);
      if (nextMonth) lease.nextMonthAskedAt = now;
      lease.wish = { seq: this.#lastSeq, since: now, fromMs: nextMonth ? newest.periodEndMs : now.wallMs };
    } else if (!this.#rules.timeFromFirstSend) lease.wish.since = now;
    const { soon } = demandNow(lease, now);
    return {
      seq: lease.wish.seq,
      want: Math.min(MOST_WANT, Math.max(LEAST_WANT, Math.ceil(perMs(lease, now) * 60_000) + waiting)),
      wantSoon: Math.min(MOST_WANT, Math.max(waiting, Math.ceil(soon))),
      // Metering looks for them in the wish's month alone.
      ignoredFromSeq: (lease.lastTakenSeqs.get(monthOf(lease.wish.fromMs)) ?? lease.lastTakenBefore) + 1,
      usage: this.untold(lease, waiting > 0).map(usageOf),
      fromMs: lease.wish.fromMs,
    };
  }

  /**
   * Metering granted the wish; answers whether its permits can be spent now. A reply to a seq that was given up changes
   * nothing.
   */
  granted(lease: Lease, seq: number, grant: Grant, now: Instant): boolean {
    if (lease.wish?.seq !== seq) return false;
    const { since, fromMs } = lease.wish;
    const { id, size, ttlMs, idleMs, periodStartMs, periodEndMs } = grant;
    const held: HeldGrant = {
      leaseKey: keyOf(lease.accountId, lease.pool),
      ...{ id, size, ttlMs, idleMs, periodStartMs, periodEndMs, since },
      ...{ reserved: 0, used: 0, unsettled: 0, returned: 0, lastUse: now },
      ...{ retired: false, closed: false, storedAt: undefined, refused: false, cells: new Map(), told: 0 },
    };
    lease.grants.push(held);
    lease.wish = undefined;
    for (const [month, taken] of lease.lastTakenSeqs) {
      if (month >= monthOf(now.wallMs)) continue;
      // The wall clock may be set back, and the month be asked for again.
      lease.lastTakenBefore = Math.max(lease.lastTakenBefore, taken);
      lease.lastTakenSeqs.delete(month);
    }
    lease.lastTakenSeqs.set(monthOf(fromMs), seq);
    if (now.wallMs >= periodStartMs) {
      lease.exhausted = undefined;
      lease.remaining = { permits: grant.remaining, periodEndMs };
    }
    return this.#isSpendable(held, now);
  }

  /** Nothing remains and nothing is out: said of the allowance that the wish named. */
  exhausted(lease: Lease, seq: number, periodEndMs: number, now: Instant): void {
    if (lease.wish?.seq !== seq) return;
    const { fromMs } = lease.wish;
    lease.wish = undefined;
    if (fromMs > now.wallMs) return;
    lease.exhausted = { at: now, periodEndMs };
    lease.remaining = { permits: 0, periodEndMs };
  }

  /** Metering has no grant for this seq and will have none: the next wish has a new one. */
  refused(lease: Lease, seq: number): void {
    if (lease.wish?.seq === seq) lease.wish = undefined;
  }

  /** Retires what is over, spent or idle of one lease, and answers the grants that have become final by it. */
  retire(lease: Lease, now: Instant): HeldGrant[] {
    const open = lease.grants.filter((grant) => !grant.closed);
    for (const grant of open) {
      if (isSpent(grant) || isIdle(grant, now) || isOver(grant, now)) grant.retired = true;
      if (grant.retired && (isQuiet(grant) || !this.#rules.closedOnlyWhenQuiet)) grant.closed = true;
    }
    return open.filter((grant) => grant.closed);
  }

  /** The same for every lease; forgets those that nobody uses. */
  sweep(now: Instant): HeldGrant[] {
    const final: HeldGrant[] = [];
    for (const [key, lease] of this.#leases) {
      final.push(...this.retire(lease, now));
      if (lease.grants.some((grant) => isApplied(grant, now)))
        lease.grants = lease.grants.filter((grant) => !isApplied(grant, now));
      const quiet = lease.grants.length === 0 && elapsedMs(lease.demand.at, now) > LEASE_KEPT_MS;
      if (quiet && (!lease.wish || elapsedMs(lease.wish.since, now) > WISH_KEPT_MS)) this.#leases.delete(key);
    }
    return final;
  }

  /**
   * Calls of another gateway wait and nothing is free any more: gives back what is not reserved, but for what this one's own
   * calls will use in a moment, at most half. Answers the grants of which metering is to know more.
   */
  recall(accountId: string, pool: string, now: Instant): HeldGrant[] {
    const lease = this.recalled(accountId, pool, now);
    if (!lease) return [];
    this.giveBack(lease, now);
    return this.untold(lease, true);
  }

  /** The same without hearing of it anew: for permits that come free while a lease is recalled. */
  giveBack(lease: Lease, now: Instant): void {
    const open = lease.grants.filter((grant) => !grant.closed && now.wallMs >= grant.periodStartMs);
    const free = open.reduce((sum, grant) => sum + freeOf(grant), 0);
    let kept = Math.min(Math.floor(free / 2), Math.floor(demandNow(lease, now).soon));
    for (const grant of open) {
      const keeps = Math.min(kept, freeOf(grant));
      kept -= keeps;
      if (keeps > 0) grant.returned += freeOf(grant) - keeps;
      else if (isQuiet(grant)) grant.retired = true;
      else grant.returned += freeOf(grant);
    }
    this.retire(lease, now);
  }

  /** Calls wait for what comes back, here or elsewhere: outcomes are told as they come to be known, for a while. */
  recalled(accountId: string, pool: string, now: Instant): Lease | undefined {
    const lease = this.#leases.get(keyOf(accountId, pool));
    if (lease) lease.recalledAt = now;
    return lease;
  }

  isRecalled({ recalledAt }: Lease, now: Instant): boolean {
    return recalledAt !== undefined && elapsedMs(recalledAt, now) < RECALLED_FOR_MS;
  }

  /**
   * Grants of which metering may not know that they are closed or used up; with `all`, also those of which it may know less
   * than is used and returned.
   */
  untold(lease: Lease, all: boolean): HeldGrant[] {
    return lease.grants.filter(
      (grant) => grant.closed || (grant.told < toldOf(grant) && (all || isSpent(grant))),
    );
  }

  /** At the stop: every grant is to be closed, as soon as nothing of it is in flight. */
  retireAll(): void {
    for (const lease of this.#leases.values()) {
      lease.wish = undefined;
      for (const grant of lease.grants) grant.retired = true;
    }
  }

  /**
   * The close of these grants is in the stream. Until metering has surely applied it, which takes seconds when one of its
   * replicas hangs, it also goes with what is asked or recalled: the permits may be wanted sooner.
   */
  stored(grants: Iterable<HeldGrant>, now: Instant): void {
    for (const grant of grants) grant.storedAt ??= now;
  }

  /** Metering has stored as much of their use; those that it was told to close are forgotten. */
  told(snapshots: ReadonlyMap<HeldGrant, Snapshot>): void {
    const closed = new Set<HeldGrant>();
    for (const [grant, snapshot] of snapshots) {
      grant.told = Math.max(grant.told, snapshot.told);
      if (snapshot.closed) closed.add(grant);
    }
    this.forget(closed);
  }

  /** Metering has closed these grants. */
  forget(grants: ReadonlySet<HeldGrant>): void {
    for (const { leaseKey } of grants) {
      const lease = this.#leases.get(leaseKey);
      if (lease) lease.grants = lease.grants.filter((grant) => !grants.has(grant));
    }
  }

  /** Permits in hand of an account and pool that are neither used nor reserved. */
  permitsOf(accountId: string, pool: string): number {
    const grants = this.#leases.get(keyOf(accountId, pool))?.grants ?? [];
    return grants.reduce((sum, grant) => sum + freeOf(grant), 0);
  }

  /**
   * Whether an acknowledgement by the stream that comes now counts. Later, metering may have settled the grant without
   * having seen what is acknowledged.
   */
  acknowledgementCounts(grant: HeldGrant, now: Instant): boolean {
    if (!this.#rules.acknowledgementDeadline) return true;
    return elapsedMs(grant.since, now) < grant.ttlMs + ACKNOWLEDGEMENT_GRACE_MS;
  }

  /** Permits left this month as far as this gateway knows; never more than there were at metering's last answer. */
  estimateRemaining(lease: Lease, now: Instant): number | undefined {
    if (lease.remaining === undefined) return undefined;
    return lease.grants.reduce(
      (sum, grant) => (this.#isSpendable(grant, now) ? sum + freeOf(grant) : sum),
      lease.remaining.permits,
    );
  }

  get size(): { leases: number; grants: number; permits: number } {
    const grants = [...this.#leases.values()].flatMap((lease) =>
      lease.grants.filter((grant) => !grant.storedAt),
    );
    const permits = grants.reduce((sum, grant) => sum + freeOf(grant), 0);
    return { leases: this.#leases.size, grants: grants.length, permits };
  }

  #permitOf(lease: Lease, grant: HeldGrant, day: string): Permit {
    return {
      grant,
      use: ({ keyId, route, status }) => {
        grant.reserved -= 1;
        grant.used += 1;
        grant.unsettled += 1;
        const name = `${keyId} ${route} ${status} ${day}`;
        const cell = grant.cells.get(name);
        if (cell) cell.count += 1;
        else grant.cells.set(name, { keyId, route, status, day, count: 1 });
        if (lease.recalledAt) this.#outcome(lease, false);
      },
      settled: () => {
        grant.unsettled -= 1;
      },
      release: () => {
        grant.reserved -= 1;
        this.#outcome(lease, true);
      },
    };
  }

  #isSpendable(grant: HeldGrant, now: Instant): boolean {
    if (this.#rules.monthsCut && (now.wallMs < grant.periodStartMs || now.wallMs >= grant.periodEndMs))
      return false;
    return !grant.retired && !grant.refused && elapsedMs(grant.since, now) < grant.ttlMs && freeOf(grant) > 0;
  }

  #wantsNextMonth(lease: Lease, newest: HeldGrant, now: Instant): boolean {
    if (newest.periodEndMs - now.wallMs > NEXT_MONTH_WITHIN_MS) return false;
    if (lease.nextMonthAskedAt && elapsedMs(lease.nextMonthAskedAt, now) < NEXT_MONTH_ASKED_EVERY_MS)
      return false;
    return lease.grants.every((grant) => grant.periodStartMs < newest.periodEndMs);
  }
}

/** The whole use of a grant so far, as it goes to metering. */
export function usageOf(grant: HeldGrant): GrantUsage {
  return {
    grantId: grant.id,
    used: grant.used,
    returned: grant.returned,
    closed: grant.closed,
    cells: [...grant.cells.values()].map((cell) => ({ ...cell })),
    partial: false,
  };
}

function keyOf(accountId: string, pool: string): string {
  return `${accountId}/${pool}`;
}

function freeOf(grant: HeldGrant): number {
  return grant.retired ? 0 : grant.size - grant.returned - grant.used - grant.reserved;
}

/** What a message tells of each of these grants. */
export function snapshotOf(grants: readonly HeldGrant[]): Map<HeldGrant, Snapshot> {
  return new Map(grants.map((grant) => [grant, { told: toldOf(grant), closed: grant.closed }]));
}

function toldOf({ used, returned }: HeldGrant): number {
  return used + returned;
}

/** Nothing is in flight on it. */
function isQuiet(grant: HeldGrant): boolean {
  return grant.reserved === 0 && grant.unsettled === 0;
}

function isSpent(grant: HeldGrant): boolean {
  return grant.used + grant.returned >= grant.size;
}

function isIdle(grant: HeldGrant, now: Instant): boolean {
  return grant.idleMs > 0 && isQuiet(grant) && elapsedMs(grant.lastUse, now) >= grant.idleMs;
}

function isApplied({ storedAt }: HeldGrant, now: Instant): boolean {
  return storedAt !== undefined && elapsedMs(storedAt, now) >= APPLIED_WITHIN_MS;
}

function isOver(grant: HeldGrant, now: Instant): boolean {
  return elapsedMs(grant.since, now) >= grant.ttlMs || now.wallMs >= grant.periodEndMs;
}

function isOfEndedMonth({ fromMs }: { fromMs: number }, now: Instant): boolean {
  return monthOf(fromMs) < monthOf(now.wallMs);
}

function exhaustedNow({ exhausted }: Lease, now: Instant): Lease['exhausted'] {
  if (!exhausted || now.wallMs >= exhausted.periodEndMs) return undefined;
  return elapsedMs(exhausted.at, now) < EXHAUSTED_TRUSTED_MS ? exhausted : undefined;
}

function demandNow({ demand }: Lease, now: Instant): { count: number; soon: number } {
  const ms = elapsedMs(demand.at, now);
  return {
    count: demand.count * 0.5 ** (ms / DEMAND_HALF_LIFE_MS),
    soon: demand.soon * 0.5 ** (ms / SOON_HALF_LIFE_MS),
  };
}

/** Calls a millisecond, as a count that is halved every half-life settles at rate × half-life / ln 2. */
function perMs(lease: Lease, now: Instant): number {
  return (demandNow(lease, now).count * Math.LN2) / DEMAND_HALF_LIFE_MS;
}
