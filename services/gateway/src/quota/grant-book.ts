import {
  ACKNOWLEDGEMENT_GRACE_MS,
  type AcquireRequest,
  dayOf,
  type Grant,
  monthOf,
  type Route,
  type UsageNews,
  type UsedPermits,
} from '@brand-data/contracts';
import { elapsedMs, type Instant, setInstant } from '@brand-data/runtime';
import { DueQueue } from './due-queue.ts';
import {
  freeOf,
  freeOfAll,
  type HeldGrant,
  isQuiet,
  isSpent,
  isToRetire,
  newHeldGrant,
  snapshotOf,
  type UsageSnapshot,
  uncountedOf,
  useOne,
} from './held-grant.ts';
import {
  type Allowance,
  dueInMs,
  exhaustedNow,
  type Holding,
  Holdings,
  isApplied,
  keptMs,
  lastTakenSeq,
  newHolding,
  noteTaken,
  type PendingAcquire,
  pendingAcquireAt,
} from './holding.ts';
import { NewsSeries } from './news-series.ts';
import { permitsWanted, returnUnneeded, unreportedGrants, wantsNextMonth, wantsRenewal } from './renewal.ts';

/** One permit, reserved for one call. Exactly one of `use` and `release` is called, once. */
export interface Permit {
  readonly grant: HeldGrant;
  /** The holding that the grant belongs to. */
  readonly holding: Holding;
  /** The call ends with a counted answer. Its usage has to be committed. */
  use(answer: { keyId: string; route: Route; status: number }): void;
  /** The call ends without a counted answer. */
  release(): void;
}

export type Admission =
  | { kind: 'permit'; permit: Permit }
  /** Metering has answered that the month's allowance is used up. */
  | { kind: 'exhausted'; periodEndMs: number }
  /** The gateway holds no free permit and has to ask metering. */
  | { kind: 'empty' };

/** The fields of the next Acquire that the book decides. Account, pool and limit come from the holding. */
export interface NextAcquire
  extends Pick<AcquireRequest, 'seq' | 'want' | 'wantSoon' | 'waiting' | 'ignoredFromSeq' | 'fromMs'> {
  /** Usage of the holding's grants, except grants whose latest usage metering has confirmed. */
  snapshots: Map<HeldGrant, UsageSnapshot>;
}

/**
 * If the clocks move apart by more than this, the next sweep looks at all holdings. After a smaller move, a sweep may retire a grant
 * too late by up to this time, but `take` compares both clocks and gives no permit of it.
 */
const CLOCKS_APART_MS = 100;
/** What metering told so recently is true without news. */
const TOLD_JUST_NOW_MS = 1_000;

/** Decides which grants a gateway holds, when it asks for more permits and when a grant ends. Does no I/O and reads no clock. */
export class GrantBook {
  readonly #holdings = new Holdings();
  readonly #due = new DueQueue<Holding>();
  /** Wall clock minus monotonic clock at the last sweep of all holdings. */
  #wallOffsetMs = Number.NEGATIVE_INFINITY;
  #lastSeq = 0;
  /** The held grants by the marks by which metering names them in its news. */
  readonly #marked = new Map<string, HeldGrant>();
  readonly #news = new NewsSeries();
  readonly #replicas: () => number;
  #outcome: (holding: Holding, isReleased: boolean) => void = () => {};

  /** @param replicas returns how many replicas of metering the gateway is connected to */
  constructor(replicas = () => 1) {
    this.#replicas = replicas;
  }

  /** Makes the book call `listener` for each released permit and, once a holding was recalled, for each of its used permits. */
  onOutcome(listener: (holding: Holding, isReleased: boolean) => void): void {
    this.#outcome = listener;
  }

