import {
  ACKNOWLEDGEMENT_GRACE_MS,
  type Grant,
  monthOf,
  NEXT_MONTH_ASKED_WITHIN_MS,
  type Route,
} from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';
import { DueQueue } from './due-queue.ts';
import {
  freedOf,
  freeOf,
  type HeldGrant,
  isQuiet,
  isSpent,
  isToRetire,
  newHeldGrant,
  type UsageSnapshot,
  snapshotOf,
  progressOf,
  useOne,
} from './held-grant.ts';
import {
  type Allowance,
  demandOf,
  dueInMs,
  exhaustedNow,
  isApplied,
  keptMs,
  keyOf,
  type Holding,
  newHolding,
  pendingAcquireAt,
} from './holding.ts';
import { ALL_RULES, type GrantRules } from './grant-rules.ts';

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

/** A request to metering as the book decides it; the account, pool and limit are the holding's. */
export interface NextAcquire {
  seq: number;
  want: number;
  wantSoon: number;
  waiting: number;
  ignoredFromSeq: number;
  /** What metering may not know of grants. */
  snapshots: Map<HeldGrant, UsageSnapshot>;
  fromMs: number;
}

/** By so much what is due may be found late when the wall clock runs ahead of the monotonic one: nothing is admitted by it. */
const CLOCKS_APART_MS = 100;
/** After a recall, outcomes are told as they come to be known. */
const RECALLED_FOR_MS = 1_000;
/** Of what the next moment's calls will use. */
const KEPT_SHARE = 1 / 4;
const IN_HAND_MS = 30_000;
const NEXT_MONTH_ASKED_EVERY_MS = 5_000;
/** Metering gives no more than a small share of what is left: to ask for little only means to ask often. */
const LEAST_WANT = 1_000;
const MOST_WANT = 1_000_000;
const GRANTS_HELD = 2;
/** Calls that come together come again so often in the next moment. */
const AGAIN_SOON = 8;

/**
 * The quota's decisions of one gateway: which permits it holds, when to ask for more, when a grant is over. It does no
 * I/O and reads no clock.
 */
export class GrantBook {
  readonly #holdings = new Map<string, Holding>();
  readonly #rules: GrantRules;
  readonly #due = new DueQueue<Holding>();
  /** The wall clock's lead on the monotonic one when all holdings were last looked at. */
  #wallOffsetMs = Number.NEGATIVE_INFINITY;
  #lastSeq = 0;
  #outcome: (holding: Holding, isReleased: boolean) => void = () => {};

  constructor(rules: GrantRules = ALL_RULES) {
    this.#rules = rules;
  }

  /** Tells of each permit that is released and, while a holding is recalled, of each that is used. */
  onOutcome(listener: (holding: Holding, isReleased: boolean) => void): void {
    this.#outcome = listener;
  }

