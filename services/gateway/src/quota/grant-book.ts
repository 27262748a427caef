import { ACKNOWLEDGEMENT_GRACE_MS, type Grant, monthOf, type Route } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';
import { DueQueue } from './due-queue.ts';
import { ALL_RULES, type GrantRules } from './grant-rules.ts';
import {
  freeOf,
  type HeldGrant,
  isQuiet,
  isSpent,
  isToRetire,
  newHeldGrant,
  snapshotOf,
  type UsageSnapshot,
  useOne,
} from './held-grant.ts';
import {
  type Allowance,
  dueInMs,
  exhaustedNow,
  type Holding,
  isApplied,
  keptMs,
  keyOf,
  newHolding,
  type PendingAcquire,
  pendingAcquireAt,
} from './holding.ts';
import { returnUnneeded, unreportedGrants } from './recall.ts';
import { permitsWanted, wantsNextMonth, wantsRenewal } from './renewal.ts';

/** One permit, reserved for one call. Exactly one of `use` and `release` is called, once. */
export interface Permit {
  grant: HeldGrant;
  /** The call ends in an answer that is counted. `settled` is called once it is known whether its usage is durable. */
  use(answer: { keyId: string; route: Route; status: number }): void;
  settled(): void;
  /** The call ends without an answer that is counted. */
  release(): void;
}

export type Admission =
  | { kind: 'permit'; permit: Permit }
  /** Metering has answered that the month's allowance is used up. */
  | { kind: 'exhausted'; periodEndMs: number }
  /** No permit is in hand: metering has to be asked. */
  | { kind: 'empty' };

/** The next Acquire as the book decides it; account, pool and limit are the holding's. */
export interface NextAcquire {
  seq: number;
  want: number;
  wantSoon: number;
  waiting: number;
  ignoredFromSeq: number;
  /** Usage of the holding's grants that metering may not know. */
  snapshots: Map<HeldGrant, UsageSnapshot>;
  fromMs: number;
}

/** A sweep of what is due by the monotonic clock may be late by this much where the wall clock runs ahead. No call is admitted by it. */
const CLOCKS_APART_MS = 100;

/**
 * The quota's decisions of one gateway: which permits it holds, when to ask for more, when a grant is over. It does no
 * I/O and reads no clock.
 */
export class GrantBook {
  readonly #holdings = new Map<string, Holding>();
  readonly #rules: GrantRules;
  readonly #due = new DueQueue<Holding>();
  /** How far the wall clock was ahead of the monotonic clock at the last sweep of all holdings. */
  #wallOffsetMs = Number.NEGATIVE_INFINITY;
  #lastSeq = 0;
  #outcome: (holding: Holding, isReleased: boolean) => void = () => {};

  constructor(rules: GrantRules = ALL_RULES) {
    this.#rules = rules;
  }

  /** Calls `listener` for each permit that is released and, once a holding was recalled, for each that is used. */
  onOutcome(listener: (holding: Holding, isReleased: boolean) => void): void {
    this.#outcome = listener;
  }

  /** Takes a permit from the grants in hand. */
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

