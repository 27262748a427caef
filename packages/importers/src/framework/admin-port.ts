import { setTimeout as delay } from 'node:timers/promises';
import type { CatalogAdminServiceClient, ImagesAdminServiceClient } from '@brand-data/contracts';
import { type callUnary, Fault, type FaultKind } from '@brand-data/runtime';

/** A service's admin port, with the operator's credential. */
export interface AdminPort<Client> {
  /** Calls a method of the service. Rejects with a Fault. */
  call<Request, Response>(
    method: (client: Client) => Parameters<typeof callUnary<Request, Response>>[1],
    request: Request,
    deadlineMs?: number,
  ): Promise<Response>;
}

export type CatalogPort = AdminPort<CatalogAdminServiceClient>;
export type ImagesPort = AdminPort<ImagesAdminServiceClient>;

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** How long a call is retried while the service does not answer. */
const RETRY_MS = 120_000;

/** Repeats a call, with growing pauses, as long as it fails with a fault of these kinds. The call must be idempotent. */
export async function retryWhileUnavailable<Response>(
  attempt: () => Promise<Response>,
  kinds: readonly FaultKind[] = ['unavailable'],
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
