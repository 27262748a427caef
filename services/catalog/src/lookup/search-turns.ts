import { type Clock, Fault } from '@brand-data/runtime';

interface Waiting {
  goOn(): void;
  refuse(fault: Fault): void;
}

/**
 * Returns a function that runs one task at a time. Accounts whose tasks wait take turns. If too many tasks wait, the newest of the account
 * with the most of them rejects with Fault `unavailable`. Therefore an account's flood delays and refuses its own tasks.
 */
export function takeTurns({ mostWaiting }: { mostWaiting: number }) {
  // By account, in the order of their next turns.
  const queues = new Map<string, Waiting[]>();
  let waiting = 0;
  let isBusy = false;

  function wait(accountId: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = queues.get(accountId) ?? [];
    queues.set(accountId, queue);
    queue.push({ goOn: resolve, refuse: reject });
    waiting += 1;
    if (waiting > mostWaiting) {
      const [flooding, longest] = [...queues].reduce((most, other) =>
        other[1].length >= most[1].length ? other : most,
      );
      longest.pop()?.refuse(new Fault('unavailable', 'too many searches are waiting: try again'));
      if (longest.length === 0) queues.delete(flooding);
      waiting -= 1;
    }
    return promise;
  }

  function goOn(): void {
    const [next] = queues;
    isBusy = next !== undefined;
    if (next === undefined) return;
    const [accountId, queue] = next;
    queues.delete(accountId);
    if (queue.length > 1) queues.set(accountId, queue);
    waiting -= 1;
    queue.shift()?.goOn();
  }

  return async <Result>(accountId: string, task: () => Promise<Result>): Promise<Result> => {
    if (isBusy) await wait(accountId);
    isBusy = true;
    try {
      return await task();
    } finally {
      goOn();
    }
  };
}

/** How long a search waits for look-ups. Without an end, look-ups that never cease would leave it no turn. */
const GIVE_WAY_MS = 5;

/** Lets look-ups go before searches. */
export class LookUpsFirst {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #waiting = new Set<() => void>();
  #underWay = 0;

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  async run<Result>(lookUp: () => Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await lookUp();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) for (const goOn of this.#waiting) goOn();
    }
  }

  /** Resolves when no look-up is under way, and after GIVE_WAY_MS at the latest. */
  async giveWay(): Promise<void> {
    if (this.#underWay === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    // A promise that all waits shared would keep something of each, for as long as look-ups never cease.
    this.#waiting.add(resolve);
    await Promise.race([promise, this.#clock.sleep(GIVE_WAY_MS)]);
    this.#waiting.delete(resolve);
  }
}
