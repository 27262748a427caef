import type { AcquireRequest, AcquireResponse, Recall } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';
import { askAgain } from './ask-again.ts';
import { type Allowance, countCall, type Lease } from './lease.ts';
import type { Admission, LeaseBook, Permit } from './lease-book.ts';
import type { UsageJournal } from './usage-journal.ts';

const ADMIT_WITHIN_MS = 2_000;
const ACQUIRE_WITHIN_MS = 1_000;
const RETRY_AFTER_MS = 50;
const SWEEP_EVERY_MS = 100;
const FLUSH_WITHIN_MS = 5_000;
/** Calls that wait for permits, of all accounts. */
const WAITING_CALLS = 10_000;

/** One attempt. Rejects with a Fault: `failed_precondition` for a month that is not now, `unavailable` without an answer in time. */
export type Acquire = (
  request: AcquireRequest,
  withinMs: number,
  replica: ReplicaChoice,
) => Promise<AcquireResponse>;

/** Permits for calls: from the leases in hand, or asked of metering. */
export interface Quota {
  /** Rejects with Fault `unavailable`: no permit could be had in time, though the allowance is not known to be used up. */
  admit(allowance: Allowance): Promise<Exclude<Admission, { kind: 'empty' }>>;
  /**
   * Resolves once the permit's use is durably billed; what a caller is then answered is billed exactly once. Rejects with
   * Fault `unavailable` when that is not known: the permit stays used.
   */
  commit(permit: Permit): Promise<void>;
  /** What is left of the month, as far as it is known here. */
  remaining(allowance: Allowance): number | undefined;
  /** Another gateway has calls waiting for what lies unused here. */
  recall(recall: Recall): void;
  /** Gives back every unspent permit; called when no call is under way any more. */
  stop(): Promise<void>;
}

/** What the quota tells of itself. */
export interface QuotaEvents {
  asked(outcome: 'grant' | 'wait' | 'exhausted' | 'stale' | 'unavailable'): void;
  /** A call could not be admitted from what was in hand. */
  waited(): void;
  recalled(permits: number): void;
}

/** What came of a request: how long to wait before the next one, and whether there was nothing to be had. */
interface Asked {
  retryAfterMs: number;
  hasNone?: boolean;
}

interface WaitingCall {
  began: Instant;
  resolve: (admission: Exclude<Admission, { kind: 'empty' }>) => void;
  reject: (fault: Fault) => void;
}

