import { randomBytes } from 'node:crypto';
import type { Mongo } from '@brand-data/runtime';
import { MongoClient } from 'mongodb';
import { afterAll, inject } from 'vitest';
import type { LedgerStore } from '../src/ledger-store.ts';
import { openMongoLedgerStore } from '../src/mongo-ledger-store.ts';

export interface MongoLedgers {
  /** A store in a database of its own. */
  open(): Promise<LedgerStore>;
  /** The same database may be opened again, as another replica or after a crash does. */
  openDatabase(): Mongo;
}

/** The tests' MongoDB, with the promises that the service asks of it; the databases are dropped after the tests. */
export function mongoLedgers(): MongoLedgers {
  const databases: Mongo[] = [];
  let client: MongoClient | undefined;
  afterAll(async () => {
    for (const { db } of databases) await db.dropDatabase();
    await client?.close();
  });
  const openDatabase = (): Mongo => {
    client ??= new MongoClient(inject('mongodbUrl'), {
      readConcern: { level: 'majority' },
      writeConcern: { w: 'majority', journal: true },
      ignoreUndefined: true,
    });
    const mongo = { client, db: client.db(`ledgers_${randomBytes(6).toString('hex')}`) };
    databases.push(mongo);
    return mongo;
  };
  return { openDatabase, open: () => openMongoLedgerStore(openDatabase()) };
}
