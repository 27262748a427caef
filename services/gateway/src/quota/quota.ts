import type { Recall, UsageNews } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault, type Instant } from '@brand-data/runtime';
import { Acquirer, type QuotaParts, RETRY_AFTER_MS } from './acquirer.ts';
import type { Admission, GrantBook, Permit } from './grant-book.ts';
import { freeOfAll } from './held-grant.ts';
import { type Allowance, countCall, type Holding } from './holding.ts';
import { awaitedGrants, isRecalled } from './renewal.ts';

const ADMIT_WITHIN_MS = 2_000;
const SWEEP_EVERY_MS = 100;
const FLUSH_WITHIN_MS = 5_000;
/** The largest number of calls that wait for permits, of all accounts together. */
const WAITING_CALLS = 10_000;
/** Metering settles a grant within this time after it can. */
const SETTLED_WITHIN_MS = 2_000;
/** A caller tries again at the latest after this time: other gateways may return permits sooner than a grant ends. */
const LONGEST_RETRY_AFTER_SECONDS = 15;

export type Admitted = Exclude<Admission, { kind: 'empty' }>;

interface WaitingCall {
  began: Instant;
  resolve: (admission: Admitted) => void;
  reject: (fault: Fault) => void;
}

/**
 * Gives permits to calls. It takes them from the grants that the gateway holds, asks metering for more, and looks ten times a
 * second which grants end.
 */
export class Quota {
  readonly #book: GrantBook;
  readonly #clock: Clock;
  readonly #parts: QuotaParts;
  readonly #acquirer: Acquirer;
  /** Calls that wait for permits, in the order in which they came. */
  readonly #queues = new Map<Holding, WaitingCall[]>();
  /** When an early Acquire last brought neither a grant nor `exhausted`. For a moment afterwards the gateway does not ask early. */
  readonly #emptyAt = new WeakMap<Holding, Instant>();
  readonly #reporting = new Set<Holding>();
  readonly #sweeping: Promise<void>;
  #waiting = 0;
  #stopping = false;

  constructor(parts: QuotaParts) {
    this.#book = parts.book;
    this.#clock = parts.clock;
    this.#parts = parts;
    this.#acquirer = new Acquirer(parts);
    this.#book.onOutcome((holding, isReleased) => this.#ended(holding, isReleased));
    this.#sweeping = this.#sweep();
  }

