import { randomBytes } from 'node:crypto';
import type { Brand } from '@brand-data/contracts';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { sourceRecordOf } from '../src/records/source-record.ts';
import { type Collections, openCollections } from '../src/storage/collections.ts';
import { CatalogStore } from '../src/storage/store.ts';
import { unheard } from './unheard.ts';

export interface FeedDatabase {
  collections: Collections;
  /** Puts brands of the one source that the database has. */
  put(...brands: Brand[]): Promise<unknown>;
}

/** A database of the calling test file's own, empty before each test. Its fields are set before the file's first test. */
export function feedDatabase(): FeedDatabase {
  const database = {} as FeedDatabase;
  let client: MongoClient;

  beforeAll(async () => {
    client = new MongoClient(inject('mongodbUrl'));
    const mongo = { client, db: client.db(`test_catalog_${randomBytes(6).toString('hex')}`) };
    database.collections = await openCollections(mongo);
    const store = new CatalogStore(mongo, database.collections, unheard);
    database.put = (...brands) =>
      store.putSourceRecords(
        'feed',
        brands.map((brand) => sourceRecordOf('feed', 'run', brand)),
        { dryRun: false },
      );
  });

  beforeEach(async () => {
    await database.collections.companies.deleteMany({});
  });

  afterAll(async () => {
    await database.collections?.companies.db.dropDatabase();
    await client?.close();
  });

  return database;
}
