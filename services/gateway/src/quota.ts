import { setTimeout as delay } from 'node:timers/promises';
import type { MeteringServiceClient } from '@brand-data/contracts';
import { callUnary, Fault, type Service } from '@brand-data/runtime';
import { type Clock, elapsedMs } from './clock.ts';
import type { Admission, Allowance, Lease, LeaseBook, Permit } from './lease-book.ts';
import type { UsageJournal } from './usage-journal.ts';

const ADMIT_WITHIN_MS = 2_000;
const ACQUIRE_WITHIN_MS = 1_000;
const RETRY_AFTER_MS = 50;
const SWEEP_EVERY_MS = 100;
const FLUSH_WITHIN_MS = 5_000;
const WAITING_CALLS = 10_000;

/** Permits for calls: from the leases in hand, or asked of metering. */
export interface Quota {
  /** Rejects with Fault `unavailable`: no permit could be had in time, though the allowance is not known to be used up. */
  admit(allowance: Allowance): Promise<Exclude<Admission, { kind: 'empty' }>>;
  /** Resolves once the permit's use is durably billed; what a caller is then answered is billed exactly once. */
  commit(permit: Permit): Promise<void>;
  /** What is left of the month, as far as it is known here. */
  remaining(allowance: Allowance): number | undefined;
}

export function startQuota(
  service: Service,
  {
    book,
    journal,
    metering,
    clock,
    holder,
  }: {
    book: LeaseBook;
    journal: UsageJournal;
    metering: MeteringServiceClient;
    clock: Clock;
    holder: string;
  },
): Quota {
  const asking = new Map<Lease, Promise<void>>();
  let waiting = 0;

  /** One request at a time for a lease: all its calls wait for the same answer. */
  const ask = (lease: Lease): Promise<void> => {
    let pending = asking.get(lease);
    if (!pending) {
      pending = acquire(lease).finally(() => asking.delete(lease));
      asking.set(lease, pending);
    }
    return pending;
  };

  const acquire = async (lease: Lease): Promise<void> => {
    const { accountId, pool, limit, limitRevision } = lease;
    for (const grant of book.retire(lease, clock())) journal.close(grant);
    const wish = book.wish(lease, waiting, clock());
    try {
      const { outcome } = await callUnary(
        metering,
        metering.acquire,
        { holder, accountId, pool, limit, limitRevision, ...wish },
        { deadlineMs: ACQUIRE_WITHIN_MS },
      );
      if (outcome?.$case === 'grant') book.granted(lease, wish.seq, outcome.value, clock());
      else if (outcome?.$case === 'exhausted')
        book.exhausted(lease, wish.seq, outcome.value.periodEndMs, clock());
      else await delay(outcome?.value.retryAfterMs ?? RETRY_AFTER_MS);
    } catch (error) {
      if (error instanceof Fault && error.kind === 'failed_precondition') book.refused(lease, wish.seq);
      else {
        service.log.warn({ err: { message: (error as Error).message } }, 'metering did not answer');
        await delay(RETRY_AFTER_MS);
      }
    }
  };

  const sweeping = setInterval(() => {
    for (const grant of book.sweep(clock())) journal.close(grant);
  }, SWEEP_EVERY_MS);
  service.onStop('quota', async () => {
    clearInterval(sweeping);
    book.retireAll();
    for (const grant of book.sweep(clock())) journal.close(grant);
    await journal.flush(FLUSH_WITHIN_MS);
  });

  return {
    admit: async (allowance) => {
      const began = clock();
      for (;;) {
        const admission = book.admit(allowance, clock());
        const lease = book.lease(allowance, clock());
        if (admission.kind === 'permit' && book.wantsRenewal(lease, clock())) void ask(lease);
        if (admission.kind !== 'empty') return admission;
        if (waiting >= WAITING_CALLS || elapsedMs(began, clock()) >= ADMIT_WITHIN_MS) {
          throw new Fault('unavailable', 'no permit could be had in time');
        }
        waiting += 1;
        await ask(lease).finally(() => {
          waiting -= 1;
        });
      }
    },
    commit: (permit) => journal.commit(permit.grant),
    remaining: (allowance) => book.estimateRemaining(book.lease(allowance, clock()), clock()),
  };
}
