import { Fault } from '@brand-data/runtime';

/**
 * Runs at most `most` tasks at once. Up to `mostWaiting` further tasks wait for their turn, each at most `waitMs`. A task that
 * waits longer or finds no room is not run, and its promise rejects with Fault `resource_exhausted`.
 */
export function createLimiter(bounds: { most: number; mostWaiting: number; waitMs: number }) {
  const waiting = new Set<() => void>();
  let running = 0;

  const turn = () => {
    if (waiting.size >= bounds.mostWaiting)
      throw new Fault('resource_exhausted', 'too many pictures wait to be made: try again in a second');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      clearTimeout(late);
      waiting.delete(begin);
      resolve();
    };
    const late = setTimeout(() => {
      waiting.delete(begin);
      reject(new Fault('resource_exhausted', 'other pictures take too long: try again in a second'));
    }, bounds.waitMs);
    waiting.add(begin);
    return promise;
  };

  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running < bounds.most) running += 1;
    else await turn();
    try {
      return await task();
    } finally {
      // The turn goes on to the task that waits longest, or ends.
      const [next] = waiting;
      if (next) next();
      else running -= 1;
    }
  };
}

/** Work that all who ask for its result at the same time wait for together. */
export class SharedWork<Result> {
  readonly #underWay = new Map<string, Promise<Result>>();

  isUnderWay(what: string): boolean {
    return this.#underWay.has(what);
  }

  /** Returns the work under way that makes `what`, or begins it. */
  share(what: string, make: () => Promise<Result>): Promise<Result> {
    const underWay = this.#underWay.get(what);
    if (underWay) return underWay;
    const making = make().finally(() => this.#underWay.delete(what));
    this.#underWay.set(what, making);
    return making;
  }
}
