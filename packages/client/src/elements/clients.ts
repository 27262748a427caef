import { BrandData } from '../client.ts';
import { putNewest } from '../newest.ts';

/** Pages have one token, or one for each of a few services. */
const MOST_CLIENTS = 8;
/** A page with many elements passes the limit of calls a second of its key when it opens. Such calls are not billed. */
const PATIENCE = { retries: 6, timeoutMs: 30_000 };

const clients = new Map<string, BrandData>();

/** Returns the client that all elements with this token share, so that one call brings a record to all of them. */
export function clientOf(api: string, token: string): BrandData {
  const key = JSON.stringify([api, token]);
  const client = clients.get(key) ?? new BrandData({ api, token, ...PATIENCE });
  putNewest(clients, key, client, MOST_CLIENTS);
  return client;
}
