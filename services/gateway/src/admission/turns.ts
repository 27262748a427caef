import { readAtScrape, type Service } from '@brand-data/runtime';
import { Counter, Gauge } from 'prom-client';
import { ProblemError } from '../answers/problem.ts';

/** How late the event loop may be before an account with many calls at once has to wait. */
const LATE_MS = 10;
/** The same while other accounts have calls in process too. */
const LATE_BESIDE_OTHERS_MS = 3;
/** If the event loop is later than this, no call waits: those that may not begin are refused at once. */
const TOO_LATE_MS = 500;
const LARGEST_PART = 4_096;
/** Enough calls at once to share the acknowledgement of their usage. Only if the event loop is far too late, fewer are allowed. */
const SMALLEST_PART = 16;
const WAIT_AT_MOST_MS = 1_000;
const WAITING_OF_ACCOUNT = 1_000;
const WAITING = 10_000;
/** Idle accounts are forgotten once in so many measurements. An account that calls all the time is not added anew for each call. */
const FORGET_EVERY = 20;
const MEASURED_EVERY_MS = 50;

/** The turn of a call in process: all calls of an account have the same one. */
export interface Turn {
  readonly accountId: string;
  inProcess: number;
  readonly queue: { sinceMs: number; goOn: (turn: Turn) => void; refuse: (problem: ProblemError) => void }[];
}

/**
 * Divides the process's time among accounts. While the process keeps up, every call begins at once. When its event loop is late,
 * calls of the accounts with the most calls in process wait, each account in its own queue. Therefore one account's flood does not
 * delay other accounts' calls, and probes are answered in time.
 */
export class Turns {
  readonly #nowMs: () => number;
  /** All accounts with calls in process or waiting, and some whose calls have just ended. */
  readonly #accounts = new Map<string, Turn>();
  readonly #withQueue = new Set<Turn>();
  /** How many accounts have calls in process. */
  #busy = 0;
  #measurements = 0;
  /** How many calls of one account may be in process. */
  #part = LARGEST_PART;
  #isTooLate = false;
  #waiting = 0;
  #refused = 0;

  /** @param nowMs the monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Returns the turn of a call that may go on at once, and otherwise resolves to it when the call may go on. Rejects with
   * ProblemError `overloaded` if the process has too much to do.
   */
  admit(accountId: string): Turn | Promise<Turn> {
    let account = this.#accounts.get(accountId);
    if (!account) {
      account = { accountId, inProcess: 0, queue: [] };
      this.#accounts.set(accountId, account);
    }
    const { inProcess, queue } = account;
    if (inProcess < this.#part && queue.length === 0) {
      this.#begin(account, 1);
      return account;
    }
    if (this.#isTooLate || queue.length >= WAITING_OF_ACCOUNT || this.#waiting >= WAITING)
      return Promise.reject(this.#overloaded());
    this.#waiting += 1;
    this.#withQueue.add(account);
    return new Promise((goOn, refuse) => {
      queue.push({ sinceMs: this.#nowMs(), goOn, refuse });
    });
  }

  /** Ends the call. The next call of its account may then go on. */
  release(account: Turn): void {
    account.inProcess -= 1;
    if (account.inProcess === 0) this.#busy -= 1;
    if (account.queue.length > 0) this.#serve(account);
  }

  /** Takes a measurement of how late the event loop is, and refuses calls that have waited too long. Call it regularly. */
  measured(lateMs: number): void {
    this.#isTooLate = lateMs > TOO_LATE_MS;
    const isLate = lateMs > (this.#busy > 1 ? LATE_BESIDE_OTHERS_MS : LATE_MS);
    const next = isLate ? this.#part * 0.7 : this.#part * 1.05 + 1;
    this.#part = Math.round(Math.min(LARGEST_PART, Math.max(this.#isTooLate ? 1 : SMALLEST_PART, next)));
    this.#refuseLate();
    this.#measurements += 1;
    if (this.#measurements % FORGET_EVERY === 0) this.#forgetIdle();
  }

  /** Returns how many calls wait now, how many were refused so far, and how many accounts are kept. */
  stats(): { waiting: number; refused: number; accounts: number } {
    return { waiting: this.#waiting, refused: this.#refused, accounts: this.#accounts.size };
  }

  #begin(account: Turn, calls: number): void {
    if (account.inProcess === 0) this.#busy += 1;
    account.inProcess += calls;
  }

  #serve(account: Turn): void {
    const free = Math.min(this.#part - account.inProcess, account.queue.length);
    if (free <= 0) return;
    this.#waiting -= free;
    this.#begin(account, free);
    for (const { goOn } of account.queue.splice(0, free)) goOn(account);
    if (account.queue.length === 0) this.#withQueue.delete(account);
  }

  #refuseLate(): void {
    const lateSinceMs = this.#nowMs() - WAIT_AT_MOST_MS;
    for (const account of this.#withQueue) {
      const inTime = account.queue.findIndex(({ sinceMs }) => sinceMs > lateSinceMs);
      const late = account.queue.splice(0, inTime < 0 ? account.queue.length : inTime);
      this.#waiting -= late.length;
      for (const { refuse } of late) refuse(this.#overloaded());
      if (account.queue.length === 0) this.#withQueue.delete(account);
      else this.#serve(account);
    }
  }

  #forgetIdle(): void {
    for (const { accountId, inProcess, queue } of this.#accounts.values())
      if (inProcess === 0 && queue.length === 0) this.#accounts.delete(accountId);
  }

  #overloaded(): ProblemError {
    this.#refused += 1;
    const detail = 'The service has more to do than it can. Try again in a second.';
    return new ProblemError('overloaded', detail, { 'Retry-After': '1' });
  }
}

/** Measures how late the event loop is, for the turns of accounts, and registers their metrics. */
export function measureLateness(service: Pick<Service, 'metrics' | 'onStop'>, turns: Turns): void {
  let lastMs = performance.now();
  let lateMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // The mean of the last few measurements, because one pause for garbage collection is not an overload.
    lateMs = 0.6 * lateMs + 0.4 * Math.max(0, nowMs - lastMs - MEASURED_EVERY_MS);
    lastMs = nowMs;
    turns.measured(lateMs);
  }, MEASURED_EVERY_MS);
  service.onStop('lateness', () => clearInterval(timer));
  const shed = {
    name: 'gateway_shed_calls_total',
    help: 'Calls that got 503 because the gateway was overloaded, most of them from accounts with many calls at once',
  };
  readAtScrape(Counter, service.metrics, shed, () => [[{}, turns.stats().refused]]);
  const waiting = {
    name: 'gateway_calls_waiting',
    help: 'Calls that wait for their turn now, because the event loop is late and their account has many calls in process',
  };
  readAtScrape(Gauge, service.metrics, waiting, () => [[{}, turns.stats().waiting]]);
}