  /**
   * Returns a permit, or `exhausted` if metering has answered that the allowance is used up. If the gateway has to ask metering,
   * returns a promise, which rejects with Fault `unavailable` if neither comes in time.
   */
  admit(allowance: Allowance): Admitted | Promise<Admitted> {
    const now = this.#clock.now();
    const holding = this.#book.holding(allowance, now);
    countCall(holding, now);
    // A new call waits behind the calls that already wait.
    if (this.#queues.has(holding)) return this.#enqueue(holding, now);
    const admission = this.#book.take(holding, now);
    if (admission.kind === 'empty') return this.#enqueue(holding, now);
    if (admission.kind === 'permit' && this.#book.wantsRenewal(holding, now))
      void this.#askEarly(holding, now);
    return admission;
  }

  /**
   * Resolves once the permit's usage is durable. The call is then billed exactly once and may be answered. Rejects with Fault
   * `unavailable` if the gateway could not confirm that. The permit then stays used.
   */
  commit({ grant }: Permit): Promise<void> {
    return this.#parts.journal.commit(grant);
  }

  /**
   * Returns how many calls are left this month, true within 2 % of the limit or ten calls. undefined: this gateway does not know.
   *
   * @param permit a permit of this allowance, if the call has one. It saves a search
   */
  remaining(allowance: Allowance, permit?: Permit): number | undefined {
    const now = this.#clock.now();
    return this.#book.remaining(permit?.holding ?? this.#book.holding(allowance, now), now);
  }

  /** Handles news of metering about used permits. */
  heard(news: UsageNews): void {
    this.#book.heard(news, this.#clock.now());
  }

  /** Handles metering's recall: returns the permits that this gateway does not need. */
  recall({ accountId, pool, holder }: Recall): void {
    const now = this.#clock.now();
    const holding = this.#book.recalled(accountId, pool, now);
    if (!holding) return;
    const before = freeOfAll(holding.grants);
    // If the recall names this gateway, its own calls wait, so it has no free permits to return.
    if (holder !== this.#parts.holder) this.#giveBack(holding, now);
    this.#parts.events.recalled(before - freeOfAll(holding.grants));
    void this.#reportOutcomes(holding);
  }

  /** Returns all unused permits. Called when no call is under way any more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#acquirer.ended();
    for (const grant of this.#book.retireAll(this.#clock.now())) this.#parts.journal.send(grant);
    await this.#parts.journal.flush(FLUSH_WITHIN_MS);
    await this.#sweeping;
  }

  #ask(holding: Holding) {
    return this.#acquirer.ask(holding, this.#queues.get(holding)?.length ?? 0);
  }

  /** Asks for more permits before the last ones are used, except just after an early Acquire that brought none. */
  async #askEarly(holding: Holding, now: Instant): Promise<void> {
    const since = this.#emptyAt.get(holding);
    if (this.#acquirer.isAsking(holding) || (since && elapsedMs(since, now) < RETRY_AFTER_MS)) return;
    const { hasNone } = await this.#ask(holding);
    if (hasNone) this.#emptyAt.set(holding, this.#clock.now());
    this.#admitWaiting(holding);
  }

  #enqueue(holding: Holding, began: Instant): Promise<Admitted> {
    if (this.#stopping || this.#waiting >= WAITING_CALLS) return Promise.reject(noPermit());
    this.#parts.events.waited();
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      const call = { began, resolve, reject };
      const queue = this.#queues.get(holding);
      if (queue) queue.push(call);
      else {
        const first = [call];
        this.#queues.set(holding, first);
        void this.#serveQueue(holding, first);
      }
    });
  }

  /** Asks metering until no call of the holding waits any more. Rejects calls that have waited too long. */
  async #serveQueue(holding: Holding, queue: WaitingCall[]): Promise<void> {
    // Calls of the same moment share one Acquire.
    await this.#clock.sleep(0);
    while (queue.length > 0) {
      const { retryAfterMs, backInMs } = await this.#ask(holding);
      this.#admitWaiting(holding);
      const now = this.#clock.now();
      const late = queue.findIndex(({ began }) => !this.#stopping && elapsedMs(began, now) < ADMIT_WITHIN_MS);
      const failed = queue.splice(0, late < 0 ? queue.length : late);
      for (const { reject } of failed) reject(noPermit(backInMs));
      this.#leaveQueue(holding, failed.length);
      if (queue.length > 0 && retryAfterMs > 0) await this.#clock.sleep(retryAfterMs);
    }
  }

  /** Gives free permits to the calls that have waited longest. */
  #admitWaiting(holding: Holding): void {
    const queue = this.#queues.get(holding);
    if (!queue) return;
    const now = this.#clock.now();
    let admitted = 0;
    for (const { resolve } of queue) {
      const admission = this.#book.take(holding, now);
      if (admission.kind === 'empty') break;
      resolve(admission);
      admitted += 1;
    }
    this.#leaveQueue(holding, queue.splice(0, admitted).length);
  }

  #leaveQueue(holding: Holding, calls: number): void {
    this.#waiting -= calls;
    if (this.#queues.get(holding)?.length === 0) this.#queues.delete(holding);
  }

  /** Called when a call's permit is released and, after a recall, when it is used. */
  #ended(holding: Holding, isReleased: boolean): void {
    if (isReleased) this.#admitWaiting(holding);
    const now = this.#clock.now();
    if (!isRecalled(holding, now)) return;
    if (isReleased) this.#giveBack(holding, now);
    void this.#reportOutcomes(holding);
  }

  /** Returns unneeded permits. Closes go through the stream too: outcomes are reported only for a second after the recall. */
  #giveBack(holding: Holding, now: Instant): void {
    for (const grant of this.#book.giveBack(holding, now)) this.#parts.journal.send(grant);
  }

  /** After a recall, reports the outcomes of calls to metering. Outcomes of the same moment share one report. */
  async #reportOutcomes(holding: Holding): Promise<void> {
    if (this.#reporting.has(holding)) return;
    this.#reporting.add(holding);
    await this.#clock.sleep(0);
    while (isRecalled(holding, this.#clock.now())) {
      const awaited = awaitedGrants(holding, this.#clock.now());
      if (awaited.length === 0 || !(await this.#parts.journal.reportAtOnce(awaited, holding.preference)))
        break;
    }
    this.#reporting.delete(holding);
  }

  async #sweep(): Promise<void> {
    while (!this.#stopping) {
      for (const grant of this.#book.sweep(this.#clock.now())) this.#parts.journal.send(grant);
      await this.#clock.sleep(SWEEP_EVERY_MS);
    }
  }
}

/** @param backInMs how soon permits may come back, if that is known */
function noPermit(backInMs = 0): Fault {
  const seconds = Math.ceil((backInMs + SETTLED_WITHIN_MS) / 1_000);
  return new Fault('unavailable', 'no permit could be had in time', {
    ...(backInMs > 0 && { retryAfterSeconds: Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS) }),
  });
}
