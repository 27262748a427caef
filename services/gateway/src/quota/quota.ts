import type { AcquireRequest, AcquireResponse, Recall } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';
import type { Admission, GrantBook, Permit } from './grant-book.ts';
import { hedge } from './hedge.ts';
import { type Allowance, countCall, type Holding } from './holding.ts';
import { awaitedGrants, isRecalled } from './recall.ts';
import type { UsageJournal } from './usage-journal.ts';

const ADMIT_WITHIN_MS = 2_000;
const ACQUIRE_WITHIN_MS = 1_000;
const RETRY_AFTER_MS = 50;
const SWEEP_EVERY_MS = 100;
const FLUSH_WITHIN_MS = 5_000;
/** Calls that wait for permits, of all accounts. */
const WAITING_CALLS = 10_000;

/**
 * One attempt. Rejects with a Fault: `failed_precondition` for a month that is not now, `unavailable` without an answer in time.
 */
export type Acquire = (
  request: AcquireRequest,
  withinMs: number,
  replica: ReplicaChoice,
) => Promise<AcquireResponse>;

/** Permits for calls, from the grants in hand or from metering. */
export interface Quota {
  /** Rejects with Fault `unavailable` when no permit comes in time and the allowance is not known to be used up. */
  admit(allowance: Allowance): Promise<Exclude<Admission, { kind: 'empty' }>>;
  /**
   * Resolves once the permit's use is durable: the call is billed, exactly once, and may be answered. Rejects with Fault
   * `unavailable` when that is not known; the permit stays used.
   */
  commit(permit: Permit): Promise<void>;
  /** Permits left of the month, as far as this gateway knows. */
  remaining(allowance: Allowance): number | undefined;
  /** Metering broadcasts that calls of an account wait: gives back what is not needed here. */
  recall(recall: Recall): void;
  /** Gives back every unspent permit. Called when no call is under way any more. */
  stop(): Promise<void>;
}

/** For metrics. */
export interface QuotaEvents {
  asked(outcome: 'grant' | 'wait' | 'exhausted' | 'stale' | 'unavailable'): void;
  /** A call found no permit in hand. */
  waited(): void;
  recalled(permits: number): void;
}

