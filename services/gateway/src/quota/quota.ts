import type { AcquireRequest, AcquireResponse, Recall } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';
import { hedge } from '../upstream/hedge.ts';
import type { Admission, GrantBook, Permit } from './grant-book.ts';
import { type Allowance, countCall, type Holding } from './holding.ts';
import { awaitedGrants, isRecalled } from './recall.ts';
import type { UsageJournal } from './usage-journal.ts';

const ADMIT_WITHIN_MS = 2_000;
const ACQUIRE_WITHIN_MS = 1_000;
const RETRY_AFTER_MS = 50;
const SWEEP_EVERY_MS = 100;
const FLUSH_WITHIN_MS = 5_000;
/** The largest number of calls that wait for permits, of all accounts together. */
const WAITING_CALLS = 10_000;

/**
 * Sends one attempt. Rejects with Fault `failed_precondition` if metering gives no permits of the requested month now, and with
 * Fault `unavailable` if no answer comes in time.
 */
export type Acquire = (
  request: AcquireRequest,
  withinMs: number,
  replica: ReplicaChoice,
) => Promise<AcquireResponse>;

export type Admitted = Exclude<Admission, { kind: 'empty' }>;

/** Gives permits to calls. It takes them from the grants that the gateway holds, and asks metering for more. */
export interface Quota {
  /**
   * Returns a permit, or `exhausted` if metering has answered that the allowance is used up. If the gateway has to ask metering,
   * returns a promise, which rejects with Fault `unavailable` if neither comes in time.
   */
  admit(allowance: Allowance): Admitted | Promise<Admitted>;
  /**
   * Resolves once the permit's usage is durable. The call is then billed exactly once and may be answered. Rejects with Fault
   * `unavailable` if the gateway could not confirm that. The permit then stays used.
   */
  commit(permit: Permit): Promise<void>;
  /**
   * Estimates how many permits are left this month. undefined: this gateway does not know.
   *
   * @param permit a permit of this allowance, if the call has one. It saves a search
   */
  remaining(allowance: Allowance, permit?: Permit): number | undefined;
  /** Handles metering's recall: returns the permits that this gateway does not need. */
  recall(recall: Recall): void;
  /** Returns all unused permits. Called when no call is under way any more. */
  stop(): Promise<void>;
}

/** For metrics. */
export interface QuotaEvents {
  asked(outcome: 'grant' | 'wait' | 'exhausted' | 'stale' | 'unavailable'): void;
  /** A call found no free permit and has to wait. */
  waited(): void;
  recalled(permits: number): void;
}

/** The outcome of an Acquire: how long to wait before the next one. `hasNone`: it brought neither a grant nor `exhausted`. */
interface Asked {
  retryAfterMs: number;
  hasNone?: boolean;
}

interface WaitingCall {
  began: Instant;
  resolve: (admission: Admitted) => void;
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
  /** When an early Acquire last brought neither a grant nor `exhausted`. For a moment afterwards the gateway does not ask early. */
  const emptyAt = new WeakMap<Holding, Instant>();
  const reporting = new Set<Holding>();
  let waiting = 0;
  let stopping = false;

  /** Sends one Acquire at a time for a holding. All calls of the holding wait for the same answer. */
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
    const { accountId, pool, limit, limitRevision, signed } = holding;
    const callsWaiting = queues.get(holding)?.length ?? 0;
    const urgent = callsWaiting > 0;
    const { snapshots, ...next } = book.nextAcquire(holding, callsWaiting, clock.now());
    const usage = [...snapshots.values()].map((snapshot) => snapshot.usage);
    try {
      const request = {
        holder,
        accountId,
        pool,
        limit,
        limitRevision,
        allowance: signed,
        urgent,
        usage,
        readsStale: true,
        ...next,
      };
      const { outcome } = await hedge(clock, ACQUIRE_WITHIN_MS, holding.preference, (withinMs, replica) =>
        acquire(request, withinMs, replica),
      );
      if (outcome?.$case === 'stale') return refusedAsStale(holding, next.seq);
      // Metering stored the request's usage before it answered.
      book.reported(snapshots, clock.now());
      events.asked(outcome?.$case ?? 'wait');
      if (outcome?.$case === 'grant') {
        const isSpendable = book.granted(holding, next.seq, outcome.value, clock.now());
        // At the month's end metering's clock may already be in another month. Then it would not help to ask again at once.
        return { retryAfterMs: isSpendable ? 0 : RETRY_AFTER_MS };
      }
      if (outcome?.$case === 'exhausted') {
        book.exhausted(holding, next.seq, outcome.value.periodEndMs, clock.now());
        return { retryAfterMs: 0 };
      }
      // If no call waited when the gateway sent this Acquire, it sends the next one at once for the calls that have come since.
      return { retryAfterMs: urgent ? (outcome?.value.retryAfterMs ?? RETRY_AFTER_MS) : 0, hasNone: true };
    } catch (error) {
      // Metering gives no permits of this month now. An earlier version of metering also answers a stale seq with this error.
      if (error instanceof Fault && error.kind === 'failed_precondition')
        return refusedAsStale(holding, next.seq);
      events.asked('unavailable');
      return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
    }
  };

  /** Abandons the seq, so that the next Acquire has a new one. */
  const refusedAsStale = (holding: Holding, seq: number): Asked => {
    events.asked('stale');
    book.refused(holding, seq);
    return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
  };

  /** Asks for more permits before the last ones are used, except just after an early Acquire that brought none. */
  const askEarly = async (holding: Holding, now: Instant): Promise<void> => {
    const since = emptyAt.get(holding);
    if (asking.has(holding) || (since && elapsedMs(since, now) < RETRY_AFTER_MS)) return;
    const { hasNone } = await ask(holding);
    if (hasNone) emptyAt.set(holding, clock.now());
    admitWaiting(holding);
  };

  /** Gives free permits to the calls that have waited longest. */
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

  /** Asks metering until no call of the holding waits any more. Rejects calls that have waited too long. */
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

  const enqueue = (holding: Holding, began: Instant): Promise<Admitted> => {
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

  /**
   * Returns unneeded permits. `reportOutcomes` reports them to metering, but only for a second after the recall. So closes also go
   * through the stream.
   */
  const giveBack = (holding: Holding, now: Instant): void => {
    for (const grant of book.giveBack(holding, now)) journal.send(grant);
  };

  /** After a recall, reports the outcomes of calls to metering. Outcomes of the same moment share one report. */
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
    admit: (allowance) => {
      const now = clock.now();
      const holding = book.holding(allowance, now);
      countCall(holding, now);
      // A new call waits behind the calls that already wait.
      const admission: Admission = queues.has(holding) ? { kind: 'empty' } : book.take(holding, now);
      if (admission.kind === 'permit' && book.wantsRenewal(holding, now)) void askEarly(holding, now);
      return admission.kind === 'empty' ? enqueue(holding, now) : admission;
    },
    commit: ({ grant }) => journal.commit(grant),
    remaining: (allowance, permit) => {
      const now = clock.now();
      return book.estimateRemaining(permit?.holding ?? book.holding(allowance, now), now);
    },
    recall: (recall) => {
      const { accountId, pool } = recall;
      const now = clock.now();
      const holding = book.recalled(accountId, pool, now);
      if (!holding) return;
      const before = book.permitsOf(accountId, pool);
      // If the recall names this gateway, its own calls wait, so it has no free permits to return.
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
