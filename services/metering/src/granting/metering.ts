import {
  type AcquireRequest,
  type AcquireResponse,
  ALLOWANCE_CLOCKS_APART_MS,
  boundsOfMonth,
  type GrantUsage,
  MONTH_MARGIN_MS,
  monthOf,
  type Recall,
  type SignedAllowance,
} from '@brand-data/contracts';
import { type Clock, countBy, elapsedMs, Fault, type Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import {
  acquire,
  type Decision,
  grantIdOf,
  type Ledger,
  type LedgerKey,
  ledgerIdOf,
  newGrantSecret,
  parseGrantId,
  remainingOf,
} from '../ledger/ledger.ts';
import {
  countDropped,
  countRejected,
  type Dropped,
  type Rejected,
  type RejectionReason,
  reportDropped,
} from '../ledger/ledger-counters.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { type Sender, type SentUsage, sentBy } from '../ledger/senders.ts';
import { applyReadable, type UsageAnswer } from '../ledger/usage-by-ledger.ts';
import { usageDefect } from '../ledger/usage-check.ts';
import type { Allowances } from './allowances.ts';
import { createRecalls } from './recalls.ts';

/** Metering answers an Acquire that waits for permits within this time. */
const WAIT_MS = 200;
const LOOK_AGAIN_AFTER_MS = 10;
const RETRY_AFTER_MS = 50;
/** The pause before the next Acquire of a request that has already waited in metering. */
const RETRY_URGENT_AFTER_MS = 10;
/** The latest time that a Date can represent. */
const LATEST_MS = 8.64e15;

export interface MeteringEvents {
  decided(kind: Decision['kind']): void;
  recalled(): void;
  dropped: Dropped;
  rejected: Rejected;
}

interface MeteringParts {
  store: Pick<LedgerStore, 'update' | 'applyUsage'>;
  clock: Clock;
  allowances: Pick<Allowances, 'verify'>;
  /** Broadcasts to all gateways. A lost recall only makes calls wait longer. Does not throw. */
  recall: (recall: Recall) => void;
  newSecret?: () => string;
}

/** Gives out grants and applies their usage. */
export class Metering {
  readonly #parts: Required<MeteringParts>;
  readonly #events: MeteringEvents;

  constructor(parts: MeteringParts, events: MeteringEvents) {
    const recall = createRecalls(parts.clock, (wanted) => {
      parts.recall(wanted);
      events.recalled();
    });
    this.#parts = { newSecret: newGrantSecret, ...parts, recall };
    this.#events = events;
  }

  /**
   * Rejects with Fault `invalid_argument`, `unavailable` or `failed_precondition`. It is `failed_precondition` if metering gives
   * out no permits of the requested month now. It is `unauthenticated` if the sender is not the holder that the request names, or if
   * accounts has not signed the allowance.
   *
   * @param isOver whether the holder no longer waits for the answer. Metering then gives no grant, so that after a rush of requests
   * it does not work on those that come too late
   */
  async acquire(
    given: AcquireRequest,
    sender: Sender,
    isOver: () => boolean = () => false,
  ): Promise<AcquireResponse> {
    checkAcquire(given);
    if (sender !== given.holder)
      throw this.#reject('no_proof', 'the request does not prove that the holder whom it names has sent it');
    const nowMs = this.#parts.clock.now().wallMs;
    const request = await this.#withSignedLimit(given, nowMs);
    const { accountId, pool, holder } = request;
    const key: LedgerKey = { accountId, pool, month: monthWanted(request, nowMs) };
    const { own = [], others = [] } = Object.groupBy(sentBy(sender, request.usage), (usage) =>
      usageDefect(usage) === undefined && isOfLedger(usage, key) ? 'own' : 'others',
    );
    await this.#applyFinal(others);
    const first = await this.#decide(key, request, nowMs, isOver, own);
    if (first.lowered || (first.kind === 'wait' && first.recall && request.urgent))
      this.#parts.recall({ accountId, pool, holder: first.lowered ? '' : holder });
    const decision =
      first.kind === 'wait' && request.urgent ? await this.#waitForPermits(key, request, isOver) : first;
    this.#events.decided(decision.kind);
    return responseOf(key, decision, request);
  }

  /** Applies usage. Returns the ids of the grants whose usage was not applied completely. */
  report(usage: readonly GrantUsage[], sender: Sender): Promise<UsageAnswer> {
    return this.#apply(sentBy(sender, usage));
  }

  /** Returns the request with the limit that accounts has signed, in place of the limit that the holder stated. */
  async #withSignedLimit(request: AcquireRequest, nowMs: number): Promise<AcquireRequest> {
    const { limits, limitRevision } = await this.#allowanceOf(request, nowMs);
    const limit = limits.get(request.pool);
    if (limit === undefined)
      throw this.#reject('foreign_allowance', 'accounts has signed no allowance for this pool');
    return { ...request, limit, limitRevision };
  }

  /** Rejects with Fault `unauthenticated` if the sender has no valid word of accounts about the account. */
  async checkAllowance(request: { accountId: string; allowance: string }): Promise<void> {
    await this.#allowanceOf(request, this.#parts.clock.now().wallMs);
  }

  async #allowanceOf(
    { accountId, allowance: token }: { accountId: string; allowance: string },
    nowMs: number,
  ): Promise<SignedAllowance> {
    if (token === '')
      throw this.#reject('no_allowance', 'the request has no allowance that accounts has signed');
    const allowance = await this.#parts.allowances.verify(token);
    if (allowance?.accountId !== accountId)
      throw this.#reject('foreign_allowance', 'accounts has not signed this allowance for this account');
    if (nowMs >= allowance.untilMs + ALLOWANCE_CLOCKS_APART_MS)
      throw this.#reject('expired_allowance', 'the time of the allowance is over: verify the token again');
    return allowance;
  }

  #reject(reason: RejectionReason, detail: string): Fault {
    this.#events.rejected(reason);
    return new Fault('unauthenticated', detail);
  }

  #decide(
    key: LedgerKey,
    request: AcquireRequest,
    nowMs: number,
    isOver: () => boolean,
    usage: readonly SentUsage[] = [],
  ): Promise<Decision & { lowered: boolean }> {
    return this.#parts.store.update(
      key,
      (before: Ledger) => {
        if (isOver()) throw new Fault('unavailable', 'the holder no longer waits for the answer');
        const { ledger, decision } = acquire(before, { ...request, secret: this.#parts.newSecret() }, nowMs);
        const lowered = ledger.limit < before.limit && remainingOf(ledger) === 0;
        return { ledger, result: { ...decision, lowered } };
      },
      usage,
      (answer) => this.#reportNotApplied(usage, { ...answer, unreadable: [] }),
    );
  }

  /** Decides again until holders have returned permits or `WAIT_MS` is over. */
  async #waitForPermits(key: LedgerKey, request: AcquireRequest, isOver: () => boolean): Promise<Decision> {
    const began = this.#parts.clock.now();
    for (;;) {
      await this.#parts.clock.sleep(LOOK_AGAIN_AFTER_MS);
      const now = this.#parts.clock.now();
      const decision = await this.#decide(key, request, now.wallMs, isOver);
      if (decision.kind !== 'wait' || elapsedMs(began, now) >= WAIT_MS) return decision;
    }
  }

  /**
   * When the holder gets the answer, it assumes that this usage is stored. Therefore metering stores it first, or rejects the
   * request.
   */
  async #applyFinal(usage: readonly SentUsage[]): Promise<void> {
    if (usage.length === 0) return;
    const { unavailable, unknown } = await this.#apply(usage);
    if (unavailable.length + unknown.length > 0)
      throw new Fault('unavailable', 'the usage of earlier grants could not be stored: try again');
  }

  async #apply(usage: readonly SentUsage[]): Promise<UsageAnswer> {
    const answer = await applyReadable(this.#parts.store, usage);
    this.#reportNotApplied(usage, answer);
    return answer;
  }

  /** The sender repeats usage of unknown grants, so they are not reported as dropped. */
  #reportNotApplied(usage: readonly SentUsage[], answer: UsageAnswer): void {
    reportDropped(usage, { ...answer, unknown: [] }, this.#events.dropped);
    if (answer.foreign.length > 0) this.#events.rejected('foreign_grant', answer.foreign.length);
  }
}

