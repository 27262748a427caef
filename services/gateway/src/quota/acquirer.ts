import type { AcquireRequest, AcquireResponse } from '@brand-data/contracts';
import { type Clock, Fault, type ReplicaChoice } from '@brand-data/runtime';
import { hedge } from '../upstream/hedge.ts';
import type { GrantBook } from './grant-book.ts';
import type { Holding } from './holding.ts';
import type { UsageJournal } from './usage-journal.ts';

const ACQUIRE_WITHIN_MS = 1_000;
export const RETRY_AFTER_MS = 50;

/**
 * Sends one attempt. Rejects with Fault `failed_precondition` if metering gives no permits of the requested month now, and with
 * Fault `unavailable` if no answer comes in time.
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
}

/** Asks metering for grants, for one holding with one Acquire at a time. */
export class Acquirer {
  readonly #book: GrantBook;
  readonly #journal: Pick<UsageJournal, 'send'>;
  readonly #acquire: Acquire;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #asked: (outcome: AcquireOutcome) => void;
  readonly #pending = new Map<Holding, Promise<Acquired>>();

  constructor(
    parts: {
      book: GrantBook;
      journal: Pick<UsageJournal, 'send'>;
      acquire: Acquire;
      clock: Clock;
      holder: string;
    },
    asked: (outcome: AcquireOutcome) => void,
  ) {
    this.#book = parts.book;
    this.#journal = parts.journal;
    this.#acquire = parts.acquire;
    this.#clock = parts.clock;
    this.#holder = parts.holder;
    this.#asked = asked;
  }

  isAsking(holding: Holding): boolean {
    return this.#pending.has(holding);
  }

  /**
   * Resolves when the holding's Acquire is answered or has failed. All calls of the holding share it.
   *
   * @param callsWaiting how many calls wait for the answer
   */
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
    for (const grant of this.#book.retire(holding, this.#clock.now())) this.#journal.send(grant);
    const { accountId, pool, limit, limitRevision, signed } = holding;
    const urgent = callsWaiting > 0;
    const { snapshots, ...next } = this.#book.nextAcquire(holding, callsWaiting, this.#clock.now());
    const request: AcquireRequest = {
      holder: this.#holder,
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
      const { outcome } = await hedge(
        this.#clock,
        ACQUIRE_WITHIN_MS,
        holding.preference,
        (withinMs, replica) => this.#acquire(request, withinMs, replica),
      );
      if (outcome?.$case === 'stale') return this.#refusedAsStale(holding, next.seq);
      const now = this.#clock.now();
      // Metering stored the request's usage before it answered.
      this.#book.reported(snapshots, now);
      this.#asked(outcome?.$case ?? 'wait');
      switch (outcome?.$case) {
        case 'grant': {
          const isSpendable = this.#book.granted(holding, next.seq, outcome.value, now);
          // At the month's end metering's clock may already be in another month. Then it would not help to ask again at once.
          return { retryAfterMs: isSpendable ? 0 : RETRY_AFTER_MS };
        }
        case 'exhausted':
          this.#book.exhausted(holding, next.seq, outcome.value.periodEndMs, now);
          return { retryAfterMs: 0 };
        default:
          // If no call waited when the gateway sent this Acquire, it sends the next one at once for the calls that have come since.
          return {
            retryAfterMs: urgent ? (outcome?.value.retryAfterMs ?? RETRY_AFTER_MS) : 0,
            hasNone: true,
          };
      }
    } catch (error) {
      // Metering gives no permits of this month now.
      if (error instanceof Fault && error.kind === 'failed_precondition')
        return this.#refusedAsStale(holding, next.seq);
      this.#asked('unavailable');
      return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
    }
  }

  /** Abandons the seq, so that the next Acquire has a new one. */
  #refusedAsStale(holding: Holding, seq: number): Acquired {
    this.#asked('stale');
    this.#book.refused(holding, seq);
    return { retryAfterMs: RETRY_AFTER_MS, hasNone: true };
  }
}
