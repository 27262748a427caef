import { setTimeout as delay } from 'node:timers/promises';
import { Fault, type FaultKind } from '@brand-data/runtime';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** How long a call is retried while the service does not answer. */
const RETRY_MS = 120_000;

/** Repeats a call, with growing pauses, as long as it fails with `unavailable`. The call must be idempotent. */
export function retryWhileUnavailable<Response>(attempt: () => Promise<Response>): Promise<Response> {
  return retryWhile(['unavailable'], attempt);
}

/** Repeats a call, with growing pauses, as long as it fails with such a fault. The call must be idempotent. */
export async function retryWhile<Response>(
  kinds: readonly FaultKind[],
  attempt: () => Promise<Response>,
): Promise<Response> {
  const deadline = Date.now() + RETRY_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      const isPassing = error instanceof Fault && kinds.includes(error.kind);
      if (!isPassing || Date.now() + pauseMs > deadline) throw error;
    }
    await delay(pauseMs);
  }
}
