import { randomUUID } from 'node:crypto';
import type { Mongo } from '@brand-data/runtime';
import { MongoClient } from 'mongodb';
import { inject, onTestFinished } from 'vitest';
import { type ImageStore, openImageStore } from '../src/store/store.ts';

/** Returns a store in a separate database, which is dropped when the test is over. */
export async function storeOfTest(): Promise<{ store: ImageStore; mongo: Mongo }> {
  const client = new MongoClient(inject('mongodbUrl'), {
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority' },
    ignoreUndefined: true,
  });
  const db = client.db(`images-${randomUUID()}`);
  onTestFinished(async () => {
    await db.dropDatabase();
    await client.close();
  });
  return { store: await openImageStore({ client, db }), mongo: { client, db } };
}
