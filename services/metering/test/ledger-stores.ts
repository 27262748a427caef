import { randomBytes } from 'node:crypto';
import { type Mongo, systemClock } from '@brand-data/runtime';
import { createMemoryDatabase } from '@brand-data/test/simulation/ledger-documents.ts';
import { MongoClient } from 'mongodb';
import { afterAll, inject } from 'vitest';
import { LedgerStore } from '../src/ledger/ledger-store.ts';
import { openMongoLedgerDatabase } from '../src/ledger/mongo-ledger-database.ts';

export interface MongoLedgers {
  /** Opens a store in a separate database. */
  open(): Promise<LedgerStore>;
  /** Opens the same database again, as another replica does, or a replica after a crash. */
  openDatabase(): Mongo;
}

/** Returns the tests' MongoDB, with the same options as in the service. Its databases are dropped after the tests. */
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
  return { openDatabase, open: () => mongoStore(openDatabase()) };
}

/** Opens the store as a replica does. */
export async function mongoStore(mongo: Mongo): Promise<LedgerStore> {
  return new LedgerStore({ database: await openMongoLedgerDatabase(mongo), clock: systemClock });
}

/** Returns the store on a database in memory. */
export function memoryStore(): LedgerStore {
  return new LedgerStore({ database: createMemoryDatabase(), clock: systemClock });
}
