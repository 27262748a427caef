import type { AcquireRequest, AcquireResponse, Recall } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault } from '@brand-data/runtime';
import { askAgain } from './ask-again.ts';
import type { Admission, Allowance, Lease, LeaseBook, Permit } from './lease-book.ts';
import type { UsageJournal } from './usage-journal.ts';

const ADMIT_WITHIN_MS = 2_000;
const ACQUIRE_WITHIN_MS = 1_000;
const RETRY_AFTER_MS = 50;
const SWEEP_EVERY_MS = 100;
const FLUSH_WITHIN_MS = 5_000;
/** Calls that wait for permits, of all accounts. */
const WAITING_CALLS = 10_000;

/** One attempt. Rejects with a Fault: `failed_precondition` for a stale seq, `unavailable` without an answer in time. */
export type Acquire = (request: AcquireRequest, withinMs: number) => Promise<AcquireResponse>;

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
  const asking = new Map<Lease, Promise<void>>();
  const waitingFor = new Map<Lease, number>();
  let waiting = 0;
  let stopping = false;

  /** One request at a time for a lease: all its calls wait for the same answer. */
  const ask = (lease: Lease): Promise<void> => {
    let pending = asking.get(lease);
    if (!pending) {
      pending = askMetering(lease).finally(() => asking.delete(lease));
      asking.set(lease, pending);
    }
    return pending;
  };

  const askMetering = async (lease: Lease): Promise<void> => {
    for (const grant of book.retire(lease, clock.now())) journal.send(grant);
    const { accountId, pool, limit, limitRevision } = lease;
    const callsWaiting = waitingFor.get(lease) ?? 0;
    const closing = new Set(lease.grants.filter((grant) => grant.closed));
    const wish = book.wish(lease, callsWaiting, clock.now());
    try {
      const request = {
        ...{ holder, accountId, pool, limit, limitRevision, urgent: callsWaiting > 0 },
        ...wish,
      };
      const { outcome } = await askAgain(clock, ACQUIRE_WITHIN_MS, (withinMs) => acquire(request, withinMs));
      // Metering has stored their use before it answered.
      book.forget(closing);
      if (outcome?.$case === 'grant') {
        const isSpendable = book.granted(lease, wish.seq, outcome.value, clock.now());
        // At the month's end metering's clock may say another month: asking again at once would not help.
        if (callsWaiting > 0 && !isSpendable) await clock.sleep(RETRY_AFTER_MS);
      } else if (outcome?.$case === 'exhausted')
        book.exhausted(lease, wish.seq, outcome.value.periodEndMs, clock.now());
      else await clock.sleep(outcome?.value.retryAfterMs ?? RETRY_AFTER_MS);
      events.asked(outcome?.$case ?? 'wait');
    } catch (error) {
      const isStale = error instanceof Fault && error.kind === 'failed_precondition';
      events.asked(isStale ? 'stale' : 'unavailable');
      if (isStale) book.refused(lease, wish.seq);
      await clock.sleep(RETRY_AFTER_MS);
    }
  };

  const askForWaiting = async (lease: Lease): Promise<void> => {
    waiting += 1;
    waitingFor.set(lease, (waitingFor.get(lease) ?? 0) + 1);
    await ask(lease);
    waiting -= 1;
    const left = (waitingFor.get(lease) ?? 1) - 1;
    if (left > 0) waitingFor.set(lease, left);
    else waitingFor.delete(lease);
  };

  const sweep = async (): Promise<void> => {
    while (!stopping) {
      for (const grant of book.sweep(clock.now())) journal.send(grant);
      await clock.sleep(SWEEP_EVERY_MS);
    }
  };
  const sweeping = sweep();

  return {
    admit: async (allowance) => {
      const began = clock.now();
      for (let tries = 0; ; tries++) {
        const now = clock.now();
        const admission = book.admit(allowance, now);
        const lease = book.lease(allowance, now);
        if (admission.kind === 'permit' && book.wantsRenewal(lease, now)) void ask(lease);
        if (admission.kind !== 'empty') return admission;
        if (stopping || waiting >= WAITING_CALLS || elapsedMs(began, now) >= ADMIT_WITHIN_MS) {
          throw new Fault('unavailable', 'no permit could be had in time');
        }
        if (tries === 0) events.waited();
        await askForWaiting(lease);
      }
    },
    commit: (permit) => journal.commit(permit.grant).finally(permit.settled),
    remaining: (allowance) => {
      const now = clock.now();
      return book.estimateRemaining(book.lease(allowance, now), now);
    },
    recall: (recall) => {
      if (recall.holder === holder) return;
      const { accountId, pool } = recall;
      const before = book.permitsOf(accountId, pool);
      journal.sendAtOnce(book.recall(accountId, pool, clock.now()));
      events.recalled(before - book.permitsOf(accountId, pool));
    },
    stop: async () => {
      stopping = true;
      await Promise.all(asking.values());
      book.retireAll();
      for (const grant of book.sweep(clock.now())) journal.send(grant);
      await journal.flush(FLUSH_WITHIN_MS);
      await sweeping;
    },
  };
}