export function startQuota(
  {
    book,
    journal,
    acquire,
    clock,
    holder,
  }: { book: LeaseBook; journal: UsageJournal; acquire: Acquire; clock: Clock; holder: string },
  events: QuotaEvents,
): Quota {
  const asking = new Map<Lease, Promise<Asked>>();
  /** Calls that wait for permits, those that came first first. */
  const queues = new Map<Lease, WaitingCall[]>();
  /** Until when metering need not be asked early again. */
  const resting = new WeakMap<Lease, Instant>();
  const telling = new Set<Lease>();
  let waiting = 0;
  let stopping = false;

  /** One request at a time for a lease: all its calls wait for the same answer. */
  const ask = (lease: Lease): Promise<Asked> => {
    let pending = asking.get(lease);
    if (!pending) {
      pending = askMetering(lease).finally(() => asking.delete(lease));
      asking.set(lease, pending);
    }
    return pending;
  };

  const askMetering = async (lease: Lease): Promise<Asked> => {
    for (const grant of book.retire(lease, clock.now())) journal.send(grant);
    const { accountId, pool, limit, limitRevision } = lease;
    const callsWaiting = queues.get(lease)?.length ?? 0;
    const urgent = callsWaiting > 0;
    const { tellings, ...wish } = book.wish(lease, callsWaiting, clock.now());
    const usage = [...tellings.values()].map((telling) => telling.usage);
    try {
      const request = {
        ...{ holder, accountId, pool, limit, limitRevision, urgent, usage, readsStale: true },
        ...wish,
      };
      const { outcome } = await askAgain(clock, ACQUIRE_WITHIN_MS, lease.preference, (withinMs, replica) =>
        acquire(request, withinMs, replica),
      );
      if (outcome?.$case === 'stale') return refusedAsStale(lease, wish.seq);
      // Metering has stored it before it answered.
      book.told(tellings, clock.now());
      events.asked(outcome?.$case ?? 'wait');
      if (outcome?.$case === 'grant') {
        const isSpendable = book.granted(lease, wish.seq, outcome.value, clock.now());
        // At the month's end metering's clock may say another month: asking again at once would not help.
        return { retryAfterMs: isSpendable ? 0 : RETRY_AFTER_MS };
      }
      if (outcome?.$case === 'exhausted') {
        book.exhausted(lease, wish.seq, outcome.value.periodEndMs, clock.now());
        return { retryAfterMs: 0 };
      }
      // What waited here was not asked for by a request that nobody waited for.
      return { retryAfterMs: urgent ? (outcome?.value.retryAfterMs ?? RETRY_AFTER_MS) : 0, hasNone: true };
    } catch (error) {
      // A month that is not now; a stale seq too, of a metering of an earlier version.
      if (error instanceof Fault && error.kind === 'failed_precondition')
        return refusedAsStale(lease, wish.seq);
      events.asked('unavailable');
      return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
    }
  };

  /** The next request has a new seq. */
  const refusedAsStale = (lease: Lease, seq: number): Asked => {
    events.asked('stale');
    book.refused(lease, seq);
    return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
  };

  /** Before what is in hand is gone; not again at once when there was nothing to be had. */
  const askEarly = async (lease: Lease, now: Instant): Promise<void> => {
    const since = resting.get(lease);
    if (asking.has(lease) || (since && elapsedMs(since, now) < RETRY_AFTER_MS)) return;
    const { hasNone } = await ask(lease);
    if (hasNone) resting.set(lease, clock.now());
    admitWaiting(lease);
  };

  /** Permits that are in hand go to the calls that have waited longest, and to newer ones only when none waits. */
  const admitWaiting = (lease: Lease): void => {
    const queue = queues.get(lease);
    if (!queue) return;
    const now = clock.now();
    let admitted = 0;
    for (const { resolve } of queue) {
      const admission = book.take(lease, now);
      if (admission.kind === 'empty') break;
      resolve(admission);
      admitted += 1;
    }
    leaveQueue(lease, queue.splice(0, admitted).length);
  };

  const leaveQueue = (lease: Lease, calls: number): void => {
    waiting -= calls;
    if (queues.get(lease)?.length === 0) queues.delete(lease);
  };

  /** Asks until no call waits any more. */
  const serveQueue = async (lease: Lease, queue: WaitingCall[]): Promise<void> => {
    // All calls of one moment are asked for together.
    await clock.sleep(0);
    while (queue.length > 0) {
      const { retryAfterMs } = await ask(lease);
      admitWaiting(lease);
      const now = clock.now();
      const late = queue.findIndex(({ began }) => !stopping && elapsedMs(began, now) < ADMIT_WITHIN_MS);
      const failed = queue.splice(0, late < 0 ? queue.length : late);
      for (const { reject } of failed) reject(noPermit());
      leaveQueue(lease, failed.length);
      if (queue.length > 0 && retryAfterMs > 0) await clock.sleep(retryAfterMs);
    }
  };

  const enqueue = (lease: Lease, began: Instant): ReturnType<Quota['admit']> => {
    if (stopping || waiting >= WAITING_CALLS) return Promise.reject(noPermit());
    events.waited();
    waiting += 1;
    return new Promise((resolve, reject) => {
      const call = { began, resolve, reject };
      const queue = queues.get(lease);
      if (queue) queue.push(call);
      else {
        const first = [call];
        queues.set(lease, first);
        void serveQueue(lease, first);
      }
    });
  };

  /** What is final goes by the stream too: that others wait for it may be over before it is told. */
  const giveBack = (lease: Lease, now: Instant): void => {
    for (const grant of book.giveBack(lease, now)) journal.send(grant);
  };

  /** Tells metering how calls end while others wait for what may come back, all of one moment at once. */
  const tellOutcomes = async (lease: Lease): Promise<void> => {
    if (telling.has(lease)) return;
    telling.add(lease);
    await clock.sleep(0);
    while (book.isRecalled(lease, clock.now())) {
      const awaited = book.awaited(lease, clock.now());
      if (awaited.length === 0 || !(await journal.sendAtOnce(awaited, lease.preference))) break;
    }
    telling.delete(lease);
  };

  book.onOutcome((lease, isReleased) => {
    if (isReleased) admitWaiting(lease);
    const now = clock.now();
    if (!book.isRecalled(lease, now)) return;
    if (isReleased) giveBack(lease, now);
    void tellOutcomes(lease);
  });

  const sweep = async (): Promise<void> => {
    while (!stopping) {
      for (const grant of book.sweep(clock.now())) journal.send(grant);
      await clock.sleep(SWEEP_EVERY_MS);
    }
  };
  const sweeping = sweep();

  return {
    admit: async (allowance) => {
      const now = clock.now();
      const lease = book.lease(allowance, now);
      countCall(lease, now);
      // Those that wait come first.
      const admission: Admission = queues.has(lease) ? { kind: 'empty' } : book.take(lease, now);
      if (admission.kind === 'permit' && book.wantsRenewal(lease, now)) void askEarly(lease, now);
      return admission.kind === 'empty' ? enqueue(lease, now) : admission;
    },
    commit: (permit) => journal.commit(permit.grant).finally(permit.settled),
    remaining: (allowance) => {
      const now = clock.now();
      return book.estimateRemaining(book.lease(allowance, now), now);
    },
    recall: (recall) => {
      const { accountId, pool } = recall;
      const now = clock.now();
      const lease = book.recalled(accountId, pool, now);
      if (!lease) return;
      const before = book.permitsOf(accountId, pool);
      // The one that asks has nothing to give.
      if (recall.holder !== holder) giveBack(lease, now);
      events.recalled(before - book.permitsOf(accountId, pool));
      void tellOutcomes(lease);
    },
    stop: async () => {
      stopping = true;
      await Promise.all(asking.values());
      for (const grant of book.retireAll(clock.now())) journal.send(grant);
      await journal.flush(FLUSH_WITHIN_MS);
      await sweeping;
    },
  };
}

function noPermit(): Fault {
  return new Fault('unavailable', 'no permit could be had in time');
}
