import type { AcquireRequest, AcquireResponse } from '@brand-data/contracts';
import { type Clock, Fault, type ReplicaChoice } from '@brand-data/runtime';
import { hedge } from '../upstream/hedge.ts';
import type { GrantBook } from './grant-book.ts';
import type { Holding } from './holding.ts';
import type { UsageJournal } from './usage-journal.ts';

const ACQUIRE_WITHIN_MS = 1_000;
export const RETRY_AFTER_MS = 50;

/**
 * Sends one attempt. Rejects with Fault `failed_precondition` if metering gives no permits of that month now, and with Fault
 * `unavailable` if no answer comes in time.
 */
export type Acquire = (
  request: AcquireRequest,
  withinMs: number,
  replica: ReplicaChoice,
) => Promise<AcquireResponse>;

export type AcquireOutcome = 'grant' | 'wait' | 'exhausted' | 'stale' | 'unavailable';

/** The result of an Acquire. */
export interface Acquired {
  /** How long to wait before the next Acquire. */
  retryAfterMs: number;
  /** Whether the Acquire brought neither a grant nor `exhausted`. */
  hasNone?: boolean;
  /** If no other gateway returns permits, how soon the first ones may come back, in milliseconds. Absent or 0: unknown. */
  backInMs?: number | undefined;
}

/** For metrics. */
export interface QuotaEvents {
  asked(outcome: AcquireOutcome): void;
  /** A call found no free permit and has to wait. */
  waited(): void;
  recalled(permits: number): void;
}

export interface QuotaParts {
  book: GrantBook;
  journal: Pick<UsageJournal, 'commit' | 'flush' | 'reportAtOnce' | 'send'>;
  acquire: Acquire;
  clock: Clock;
  /** A name that no other process has, or has had. */
  holder: string;
  events: QuotaEvents;
}

/** Asks metering for grants, for one holding with one Acquire at a time. */
export class Acquirer {
  readonly #parts: QuotaParts;
  readonly #pending = new Map<Holding, Promise<Acquired>>();

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  isAsking(holding: Holding): boolean {
    return this.#pending.has(holding);
  }

  /** Resolves when the holding's Acquire is answered or has failed. All `callsWaiting` calls of the holding share it. */
  ask(holding: Holding, callsWaiting: number): Promise<Acquired> {
    let pending = this.#pending.get(holding);
    if (!pending) {
      pending = this.#ask(holding, callsWaiting).finally(() => this.#pending.delete(holding));
      this.#pending.set(holding, pending);
    }
    return pending;
  }

  /** Resolves when every Acquire that is under way has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#pending.values());
  }

  async #ask(holding: Holding, callsWaiting: number): Promise<Acquired> {
    const { book, journal, acquire, clock, holder, events } = this.#parts;
    for (const grant of book.retire(holding, clock.now())) journal.send(grant);
    const { accountId, pool, limit, limitRevision, signed } = holding;
    const urgent = callsWaiting > 0;
    const { snapshots, ...next } = book.nextAcquire(holding, callsWaiting, clock.now());
    const request: AcquireRequest = {
      holder,
      accountId,
      pool,
      limit,
      limitRevision,
      allowance: signed,
      urgent,
      usage: [...snapshots.values()].map((snapshot) => snapshot.usage),
      ...next,
    };
    try {
      const { outcome } = await hedge(clock, ACQUIRE_WITHIN_MS, holding.preference, (withinMs, replica) =>
        acquire(request, withinMs, replica),
      );
      if (outcome?.$case === 'stale') return this.#refusedAsStale(holding, next.seq);
      const now = clock.now();
      // Metering stored the request's usage before it answered.
      book.reported(snapshots, now);
      events.asked(outcome?.$case ?? 'wait');
      switch (outcome?.$case) {
        case 'grant': {
          const isSpendable = book.granted(holding, next.seq, outcome.value, now);
          // At the month's end metering's clock may already be in another month. Then it would not help to ask again at once.
          return { retryAfterMs: isSpendable ? 0 : RETRY_AFTER_MS };
        }
        case 'exhausted':
          book.exhausted(holding, next.seq, outcome.value.periodEndMs, now);
          return { retryAfterMs: 0 };
        default:
          // If no call waited when the gateway sent this Acquire, it sends the next one at once for the calls that have come since.
          return {
            retryAfterMs: urgent ? (outcome?.value.retryAfterMs ?? RETRY_AFTER_MS) : 0,
            hasNone: true,
            backInMs: outcome?.value.backInMs,
          };
      }
    } catch (error) {
      // Metering gives no permits of this month now.
      if (error instanceof Fault && error.kind === 'failed_precondition')
        return this.#refusedAsStale(holding, next.seq);
      events.asked('unavailable');
      return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
    }
  }

  /** Abandons the seq, so that the next Acquire has a new one. */
  #refusedAsStale(holding: Holding, seq: number): Acquired {
    this.#parts.events.asked('stale');
    this.#parts.book.refused(holding, seq);
    return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
  }
}