  /** The holding of an account and pool, by this allowance; drops what is out of date in it. */
  holding(allowance: Allowance, now: Instant): Holding {
    const { limit, limitRevision } = allowance;
    const key = keyOf(allowance);
    let holding = this.#holdings.get(key);
    if (!holding) {
      holding = newHolding(allowance, this.#lastSeq, now);
      this.#holdings.set(key, holding);
      this.#queue(holding, now);
    }
    if (limitRevision > holding.limitRevision) {
      // Permits granted under a higher limit are given back, and asked for again under the lower one.
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

  /** Whether to ask metering before the permits in hand are gone. */
  wantsRenewal(holding: Holding, now: Instant): boolean {
    const spendable = holding.grants.filter((grant) => this.#isSpendable(grant, now));
    return wantsRenewal(holding, spendable, now);
  }

  /**
   * The next request to metering: the pending Acquire again, or a new one.
   *
   * @param waiting calls that wait for the answer
   */
  nextAcquire(holding: Holding, waiting: number, now: Instant): NextAcquire {
    const pending = pendingAcquireAt(holding, now) ?? this.#newAcquire(holding, now);
    if (!this.#rules.timeFromFirstSend) pending.since = now;
    holding.pendingAcquire = pending;
    const { seq, fromMs } = pending;
    // Metering closes what it opened for given-up seqs only in the month of this Acquire.
    const lastTaken = holding.lastTakenSeqs.get(monthOf(fromMs)) ?? holding.lastTakenBefore;
    const unreported = unreportedGrants(holding, waiting > 0);
    return {
      ...{ seq, fromMs, waiting, ...permitsWanted(holding, waiting, now) },
      ignoredFromSeq: lastTaken + 1,
      snapshots: new Map(unreported.map((grant) => [grant, snapshotOf(grant)])),
    };
  }

  #newAcquire(holding: Holding, now: Instant): PendingAcquire {
    this.#lastSeq += 1;
    const newest = holding.grants.findLast((grant) => this.#isSpendable(grant, now));
    const nextMonth = newest && wantsNextMonth(holding, newest, now);
    if (nextMonth) holding.nextMonthAskedAt = now;
    return { seq: this.#lastSeq, since: now, fromMs: nextMonth ? newest.periodEndMs : now.wallMs };
  }

  /**
   * Metering gave a grant for the pending Acquire. An answer to a seq that was given up changes nothing.
   *
   * @returns whether the grant's permits can be spent now
   */
  granted(holding: Holding, seq: number, grant: Grant, now: Instant): boolean {
    if (holding.pendingAcquire?.seq !== seq) return false;
    const { since, fromMs } = holding.pendingAcquire;
    const { periodStartMs, periodEndMs } = grant;
    const held = newHeldGrant(grant, keyOf(holding), since, now);
    holding.grants.push(held);
    this.#queue(holding, now);
    holding.pendingAcquire = undefined;
    for (const [month, taken] of holding.lastTakenSeqs) {
      if (month >= monthOf(now.wallMs)) continue;
      // The wall clock may be set back, and permits of that month be asked for again.
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

  /** Metering answered the pending Acquire: nothing is free of the allowance that it named, and no holder has any. */
  exhausted(holding: Holding, seq: number, periodEndMs: number, now: Instant): void {
    if (holding.pendingAcquire?.seq !== seq) return;
    const { fromMs } = holding.pendingAcquire;
    holding.pendingAcquire = undefined;
    if (fromMs > now.wallMs) return;
    holding.exhausted = { at: now, periodEndMs };
    holding.remaining = { permits: 0, periodEndMs };
  }

  /** Metering has no grant for this seq and will have none: the next Acquire has a new seq. */
  refused(holding: Holding, seq: number): void {
    if (holding.pendingAcquire?.seq === seq) holding.pendingAcquire = undefined;
  }

  /**
   * Retires a holding's grants that are over, spent or idle, and closes the retired ones without calls under way.
   *
   * @returns the closed grants, whose usage is final
   */
  retire(holding: Holding, now: Instant): HeldGrant[] {
    const open = holding.grants.filter((grant) => !grant.closed);
    for (const grant of open) {
      if (isToRetire(grant, now)) grant.retired = true;
      if (grant.retired && (isQuiet(grant) || !this.#rules.closedOnlyWhenQuiet)) grant.closed = true;
    }
    return open.filter((grant) => grant.closed);
  }

  /** Retires grants of every holding that is due, and forgets holdings that are not used any more. */
  sweep(now: Instant): HeldGrant[] {
    const wallOffsetMs = now.wallMs - now.monotonicMs;
    // Due times are kept by the monotonic clock. When the wall clock was set, every holding may be due.
    if (Math.abs(wallOffsetMs - this.#wallOffsetMs) > CLOCKS_APART_MS) return this.sweepAll(now);
    return this.#sweepHoldings(this.#due.take(now.monotonicMs), now);
  }

  /** Does the same for all holdings. */
  sweepAll(now: Instant): HeldGrant[] {
    this.#wallOffsetMs = now.wallMs - now.monotonicMs;
    return this.#sweepHoldings([...this.#holdings.values()], now);
  }

  #sweepHoldings(holdings: readonly Holding[], now: Instant): HeldGrant[] {
    const final: HeldGrant[] = [];
    for (const holding of holdings) {
      this.#due.delete(holding);
      // A call may have outlived its holding and queued it again.
      if (this.#holdings.get(keyOf(holding)) !== holding) continue;
      final.push(...this.retire(holding, now));
      if (holding.grants.some((grant) => isApplied(grant, now)))
        holding.grants = holding.grants.filter((grant) => !isApplied(grant, now));
      if (keptMs(holding, now) <= 0) this.#holdings.delete(keyOf(holding));
      else this.#queue(holding, now);
    }
    return final;
  }

  /** Queues the holding for the time when it may be due without any call. */
  #queue(holding: Holding, now: Instant): void {
    this.#due.add(holding, now.monotonicMs + dueInMs(holding, now));
  }

  /** Metering broadcasts that calls of the account wait and nothing is free. */
  recalled(accountId: string, pool: string, now: Instant): Holding | undefined {
    const holding = this.#holdings.get(keyOf({ accountId, pool }));
    if (holding) holding.recalledAt = now;
    return holding;
  }

  /**
   * Returns what this gateway does not need of a holding, because calls at another gateway wait.
   *
   * @returns the grants that were closed by it, whose usage is final
   */
  giveBack(holding: Holding, now: Instant): HeldGrant[] {
    returnUnneeded(holding, now);
    return this.retire(holding, now);
  }

  /**
   * Retires every grant, at the stop.
   *
   * @returns the grants without calls under way, which are closed
   */
  retireAll(now: Instant): HeldGrant[] {
    for (const holding of this.#holdings.values()) {
      holding.pendingAcquire = undefined;
      for (const grant of holding.grants) grant.retired = true;
    }
    return this.sweepAll(now);
  }

  /**
   * The stream has acknowledged the close of these grants. Metering applies it within seconds when one of its replicas hangs.
   * Until then the close also goes with each Acquire and after each recall, since its permits may be needed sooner.
   */
  stored(grants: Iterable<HeldGrant>, now: Instant): void {
    for (const grant of grants) {
      grant.storedAt ??= now;
      const holding = this.#holdings.get(grant.holdingKey);
      if (holding) this.#queue(holding, now);
    }
  }

  /** Metering has stored these snapshots. Grants that they close are forgotten. */
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
      this.#queue(holding, now);
    }
  }

  /** Free permits in hand of an account and pool. */
  permitsOf(accountId: string, pool: string): number {
    const grants = this.#holdings.get(keyOf({ accountId, pool }))?.grants ?? [];
    return grants.reduce((sum, grant) => sum + freeOf(grant), 0);
  }

  /**
   * Whether an acknowledgement by the stream that comes now counts. Later on, metering may have settled the grant without the
   * usage that is acknowledged.
   */
  acknowledgementCounts(grant: HeldGrant, now: Instant): boolean {
    if (!this.#rules.acknowledgementDeadline) return true;
    return elapsedMs(grant.since, now) < grant.ttlMs + ACKNOWLEDGEMENT_GRACE_MS;
  }

  /** Permits left this month, as far as this gateway knows: never more than were left at metering's last answer. */
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
    /** A grant that is spent or retired is closed with its last outcome. */
    const sweepWhenOver = () => {
      if (grant.retired || isSpent(grant)) this.#due.add(holding, 0);
    };
    return {
      grant,
      use: ({ keyId, route, status }) => {
        useOne(grant, { keyId, route, status, day });
        sweepWhenOver();
        if (holding.recalledAt) this.#outcome(holding, false);
      },
      settled: () => {
        grant.unsettled -= 1;
        sweepWhenOver();
      },
      release: () => {
        grant.reserved -= 1;
        sweepWhenOver();
        this.#outcome(holding, true);
      },
    };
  }

  #isSpendable(grant: HeldGrant, now: Instant): boolean {
    if (this.#rules.monthsCut && (now.wallMs < grant.periodStartMs || now.wallMs >= grant.periodEndMs))
      return false;
    return !grant.retired && !grant.refused && elapsedMs(grant.since, now) < grant.ttlMs && freeOf(grant) > 0;
  }
}
