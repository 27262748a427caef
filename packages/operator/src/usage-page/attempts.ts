const WINDOW_MS = 60_000;
const MOST_IN_WINDOW = 10;

/** Counts the wrong credentials of all callers together, so that no caller can try many. */
export interface Attempts {
  /** For how many seconds every credential is refused. 0: they are checked. */
  refusedForS(): number;
  failed(): void;
}

/** @param now milliseconds of a clock that only grows */
export function createAttempts(now: () => number = () => performance.now()): Attempts {
  let failures: number[] = [];
  return {
    refusedForS() {
      failures = failures.filter((at) => at > now() - WINDOW_MS);
      const [first] = failures;
      if (first === undefined || failures.length < MOST_IN_WINDOW) return 0;
      return Math.ceil((first + WINDOW_MS - now()) / 1_000);
    },
    failed() {
      failures = [...failures.slice(1 - MOST_IN_WINDOW), now()];
    },
  };
}