  /** Takes a permit from the holding's grants. If none is free, says whether metering has answered that the month is used up. */
  take(holding: Holding, now: Instant): Admission {
    for (const grant of holding.grants) {
      if (!this.#isSpendable(grant, now)) continue;
      grant.reserved += 1;
      setInstant(grant.lastUse, now);
      return { kind: 'permit', permit: this.#permitOf(holding, grant, dayOf(now.wallMs)) };
    }
    const exhausted = exhaustedNow(holding, now);
    return exhausted ? { kind: 'exhausted', periodEndMs: exhausted.periodEndMs } : { kind: 'empty' };
  }

  /** Returns the holding of an account and pool. Applies the allowance if it is newer, and drops outdated answers of metering. */
  holding(allowance: Allowance, now: Instant): Holding {
    const { limit, limitRevision, signed = '', signedUntilMs = 0 } = allowance;
    let holding = this.#holdings.get(allowance);
    if (!holding) {
      holding = newHolding(allowance, this.#lastSeq, now);
      this.#holdings.add(holding);
      this.#queue(holding, now);
    }
    if (limitRevision > holding.limitRevision) {
      // The gateway returns permits that were granted under a higher limit, and asks again under the lower one.
      if (limit < holding.limit) {
        for (const grant of holding.grants) grant.retired = true;
        this.#due.add(holding, 0);
      }
      Object.assign(holding, { limit, limitRevision, signed, signedUntilMs, exhausted: undefined });
    } else if (
      signedUntilMs > holding.signedUntilMs &&
      (limitRevision === holding.limitRevision || now.wallMs >= holding.signedUntilMs)
    ) {
      // If only an older revision's allowance is still valid, it serves too: metering keeps the newest limit that it has seen.
      Object.assign(holding, { signed, signedUntilMs });
    }
    holding.exhausted = exhaustedNow(holding, now);
    return holding;
  }

  /** Whether to ask metering for more permits although the holding still has some. */
  wantsRenewal(holding: Holding, now: Instant): boolean {
    return wantsRenewal(holding, (grant) => this.#isSpendable(grant, now), now);
  }

  /**
   * Returns the next request to metering, for whose answer `waiting` calls wait: a repetition of the pending Acquire, or a new one.
   */
  nextAcquire(holding: Holding, waiting: number, now: Instant): NextAcquire {
    const pending = pendingAcquireAt(holding, now) ?? this.#newAcquire(holding, now);
    holding.pendingAcquire = pending;
    const { seq, fromMs } = pending;
    // Metering closes the grants of abandoned seqs only in the month of this Acquire.
    const lastTaken = lastTakenSeq(holding, monthOf(fromMs));
    const unreported = unreportedGrants(holding, waiting > 0);
    return {
      seq,
      fromMs,
      waiting,
      ...permitsWanted(holding, waiting, now),
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
   * Adds the grant that metering gave for the pending Acquire. Ignores an answer to an abandoned seq. Returns whether the grant's
   * permits can be spent now.
   */
  granted(holding: Holding, seq: number, grant: Grant, now: Instant): boolean {
    if (holding.pendingAcquire?.seq !== seq) return false;
    const { since, fromMs } = holding.pendingAcquire;
    const held = newHeldGrant(grant, holding, since, now);
    // A list that `push` has extended has room for 17 more, which would be wasted in each of 100,000 holdings.
    holding.grants = holding.grants.concat(held);
    this.#marked.set(held.mark, held);
    this.#queue(holding, now);
    holding.pendingAcquire = undefined;
    noteTaken(holding, { month: monthOf(fromMs), seq }, monthOf(now.wallMs));
    if (this.isInPeriod(held, now)) {
      holding.exhausted = undefined;
      if (grant.used) this.#noteUsed(holding, grant.used, held, now);
    }
    return this.#isSpendable(held, now);
  }

  /** Notes metering's answer to the pending Acquire: no permit of the allowance is available, and no gateway holds one. */
  exhausted(holding: Holding, seq: number, periodEndMs: number, now: Instant): void {
    if (holding.pendingAcquire?.seq !== seq) return;
    const { fromMs } = holding.pendingAcquire;
    holding.pendingAcquire = undefined;
    if (fromMs > now.wallMs) return;
    holding.exhausted = { at: now, periodEndMs };
  }

  /** Notes that metering refuses this seq. The next Acquire has a new one. */
  refused(holding: Holding, seq: number): void {
    if (holding.pendingAcquire?.seq === seq) holding.pendingAcquire = undefined;
  }

  /**
   * Retires a holding's grants that are expired, spent or idle. Closes the retired grants that have no call under way. Returns the
   * closed grants, whose usage is final.
   */
  retire(holding: Holding, now: Instant): HeldGrant[] {
    const open = holding.grants.filter((grant) => !grant.closed);
    for (const grant of open) {
      if (isToRetire(grant, now)) grant.retired = true;
      if (grant.retired && isQuiet(grant)) grant.closed = true;
    }
    return open.filter((grant) => grant.closed);
  }

  /** Retires grants of the holdings that are due, and forgets holdings that are no longer used. Returns the closed grants. */
  sweep(now: Instant): HeldGrant[] {
    this.#news.tick(now.monotonicMs, this.#replicas());
    const wallOffsetMs = now.wallMs - now.monotonicMs;
    // Due times are times of the monotonic clock. After a change of the wall clock every holding may be due.
    if (Math.abs(wallOffsetMs - this.#wallOffsetMs) > CLOCKS_APART_MS) return this.sweepAll(now);
    return this.#sweepHoldings(this.#due.take(now.monotonicMs), now);
  }

  sweepAll(now: Instant): HeldGrant[] {
    this.#wallOffsetMs = now.wallMs - now.monotonicMs;
    return this.#sweepHoldings(this.#holdings.all(), now);
  }

  #sweepHoldings(holdings: readonly Holding[], now: Instant): HeldGrant[] {
    const final: HeldGrant[] = [];
    for (const holding of holdings) {
      this.#due.delete(holding);
      // The book may have forgotten this holding before a call of it ended and queued the holding again.
      if (this.#holdings.get(holding) !== holding) continue;
      final.push(...this.retire(holding, now));
      const applied = holding.grants.filter((grant) => isApplied(grant, now));
      if (applied.length > 0) this.#remove(holding, new Set(applied));
      if (keptMs(holding, now) <= 0) this.#holdings.delete(holding);
      else this.#queue(holding, now);
    }
    return final;
  }

  /** Queues the holding for the time at which it may change without any call. */
  #queue(holding: Holding, now: Instant): void {
    this.#due.add(holding, now.monotonicMs + dueInMs(holding, now));
  }

  /** Notes that the commits of this many used permits have succeeded or failed. */
  committed(grant: HeldGrant, permits: number): void {
    grant.unsettled -= permits;
    this.#sweepWhenOver(grant);
  }

  /** Notes a recall: calls of the account wait, and metering has no available permit, or an operator has lowered the limit. */
  recalled(accountId: string, pool: string, now: Instant): Holding | undefined {
    const holding = this.#holdings.get({ accountId, pool });
    if (holding) holding.recalledAt = now;
    return holding;
  }

  /** Gives up the permits of a holding that this gateway does not need, because calls wait at another one. Returns the closed grants. */
  giveBack(holding: Holding, now: Instant): HeldGrant[] {
    returnUnneeded(holding, now);
    return this.retire(holding, now);
  }

  /** Retires every grant when the gateway stops. Returns the grants without calls under way, which are closed. */
  retireAll(now: Instant): HeldGrant[] {
    for (const holding of this.#holdings.all()) {
      holding.pendingAcquire = undefined;
      for (const grant of holding.grants) grant.retired = true;
    }
    return this.sweepAll(now);
  }

  /**
   * Notes that the stream has acknowledged the close of these grants. In case the replica of metering that reads it hangs, the
   * gateway also sends the close to metering, in each Acquire and after each recall, until metering has very likely applied it.
   */
  stored(grants: Iterable<HeldGrant>, now: Instant): void {
    for (const grant of grants) {
      grant.storedAt ??= now;
      const holding = this.#holdings.get(grant);
      if (holding) this.#queue(holding, now);
    }
  }

  /** Notes that metering has stored these snapshots, and forgets the grants that they close. */
  reported(snapshots: ReadonlyMap<HeldGrant, UsageSnapshot>, now: Instant): void {
    for (const [grant, { progress, freed }] of snapshots)
      Object.assign(grant, {
        reported: Math.max(grant.reported, progress),
        reportedFreed: Math.max(grant.reportedFreed, freed),
      });
    this.forget(new Set([...snapshots].flatMap(([grant, { usage }]) => (usage.closed ? [grant] : []))), now);
  }

  /** Removes grants that metering has closed. */
  forget(grants: ReadonlySet<HeldGrant>, now: Instant): void {
    for (const grant of grants) {
      const holding = this.#holdings.get(grant);
      if (!holding) continue;
      this.#remove(holding, grants);
      this.#queue(holding, now);
    }
  }

  #remove(holding: Holding, grants: ReadonlySet<HeldGrant>): void {
    for (const grant of holding.grants) {
      if (!grants.has(grant)) continue;
      this.#marked.delete(grant.mark);
      if (holding.used?.periodEndMs === grant.periodEndMs) holding.used.permits += uncountedOf(grant);
    }
    holding.grants = holding.grants.filter((grant) => !grants.has(grant));
  }

  /**
   * Whether an acknowledgement by the stream counts that arrives now. Later than ACKNOWLEDGEMENT_GRACE_MS after the grant's lifetime,
   * metering may have settled the grant without it.
   */
  acknowledgementCounts(grant: HeldGrant, now: Instant): boolean {
    return elapsedMs(grant.since, now) < grant.ttlMs + ACKNOWLEDGEMENT_GRACE_MS;
  }

  /** Whether the grant's month has begun and has not ended. The gateway spends no permit outside its month. */
  isInPeriod({ periodStartMs, periodEndMs }: HeldGrant, { wallMs }: Instant): boolean {
    return wallMs >= periodStartMs && wallMs < periodEndMs;
  }

  /** Handles news of metering about the used permits of accounts. */
  heard(news: UsageNews, now: Instant): void {
    this.#news.heard(news, now.monotonicMs);
    for (const account of news.accounts) {
      const grant = account.grants.map(({ mark }) => this.#marked.get(mark)).find(Boolean);
      const holding = grant && this.#holdings.get(grant);
      if (holding && this.isInPeriod(grant, now)) this.#noteUsed(holding, account, grant, now);
    }
  }

  /**
   * Returns the calls that are left this month: the limit less what metering told as used, and less what this gateway has used
   * since. undefined: other gateways may have used permits that this one has not heard of.
   */
  remaining(holding: Holding, now: Instant): number | undefined {
    if (holding.exhausted) return 0;
    const { used, limit } = holding;
    if (!used || now.wallMs >= used.periodEndMs) return undefined;
    let left = limit - used.permits;
    // Metering sends news of accounts of which this gateway has an open grant.
    let hasNews = false;
    for (const grant of holding.grants) {
      if (grant.periodEndMs !== used.periodEndMs) continue;
      left -= uncountedOf(grant);
      hasNews ||= !grant.closed;
    }
    const isTrue = hasNews && used.atMs >= this.#news.completeSinceMs;
    return isTrue || now.monotonicMs - used.atMs < TOLD_JUST_NOW_MS ? Math.max(0, left) : undefined;
  }

  #noteUsed(holding: Holding, told: UsedPermits, { periodEndMs }: HeldGrant, now: Instant): void {
    const before = holding.used;
    const isOlder = before && before.atMs >= this.#news.completeSinceMs && told.used < before.permits;
    if (isOlder && before.periodEndMs === periodEndMs) return;
    holding.used = { permits: told.used, atMs: now.monotonicMs, periodEndMs };
    for (const grant of holding.grants) {
      // A grant that is not told of was closed before, or given out after.
      const unnamed = grant.closed ? grant.used : 0;
      grant.counted = told.grants.find(({ mark }) => mark === grant.mark)?.used ?? unnamed;
    }
  }

  get size(): { holdings: number; grants: number; permits: number } {
    const holdings = this.#holdings.all();
    const grants = holdings.flatMap((holding) => holding.grants.filter((grant) => !grant.storedAt));
    return { holdings: holdings.length, grants: grants.length, permits: freeOfAll(grants) };
  }

  #permitOf(holding: Holding, grant: HeldGrant, day: string): Permit {
    return {
      grant,
      holding,
      use: ({ keyId, route, status }) => {
        useOne(grant, { keyId, route, status, day });
        this.#sweepWhenOver(grant, holding);
        if (holding.recalledAt) this.#outcome(holding, false);
      },
      release: () => {
        grant.reserved -= 1;
        this.#sweepWhenOver(grant, holding);
        this.#outcome(holding, true);
      },
    };
  }

  /** If the grant is spent or retired, makes the next sweep look at the holding. The sweep closes the grant if it is quiet. */
  #sweepWhenOver(grant: HeldGrant, ofGrant?: Holding): void {
    if (!grant.retired && !isSpent(grant)) return;
    const holding = ofGrant ?? this.#holdings.get(grant);
    if (holding) this.#due.add(holding, 0);
  }

  #isSpendable(grant: HeldGrant, now: Instant): boolean {
    if (!this.isInPeriod(grant, now)) return false;
    return !grant.retired && !grant.refused && elapsedMs(grant.since, now) < grant.ttlMs && freeOf(grant) > 0;
  }
}
