import { randomBytes } from 'node:crypto';
import type { Brand } from '@brand-data/contracts';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { sourceRecordOf } from '../src/records/source-record.ts';
import type { Announce } from '../src/storage/announcer.ts';
import { type Collections, openCollections } from '../src/storage/collections.ts';
import { CatalogStore } from '../src/storage/store.ts';

export interface OpenCatalogue extends Collections {
  client: MongoClient;
  db: Db;
  store: CatalogStore;
}

/** Makes the writes of a store whose changes have no listener. */
const unheard: Announce = (_keys, write) => write();

/** Returns a function that opens catalogues in databases of the calling test file. They are dropped after its last test. */
export function catalogueDatabases(): (name?: string, announce?: Announce) => Promise<OpenCatalogue> {
  const prefix = `test_catalog_${randomBytes(6).toString('hex')}`;
  const client = new MongoClient(inject('mongodbUrl'), {
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true },
    monitorCommands: true,
  });
  const opened = new Set<Db>();

  afterAll(async () => {
    for (const db of opened) await db.dropDatabase();
    await client.close();
  });

  return async (name = 'one', announce = unheard) => {
    const db = client.db(`${prefix}_${name}`);
    opened.add(db);
    const collections = await openCollections({ client, db });
    return { ...collections, client, db, store: new CatalogStore({ client, db }, collections, announce) };
  };
}

export interface FeedDatabase {
  collections: Collections;
  /** Puts brands of the one source that the database has. */
  put(...brands: Brand[]): Promise<unknown>;
}

/** Returns a database of the calling test file, empty before each test. Its fields are set before the file's first test. */
export function feedDatabase(): FeedDatabase {
  const database = {} as FeedDatabase;
  const open = catalogueDatabases();

  beforeAll(async () => {
    const catalogue = await open();
    database.collections = catalogue;
    database.put = (...brands) =>
      catalogue.store.putSourceRecords(
        'feed',
        brands.map((brand) => sourceRecordOf('feed', 'run', brand)),
        { dryRun: false },
      );
  });

  beforeEach(async () => {
    await database.collections.companies.deleteMany({});
  });

  return database;
}