function isOfLedger({ grantId }: GrantUsage, key: LedgerKey): boolean {
  const parsed = parseGrantId(grantId);
  return parsed !== undefined && ledgerIdOf(parsed.key) === ledgerIdOf(key);
}

function responseOf(key: LedgerKey, decision: Decision, { urgent }: AcquireRequest): AcquireResponse {
  const { startMs, endMs } = boundsOfMonth(key.month);
  switch (decision.kind) {
    case 'grant': {
      const { size, ttlMs, idleMs } = decision.grant;
      const id = grantIdOf(key, decision.grant);
      const { remaining, used } = decision;
      const period = { periodStartMs: startMs, periodEndMs: endMs };
      const value = { id, size, ttlMs, idleMs, remaining, ...period, used };
      return { outcome: { $case: 'grant', value } };
    }
    case 'wait':
      return {
        outcome: {
          $case: 'wait',
          value: {
            retryAfterMs: urgent ? RETRY_URGENT_AFTER_MS : RETRY_AFTER_MS,
            backInMs: decision.backInMs,
          },
        },
      };
    case 'exhausted':
      return { outcome: { $case: 'exhausted', value: { periodEndMs: endMs } } };
    case 'stale':
      return { outcome: { $case: 'stale', value: {} } };
  }
}

/**
 * The month that the holder asks for. It does not depend on when the request arrives, so a late one opens no grant in the next.
 */
