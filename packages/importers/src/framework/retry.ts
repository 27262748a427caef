import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@brand-data/runtime';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** How long a call is retried while the catalogue does not answer. */
const RETRY_MS = 120_000;

/** Repeats a call, with growing pauses, as long as it fails with `unavailable`. The call must be idempotent. */
export async function retryWhileUnavailable<Response>(attempt: () => Promise<Response>): Promise<Response> {
  const deadline = Date.now() + RETRY_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      const isUnavailable = error instanceof Fault && error.kind === 'unavailable';
      if (!isUnavailable || Date.now() + pauseMs > deadline) throw error;
    }
    await delay(pauseMs);
  }
}
