import type { Clock } from '@brand-data/runtime';

/**
 * All messages about a grant that arrive within this time cause one write, since usage is cumulative. The stream has already
 * stored the messages, so no gateway waits for the write.
 */
const GATHER_MS = 500;

/** Delays the application of usage so that more messages share a write, unless a caller asks for an account's usage now. */
export interface Gathering {
  /** Resolves after half a second, or at a flush. Resolves at once if `isFull`. */
  wait(isFull: () => boolean): Promise<void>;
  /** Ends all waits. */
  flush(): void;
  /** Ends all waits, and prevents new ones for this time. */
  flushImmediatelyFor(ms: number): void;
  /** Ends all waits, and prevents new ones for good. */
  stop(): void;
}

export function createGathering(clock: Clock): Gathering {
  let flushImmediatelyUntilMs = Number.NEGATIVE_INFINITY;
  const waiting = new Set<() => void>();
  const flush = (): void => {
    for (const goOn of waiting) goOn();
  };
  return {
    wait: async (isFull) => {
      if (isFull() || clock.now().monotonicMs < flushImmediatelyUntilMs) return;
      const { promise: flushed, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      await Promise.race([clock.sleep(GATHER_MS), flushed]);
      waiting.delete(resolve);
    },
    flush,
    flushImmediatelyFor: (ms) => {
      flushImmediatelyUntilMs = clock.now().monotonicMs + ms;
      flush();
    },
    stop: () => {
      flushImmediatelyUntilMs = Number.POSITIVE_INFINITY;
      flush();
    },
  };
}