/** The outcome of an Acquire: how long to wait before the next, and whether it brought no permits. */
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
  }: { book: GrantBook; journal: UsageJournal; acquire: Acquire; clock: Clock; holder: string },
  events: QuotaEvents,
): Quota {
  const asking = new Map<Holding, Promise<Asked>>();
  /** Calls that wait for permits, in the order in which they came. */
  const queues = new Map<Holding, WaitingCall[]>();
  /** When an Acquire last brought no permits: metering is not asked early again at once. */
  const emptyAt = new WeakMap<Holding, Instant>();
  const reporting = new Set<Holding>();
  let waiting = 0;
  let stopping = false;

  /** One Acquire at a time for a holding: all its calls wait for the same answer. */
  const ask = (holding: Holding): Promise<Asked> => {
    let pending = asking.get(holding);
    if (!pending) {
      pending = askMetering(holding).finally(() => asking.delete(holding));
      asking.set(holding, pending);
    }
    return pending;
  };

  const askMetering = async (holding: Holding): Promise<Asked> => {
    for (const grant of book.retire(holding, clock.now())) journal.send(grant);
    const { accountId, pool, limit, limitRevision } = holding;
    const callsWaiting = queues.get(holding)?.length ?? 0;
    const urgent = callsWaiting > 0;
    const { snapshots, ...next } = book.nextAcquire(holding, callsWaiting, clock.now());
    const usage = [...snapshots.values()].map((snapshot) => snapshot.usage);
    try {
      const request = {
        ...{ holder, accountId, pool, limit, limitRevision, urgent, usage, readsStale: true },
        ...next,
      };
      const { outcome } = await hedge(clock, ACQUIRE_WITHIN_MS, holding.preference, (withinMs, replica) =>
        acquire(request, withinMs, replica),
      );
      if (outcome?.$case === 'stale') return refusedAsStale(holding, next.seq);
      // Metering has stored it before it answered.
      book.reported(snapshots, clock.now());
      events.asked(outcome?.$case ?? 'wait');
      if (outcome?.$case === 'grant') {
        const isSpendable = book.granted(holding, next.seq, outcome.value, clock.now());
        // At the month's end metering's clock may say another month: asking again at once would not help.
        return { retryAfterMs: isSpendable ? 0 : RETRY_AFTER_MS };
      }
      if (outcome?.$case === 'exhausted') {
        book.exhausted(holding, next.seq, outcome.value.periodEndMs, clock.now());
        return { retryAfterMs: 0 };
      }
      // No call waited when this Acquire was sent. Calls that wait by now are asked for at once.
      return { retryAfterMs: urgent ? (outcome?.value.retryAfterMs ?? RETRY_AFTER_MS) : 0, hasNone: true };
    } catch (error) {
      // A month that is not now; a stale seq too, of a metering of an earlier version.
      if (error instanceof Fault && error.kind === 'failed_precondition')
        return refusedAsStale(holding, next.seq);
      events.asked('unavailable');
      return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
    }
  };

  /** The next request has a new seq. */
  const refusedAsStale = (holding: Holding, seq: number): Asked => {
    events.asked('stale');
    book.refused(holding, seq);
    return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
  };

  /** Asks before the permits in hand are gone, but not again at once after an Acquire that brought none. */
  const askEarly = async (holding: Holding, now: Instant): Promise<void> => {
    const since = emptyAt.get(holding);
    if (asking.has(holding) || (since && elapsedMs(since, now) < RETRY_AFTER_MS)) return;
    const { hasNone } = await ask(holding);
    if (hasNone) emptyAt.set(holding, clock.now());
    admitWaiting(holding);
  };

  /** Gives the permits in hand to the calls that have waited longest. */
  const admitWaiting = (holding: Holding): void => {
    const queue = queues.get(holding);
    if (!queue) return;
    const now = clock.now();
    let admitted = 0;
    for (const { resolve } of queue) {
      const admission = book.take(holding, now);
      if (admission.kind === 'empty') break;
      resolve(admission);
      admitted += 1;
    }
    leaveQueue(holding, queue.splice(0, admitted).length);
  };

  const leaveQueue = (holding: Holding, calls: number): void => {
    waiting -= calls;
    if (queues.get(holding)?.length === 0) queues.delete(holding);
  };

  /** Asks until no call waits any more. */
  const serveQueue = async (holding: Holding, queue: WaitingCall[]): Promise<void> => {
    // Calls of the same moment share one Acquire.
    await clock.sleep(0);
    while (queue.length > 0) {
      const { retryAfterMs } = await ask(holding);
      admitWaiting(holding);
      const now = clock.now();
      const late = queue.findIndex(({ began }) => !stopping && elapsedMs(began, now) < ADMIT_WITHIN_MS);
      const failed = queue.splice(0, late < 0 ? queue.length : late);
      for (const { reject } of failed) reject(noPermit());
      leaveQueue(holding, failed.length);
      if (queue.length > 0 && retryAfterMs > 0) await clock.sleep(retryAfterMs);
    }
  };

  const enqueue = (holding: Holding, began: Instant): ReturnType<Quota['admit']> => {
    if (stopping || waiting >= WAITING_CALLS) return Promise.reject(noPermit());
    events.waited();
    waiting += 1;
    return new Promise((resolve, reject) => {
      const call = { began, resolve, reject };
      const queue = queues.get(holding);
      if (queue) queue.push(call);
      else {
        const first = [call];
        queues.set(holding, first);
        void serveQueue(holding, first);
      }
    });
  };

  /** Closes go by the stream too: the recall may be over before they are reported. */
  const giveBack = (holding: Holding, now: Instant): void => {
    for (const grant of book.giveBack(holding, now)) journal.send(grant);
  };

  /** Reports outcomes of calls to metering while other gateways wait for permits; outcomes of the same moment go together. */
  const reportOutcomes = async (holding: Holding): Promise<void> => {
    if (reporting.has(holding)) return;
    reporting.add(holding);
    await clock.sleep(0);
    while (isRecalled(holding, clock.now())) {
      const awaited = awaitedGrants(holding, clock.now());
      if (awaited.length === 0 || !(await journal.reportAtOnce(awaited, holding.preference))) break;
    }
    reporting.delete(holding);
  };

  book.onOutcome((holding, isReleased) => {
    if (isReleased) admitWaiting(holding);
    const now = clock.now();
    if (!isRecalled(holding, now)) return;
    if (isReleased) giveBack(holding, now);
    void reportOutcomes(holding);
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
      const holding = book.holding(allowance, now);
      countCall(holding, now);
      // Calls that wait already come first.
      const admission: Admission = queues.has(holding) ? { kind: 'empty' } : book.take(holding, now);
      if (admission.kind === 'permit' && book.wantsRenewal(holding, now)) void askEarly(holding, now);
      return admission.kind === 'empty' ? enqueue(holding, now) : admission;
    },
    commit: (permit) => journal.commit(permit.grant).finally(permit.settled),
    remaining: (allowance) => {
      const now = clock.now();
      return book.estimateRemaining(book.holding(allowance, now), now);
    },
    recall: (recall) => {
      const { accountId, pool } = recall;
      const now = clock.now();
      const holding = book.recalled(accountId, pool, now);
      if (!holding) return;
      const before = book.permitsOf(accountId, pool);
      // The gateway that asks has nothing to give.
      if (recall.holder !== holder) giveBack(holding, now);
      events.recalled(before - book.permitsOf(accountId, pool));
      void reportOutcomes(holding);
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
