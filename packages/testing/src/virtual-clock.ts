import { setImmediate } from 'node:timers/promises';

/** A `Clock` of packages/runtime. */
export interface VirtualClock {
  now(): { monotonicMs: number; wallMs: number };
  sleep(ms: number): Promise<void>;
  /** Lets time pass. Each wait that ends runs in order, with everything that follows from it at once. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock forward or back. */
  jumpWall(ms: number): void;
}

/** Creates a clock that moves only when a test calls `advance` or `jumpWall`. */
export function createVirtualClock(startMs: number): VirtualClock {
  let monotonicMs = 0;
  let wallMs = startMs;
  let sleepers: { untilMs: number; wake: () => void }[] = [];
  const pass = (untilMs: number) => {
    wallMs += untilMs - monotonicMs;
    monotonicMs = untilMs;
  };
  return {
    now: () => ({ monotonicMs, wallMs }),
    sleep: (ms) => new Promise((wake) => sleepers.push({ untilMs: monotonicMs + ms, wake })),
    advance: async (ms) => {
      const endMs = monotonicMs + ms;
      for (;;) {
        await setImmediate();
        const next = sleepers.toSorted((a, b) => a.untilMs - b.untilMs)[0];
        if (!next || next.untilMs > endMs) break;
        sleepers = sleepers.filter((sleeper) => sleeper !== next);
        pass(next.untilMs);
        next.wake();
      }
      pass(endMs);
    },
    jumpWall: (ms) => {
      wallMs += ms;
    },
  };
}
