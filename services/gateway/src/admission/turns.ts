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

/**
 * Divides the process's time among accounts. While the process keeps up, every call begins at once. When its event loop is late,
 * calls of the accounts with the most calls in process wait, each account in its own queue. So one account's flood does not delay
 * the calls of others, and probes are answered in time.
 */
export interface Turns {
  /**
   * Called when a call begins. Returns its turn if it may go on at once, and otherwise resolves when it may go on. Rejects with
   * ProblemError `overloaded` if the process has too much to do.
   */
  begin(accountId: string): Turn | Promise<Turn>;
  /** Called when a call is over. */
  end(turn: Turn): void;
  /** Called regularly with how late the event loop is. Also refuses calls that have waited too long. */
  measured(lateMs: number): void;
  /** Calls that wait now, calls that were refused so far, and accounts that are kept. */
  stats(): { waiting: number; refused: number; accounts: number };
}

/** The turn of a call in process: all calls of an account have the same one. */
export interface Turn {
  readonly accountId: string;
  inProcess: number;
  readonly queue: { sinceMs: number; goOn: (turn: Turn) => void; refuse: (problem: ProblemError) => void }[];
}

/** @param nowMs the monotonic clock */
export function createTurns({ nowMs }: { nowMs: () => number }): Turns {
  /** All accounts with calls in process or waiting, and some that have had such calls a moment ago. */
  const accounts = new Map<string, Turn>();
  const withQueue = new Set<Turn>();
  /** How many accounts have calls in process. */
  let busy = 0;
  let measurements = 0;
  /** How many calls of one account may be in process. */
  let part = LARGEST_PART;
  let isTooLate = false;
  let waiting = 0;
  let refused = 0;

  const overloaded = (): ProblemError => {
    refused += 1;
    const detail = 'The service has more to do than it can. Try again in a second.';
    return new ProblemError('overloaded', detail, { 'Retry-After': '1' });
  };

  const enter = (account: Turn, calls: number): void => {
    if (account.inProcess === 0) busy += 1;
    account.inProcess += calls;
  };

  const serve = (account: Turn): void => {
    const free = Math.min(part - account.inProcess, account.queue.length);
    if (free <= 0) return;
    waiting -= free;
    enter(account, free);
    for (const { goOn } of account.queue.splice(0, free)) goOn(account);
    if (account.queue.length === 0) withQueue.delete(account);
  };

  const forgetIdle = (): void => {
    for (const { accountId, inProcess, queue } of accounts.values())
      if (inProcess === 0 && queue.length === 0) accounts.delete(accountId);
  };

  return {
    begin: (accountId) => {
      let account = accounts.get(accountId);
      if (!account) {
        account = { accountId, inProcess: 0, queue: [] };
        accounts.set(accountId, account);
      }
      const { inProcess, queue } = account;
      if (inProcess < part && queue.length === 0) {
        enter(account, 1);
        return account;
      }
      if (isTooLate || queue.length >= WAITING_OF_ACCOUNT || waiting >= WAITING)
        return Promise.reject(overloaded());
      waiting += 1;
      withQueue.add(account);
      return new Promise((goOn, refuse) => {
        queue.push({ sinceMs: nowMs(), goOn, refuse });
      });
    },

    end: (account) => {
      account.inProcess -= 1;
      if (account.inProcess === 0) busy -= 1;
      if (account.queue.length > 0) serve(account);
    },

    measured: (lateMs) => {
      isTooLate = lateMs > TOO_LATE_MS;
      const isLate = lateMs > (busy > 1 ? LATE_BESIDE_OTHERS_MS : LATE_MS);
      const next = isLate ? part * 0.7 : part * 1.05 + 1;
      part = Math.round(Math.min(LARGEST_PART, Math.max(isTooLate ? 1 : SMALLEST_PART, next)));
      const lateSinceMs = nowMs() - WAIT_AT_MOST_MS;
      for (const account of withQueue) {
        const inTime = account.queue.findIndex(({ sinceMs }) => sinceMs > lateSinceMs);
        const late = account.queue.splice(0, inTime < 0 ? account.queue.length : inTime);
        waiting -= late.length;
        for (const { refuse } of late) refuse(overloaded());
        if (account.queue.length === 0) withQueue.delete(account);
        else serve(account);
      }
      measurements += 1;
      if (measurements % FORGET_EVERY === 0) forgetIdle();
    },

    stats: () => ({ waiting, refused, accounts: accounts.size }),
  };
}