  /** Takes a permit from what is in hand. */
  take(holding: Holding, now: Instant): Admission {
    for (const grant of holding.grants) {
      if (!this.#isSpendable(grant, now)) continue;
      grant.reserved += 1;
      grant.lastUse = now;
      return {
        kind: 'permit',
        permit: this.#permitOf(holding, grant, new Date(now.wallMs).toISOString().slice(0, 10)),
      };
    }
    const exhausted = exhaustedNow(holding, now);
    return exhausted ? { kind: 'exhausted', periodEndMs: exhausted.periodEndMs } : { kind: 'empty' };
  }

  /** The holding of an account and pool; what is out of date in it is forgotten first. */
  holding(allowance: Allowance, now: Instant): Holding {
    const { limit, limitRevision } = allowance;
    const key = keyOf(allowance);
    let holding = this.#holdings.get(key);
    if (!holding) {
      holding = newHolding(allowance, this.#lastSeq, now);
      this.#holdings.set(key, holding);
      this.#lookAgain(holding, now);
    }
    if (limitRevision > holding.limitRevision) {
      // What was granted under a higher limit is given back, and asked for anew under the lower one.
      if (limit < holding.limit) {
        for (const grant of holding.grants) grant.retired = true;
        this.#due.add(holding, 0);
      }
      Object.assign(holding, { limit, limitRevision, exhausted: undefined, remaining: undefined });
    }
    holding.exhausted = exhaustedNow(holding, now);
    if (holding.remaining && now.wallMs >= holding.remaining.periodEndMs) holding.remaining = undefined;
    return holding;
  }

  /**
   * Whether to ask before the permits in hand are gone: so that 30 s of time and of traffic stay in hand, and next month's
   * in this one's last minute. Not near the limit, where every permit that lies idle is one that somebody else lacks.
   */
  wantsRenewal(holding: Holding, now: Instant): boolean {
    const live = holding.grants.filter((grant) => this.#isSpendable(grant, now));
    const newest = live.at(-1);
    if (!newest) return false;
    if (this.#wantsNextMonth(holding, newest, now)) return true;
    if (live.length >= GRANTS_HELD || newest.size === 1) return false;
    // A long grant sooner: an account that seldom calls is to call within the margin, or it waits once its time is over.
    const margin = Math.min(Math.max(IN_HAND_MS, newest.ttlMs / 3), newest.ttlMs / 2);
    if (elapsedMs(newest.since, now) > newest.ttlMs - margin) return true;
    const inHand = live.reduce((sum, grant) => sum + freeOf(grant), 0);
    const { perMs, soon } = demandOf(holding, now);
    return inHand < Math.min(perMs * IN_HAND_MS, Math.max(newest.size / 2, soon));
  }

  /** The next request to metering: the wish that is still unanswered, or a new one. */
  nextAcquire(holding: Holding, waiting: number, now: Instant): NextAcquire {
    holding.pendingAcquire = pendingAcquireAt(holding, now);
    if (!holding.pendingAcquire) {
      this.#lastSeq += 1;
      const newest = holding.grants.findLast((grant) => this.#isSpendable(grant, now));
      const nextMonth = newest && this.#wantsNextMonth(holding, newest, now);
      if (nextMonth) holding.nextMonthAskedAt = now;
      holding.pendingAcquire = { seq: this.#lastSeq, since: now, fromMs: nextMonth ? newest.periodEndMs : now.wallMs };
    } else if (!this.#rules.timeFromFirstSend) holding.pendingAcquire.since = now;
    const { perMs, soon } = demandOf(holding, now);
    return {
      seq: holding.pendingAcquire.seq,
      want: Math.min(MOST_WANT, Math.max(LEAST_WANT, Math.ceil(perMs * 60_000) + waiting)),
      wantSoon: Math.min(MOST_WANT, Math.max(Math.ceil(soon), (waiting - 1) * AGAIN_SOON)),
      waiting,
      // Metering looks for them in the wish's month alone.
      ignoredFromSeq: (holding.lastTakenSeqs.get(monthOf(holding.pendingAcquire.fromMs)) ?? holding.lastTakenBefore) + 1,
      snapshots: new Map(this.unreported(holding, waiting > 0).map((grant) => [grant, snapshotOf(grant)])),
      fromMs: holding.pendingAcquire.fromMs,
    };
  }

  /**
   * Metering granted the wish; answers whether its permits can be spent now. A reply to a seq that was given up changes
   * nothing.
   */
  granted(holding: Holding, seq: number, grant: Grant, now: Instant): boolean {
    if (holding.pendingAcquire?.seq !== seq) return false;
    const { since, fromMs } = holding.pendingAcquire;
    const { periodStartMs, periodEndMs } = grant;
    const held = newHeldGrant(grant, keyOf(holding), since, now);
    holding.grants.push(held);
    this.#lookAgain(holding, now);
    holding.pendingAcquire = undefined;
    for (const [month, taken] of holding.lastTakenSeqs) {
      if (month >= monthOf(now.wallMs)) continue;
      // The wall clock may be set back, and the month be asked for again.
      holding.lastTakenBefore = Math.max(holding.lastTakenBefore, taken);
      holding.lastTakenSeqs.delete(month);
    }
    holding.lastTakenSeqs.set(monthOf(fromMs), seq);
    if (now.wallMs >= periodStartMs) {
      holding.exhausted = undefined;
      holding.remaining = { permits: grant.remaining, periodEndMs };
    }
    return this.#isSpendable(held, now);
  }

  /** Nothing remains and nothing is out: said of the allowance that the wish named. */
  exhausted(holding: Holding, seq: number, periodEndMs: number, now: Instant): void {
    if (holding.pendingAcquire?.seq !== seq) return;
    const { fromMs } = holding.pendingAcquire;
    holding.pendingAcquire = undefined;
    if (fromMs > now.wallMs) return;
    holding.exhausted = { at: now, periodEndMs };
    holding.remaining = { permits: 0, periodEndMs };
  }

  /** Metering has no grant for this seq and will have none: the next wish has a new one. */
  refused(holding: Holding, seq: number): void {
    if (holding.pendingAcquire?.seq === seq) holding.pendingAcquire = undefined;
  }

  /** Retires what is over, spent or idle of one holding, and answers the grants that have become final by it. */
  retire(holding: Holding, now: Instant): HeldGrant[] {
    const open = holding.grants.filter((grant) => !grant.closed);
    for (const grant of open) {
      if (isToRetire(grant, now)) grant.retired = true;
      if (grant.retired && (isQuiet(grant) || !this.#rules.closedOnlyWhenQuiet)) grant.closed = true;
    }
    return open.filter((grant) => grant.closed);
  }

  /** The same for every holding of which something is due; forgets those that nobody uses. */
  sweep(now: Instant): HeldGrant[] {
    const wallOffsetMs = now.wallMs - now.monotonicMs;
    // What is due is known by the monotonic clock alone: when the wall clock was set, everything may be.
    if (Math.abs(wallOffsetMs - this.#wallOffsetMs) > CLOCKS_APART_MS) return this.sweepAll(now);
    return this.#sweepThese(this.#due.take(now.monotonicMs), now);
  }

  /** The same, whatever is due. */
  sweepAll(now: Instant): HeldGrant[] {
    this.#wallOffsetMs = now.wallMs - now.monotonicMs;
    return this.#sweepThese([...this.#holdings.values()], now);
  }

  #sweepThese(holdings: readonly Holding[], now: Instant): HeldGrant[] {
    const final: HeldGrant[] = [];
    for (const holding of holdings) {
      this.#due.delete(holding);
      // A call that outlived its holding may have put it there.
      if (this.#holdings.get(keyOf(holding)) !== holding) continue;
      final.push(...this.retire(holding, now));
      if (holding.grants.some((grant) => isApplied(grant, now)))
        holding.grants = holding.grants.filter((grant) => !isApplied(grant, now));
      if (keptMs(holding, now) <= 0) this.#holdings.delete(keyOf(holding));
      else this.#lookAgain(holding, now);
    }
    return final;
  }

  /** When something of it may be due by itself. */
  #lookAgain(holding: Holding, now: Instant): void {
    this.#due.add(holding, now.monotonicMs + dueInMs(holding, now));
  }

  /** Calls wait for what comes back, here or elsewhere: outcomes are told as they come to be known, for a while. */
  recalled(accountId: string, pool: string, now: Instant): Holding | undefined {
    const holding = this.#holdings.get(keyOf({ accountId, pool }));
    if (holding) holding.recalledAt = now;
    return holding;
  }

  /**
   * Calls of another gateway wait and nothing is free any more: gives back what is not reserved, but for what this one's own
   * calls will use in a moment, at most half. Answers the grants that have become final by it.
   */
  giveBack(holding: Holding, now: Instant): HeldGrant[] {
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
    return this.retire(holding, now);
  }

  isRecalled({ recalledAt }: Holding, now: Instant): boolean {
    return recalledAt !== undefined && elapsedMs(recalledAt, now) < RECALLED_FOR_MS;
  }

  /**
   * Grants of which metering may not know that they are closed or used up; with `all`, also those of which it may know less
   * than is used and returned.
   */
  unreported(holding: Holding, all: boolean): HeldGrant[] {
    return holding.grants.filter(
      (grant) => grant.closed || (grant.reported < progressOf(grant) && (all || isSpent(grant))),
    );
  }

  /**
   * Of these what others wait for: permits that are given back; and, once nothing here is undecided any more, everything,
   * for it may show that nothing is left.
   */
  awaited(holding: Holding, now: Instant): HeldGrant[] {
    const isDecided = holding.grants.every(
      (grant) => (grant.reserved === 0 && freeOf(grant) === 0) || now.wallMs < grant.periodStartMs,
    );
    return this.unreported(holding, true).filter((grant) => isDecided || grant.reportedFreed < freedOf(grant));
  }

  /** At the stop: every grant is to be closed. Answers those of which nothing is in flight. */
  retireAll(now: Instant): HeldGrant[] {
    for (const holding of this.#holdings.values()) {
      holding.pendingAcquire = undefined;
      for (const grant of holding.grants) grant.retired = true;
    }
    return this.sweepAll(now);
  }

  /**
   * The close of these grants is in the stream. Until metering has surely applied it, which takes seconds when one of its
   * replicas hangs, it also goes with what is asked or recalled: the permits may be wanted sooner.
   */
  stored(grants: Iterable<HeldGrant>, now: Instant): void {
    for (const grant of grants) {
      grant.storedAt ??= now;
      const holding = this.#holdings.get(grant.holdingKey);
      if (holding) this.#lookAgain(holding, now);
    }
  }

  /** Metering has stored as much of their use; those that it was told to close are forgotten. */
  reported(snapshots: ReadonlyMap<HeldGrant, UsageSnapshot>, now: Instant): void {
    for (const [grant, { progress, freed }] of snapshots)
      Object.assign(grant, {
        reported: Math.max(grant.reported, progress),
        reportedFreed: Math.max(grant.reportedFreed, freed),
      });
    this.forget(new Set([...snapshots].flatMap(([grant, { usage }]) => (usage.closed ? [grant] : []))), now);
  }

  /** Metering has closed these grants. */
  forget(grants: ReadonlySet<HeldGrant>, now: Instant): void {
    for (const { holdingKey } of grants) {
      const holding = this.#holdings.get(holdingKey);
      if (!holding) continue;
      holding.grants = holding.grants.filter((grant) => !grants.has(grant));
      this.#lookAgain(holding, now);
    }
  }

  /** Permits in hand of an account and pool that are neither used nor reserved. */
  permitsOf(accountId: string, pool: string): number {
    const grants = this.#holdings.get(keyOf({ accountId, pool }))?.grants ?? [];
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
  estimateRemaining(holding: Holding, now: Instant): number | undefined {
    if (holding.remaining === undefined) return undefined;
    return holding.grants.reduce(
      (sum, grant) => (this.#isSpendable(grant, now) ? sum + freeOf(grant) : sum),
      holding.remaining.permits,
    );
  }

  get size(): { holdings: number; grants: number; permits: number } {
    const grants = [...this.#holdings.values()].flatMap((holding) =>
      holding.grants.filter((grant) => !grant.storedAt),
    );
    const permits = grants.reduce((sum, grant) => sum + freeOf(grant), 0);
    return { holdings: this.#holdings.size, grants: grants.length, permits };
  }

  #permitOf(holding: Holding, grant: HeldGrant, day: string): Permit {
    /** What is spent or retired closes with its last outcome. */
    const lookWhenOver = () => {
      if (grant.retired || isSpent(grant)) this.#due.add(holding, 0);
    };
    return {
      grant,
      use: ({ keyId, route, status }) => {
        useOne(grant, { keyId, route, status, day });
        lookWhenOver();
        if (holding.recalledAt) this.#outcome(holding, false);
      },
      settled: () => {
        grant.unsettled -= 1;
        lookWhenOver();
      },
      release: () => {
        grant.reserved -= 1;
        lookWhenOver();
        this.#outcome(holding, true);
      },
    };
  }

  #isSpendable(grant: HeldGrant, now: Instant): boolean {
    if (this.#rules.monthsCut && (now.wallMs < grant.periodStartMs || now.wallMs >= grant.periodEndMs))
      return false;
    return !grant.retired && !grant.refused && elapsedMs(grant.since, now) < grant.ttlMs && freeOf(grant) > 0;
  }

  #wantsNextMonth(holding: Holding, newest: HeldGrant, now: Instant): boolean {
    if (newest.periodEndMs - now.wallMs > NEXT_MONTH_ASKED_WITHIN_MS) return false;
    if (holding.nextMonthAskedAt && elapsedMs(holding.nextMonthAskedAt, now) < NEXT_MONTH_ASKED_EVERY_MS)
      return false;
    return holding.grants.every((grant) => grant.periodStartMs < newest.periodEndMs);
  }
}
