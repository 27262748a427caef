import type { Mongo, Service } from '@brand-data/runtime';
import { AccountStore } from './account-store.ts';
import { BlockStore } from './block-store.ts';
import { collectionsOf, createIndexes } from './collections.ts';
import { Database } from './database.ts';
import { KeyStore } from './key-store.ts';
import { OperatorStore } from './operator-store.ts';
import { PlanStore } from './plan-store.ts';
import { TrailStore } from './trail-store.ts';

/**
 * The accounts database. Every operation rejects with Fault `unavailable` while the database cannot be reached. Every read
 * is linearizable, also just after an election: see README.md.
 */
export type Store = Awaited<ReturnType<typeof openStore>>;

/** Creates the indexes, which any replica may do at any time. */
export async function openStore(
  service: Pick<Service, 'log'>,
  { client, db }: Mongo,
  options: { auditDays: number },
) {
  const collections = collectionsOf(db);
  await createIndexes(collections);
  const database = new Database(service, client, collections, options);
  return {
    plans: new PlanStore(database),
    accounts: new AccountStore(database),
    keys: new KeyStore(database),
    blocks: new BlockStore(database),
    operators: new OperatorStore(database),
    trail: new TrailStore(database),
    /** For the outbox, which sends the notices of committed changes. */
    database,
  };
}