function monthWanted({ fromMs }: AcquireRequest, nowMs: number): string {
  const month = monthOf(fromMs || nowMs);
  if (month === monthOf(nowMs) || Math.abs(fromMs - nowMs) <= MONTH_MARGIN_MS) return month;
  throw new Fault('failed_precondition', 'from_ms is in a month that is over or far off: ask with a new seq');
}

function checkAcquire({
  holder,
  seq,
  accountId,
  pool,
  limit,
  want,
  wantSoon,
  waiting,
  fromMs,
}: AcquireRequest): void {
  const named = [holder, accountId, pool].every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name));
  if (!named) {
    const detail = 'holder, account_id and pool are names of 1 to 64 letters, digits, _ and -';
    throw new Fault('invalid_argument', detail);
  }
  if (seq < 1 || want < 1 || wantSoon < 0 || waiting < 0 || limit < 0) {
    const detail = 'seq and want are 1 or more, want_soon, waiting and limit 0 or more';
    throw new Fault('invalid_argument', detail);
  }
  if (fromMs < 0 || fromMs > LATEST_MS) {
    throw new Fault('invalid_argument', 'from_ms is in milliseconds since 1970');
  }
}

export function meteringEvents(service: Service): MeteringEvents {
  const decided = countBy(service.metrics, {
    name: 'metering_acquires_total',
    help: 'Requests for grants, by what metering decided',
    label: 'decision',
    values: ['grant', 'wait', 'exhausted', 'stale'],
  });
  const recalls = new Counter({
    name: 'metering_recalls_total',
    help: 'Recalls that metering broadcast: it asked gateways to return permits that they do not use',
    registers: [service.metrics],
  });
  return {
    decided,
    recalled: () => recalls.inc(),
    dropped: countDropped(service.metrics),
    rejected: countRejected(service.metrics),
  };
}
