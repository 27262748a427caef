import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from './log.ts';

/**
 * Tries `attempt` until it succeeds, with pauses that grow from 100 ms to 2 s: services start in any order and wait
 * for what they need. Rejects with the signal's reason once that is aborted.
 */
export async function retryUntilStopped<T>(
  what: string,
  attempt: () => Promise<T>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<T> {
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (err) {
      log.warn({ err: { message: (err as Error).message }, pauseMs }, `waiting for ${what}`);
    }
    await delay(pauseMs, undefined, { signal });
  }
}
