import { setTimeout } from 'node:timers/promises';

/** Runs `work` at once, and then again after each pause, until the stop. A failure does not end this. */
export function repeat(
  work: (stopped: AbortSignal) => Promise<void>,
  { everyMs, failed }: { everyMs: () => number; failed: (error: unknown) => void },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await work(signal).catch(failed);
      await setTimeout(everyMs(), undefined, { signal }).catch(() => {});
    }
  };
  const running = run();
  return {
    /** Resolves when the work no longer runs. */
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
