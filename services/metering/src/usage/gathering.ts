import type { Clock } from '@brand-data/runtime';

/** Usage is cumulative, so the messages of this time are one write a grant. They are durable: no gateway waits for the write. */
const GATHER_MS = 500;

/** Lets usage gather before it is applied, unless a caller asks for an account's usage now. */
export interface Gathering {
  /** Resolves after half a second, or earlier: at a flush, or at once when `isFull`. */
  wait(isFull: () => boolean): Promise<void>;
  /** All that wait go on. */
  flush(): void;
  /** Flushes, and lets nothing gather for this time. */
  flushImmediatelyFor(ms: number): void;
  /** Flushes, and lets nothing gather any more. */
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
