import type { RecordAnswer } from '../answer.ts';
import { BrandData, type IdentifierKind } from '../client.ts';
import type { FlatRecord } from '../gen/types.ts';
import { putNewest } from '../newest.ts';

/** Where a record comes from. */
export interface Source {
  api: string;
  token: string;
  identifier: string;
  kind: IdentifierKind | undefined;
}

interface SharedCall {
  answer: Promise<RecordAnswer<FlatRecord>>;
  controller: AbortController;
  /** Elements that wait for the call. */
  users: number;
}

/** Pages have one token, or one for each of a few services. */
const MOST_CLIENTS = 8;
/** A page with many elements passes the limit of calls a second of its key when it opens. Such calls are not billed. */
const PATIENCE = { retries: 25, timeoutMs: 30_000 };

const clients = new Map<string, BrandData>();
const calls = new Map<string, SharedCall>();

/** Equal for equal sources. */
export function keyOf({ api, token, identifier, kind }: Source): string {
  return JSON.stringify([api, token, identifier, kind]);
}

/**
 * Loads the record of a source. Elements that want the same record at the same time share one call, because each call is billed. The
 * client keeps the record for those that want it later.
 *
 * @param signal aborted when the caller no longer needs the record. The call ends when no element needs it
 */
export async function sharedRecord(source: Source, signal: AbortSignal): Promise<FlatRecord> {
  const key = keyOf(source);
  const call = calls.get(key) ?? startCall(key, source);
  call.users++;
  signal.addEventListener('abort', () => {
    call.users--;
    // An element that moves on its page leaves it and comes back in the same turn.
    setTimeout(() => {
      if (call.users > 0) return;
      // An element that comes now must not join a call that ends in nothing.
      if (calls.get(key) === call) calls.delete(key);
      call.controller.abort();
    });
  });
  return (await call.answer).data;
}

function startCall(key: string, { api, token, identifier, kind }: Source): SharedCall {
  const controller = new AbortController();
  const answer = clientOf(api, token).logo(identifier, { kind, signal: controller.signal });
  const call = { answer, controller, users: 0 };
  calls.set(key, call);
  const end = () => {
    if (calls.get(key) === call) calls.delete(key);
  };
  answer.then(end, end);
  return call;
}

function clientOf(api: string, token: string): BrandData {
  const key = JSON.stringify([api, token]);
  const client = clients.get(key) ?? new BrandData({ api, token, ...PATIENCE });
  putNewest(clients, key, client, MOST_CLIENTS);
  return client;
}
