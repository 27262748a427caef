import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../observe/log.ts';

/**
 * Tries `attempt` until it succeeds, with pauses that grow from 100 ms to 2 s. Services use it to wait for their dependencies,
 * since services start in any order. Rejects once the signal is aborted, with the message of the last failure.
 */
export async function retryUntilStopped<T>(
  what: string,
  attempt: () => Promise<T>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<T> {
  signal.throwIfAborted();
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
    try {
      return await attempt();
    } catch (err) {
      const { message } = err as Error;
      log.warn({ err: { message }, pauseMs }, `waiting for ${what}`);
      await delay(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) throw new Error(`${what}: ${message}`, { cause: signal.reason });
    }
  }
}
