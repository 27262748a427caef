import { setTimeout as delay } from 'node:timers/promises';
import { importCatalogue } from '@brand-data/local';
import { MongoClient, MongoServerError } from 'mongodb';
import { inject } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { temporaryFolder } from '../stack/temporary-folder.ts';

export interface SampleStack extends TestStack {
  /** The base URL of images in records, where the service images answers. */
  logoHost: string;
}

/** The database in the shared mongod that keeps the sample's images for all files of a test run. */
const KEPT = 'test_kept_sample_images';
const KEPT_WITHIN_MS = 300_000;
const DUPLICATE_KEY = 11_000;

/** Starts what `npm start` starts, without the demo accounts: one gateway, and the sample catalogue with its images. */
export async function startSampleStack(): Promise<SampleStack> {
  const stack = await startTestStack({ gateways: 1, environment: { IMAGE_WORKERS: '2' } });
  try {
    await withKeptImages(`${stack.databasePrefix}_images`, async () => {
      await importCatalogue(await temporaryFolder(), stack.bds, (refusal) => {
        throw new Error(refusal);
      });
    });
    return { ...stack, logoHost: stack.images[0]?.url ?? '' };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/**
 * Runs an import that fills the database of images. The first stack of a test run keeps what images made of the files. The others
 * wait for it and begin with a copy, because to make 3,700 images takes half a minute of two processors.
 */
async function withKeptImages(database: string, runImport: () => Promise<void>): Promise<void> {
  const client = await MongoClient.connect(inject('mongodbUrl'));
  const copy = (from: string, to: string) =>
    client
      .db(from)
      .collection('images')
      .aggregate([{ $merge: { into: { db: to, coll: 'images' } } }])
      .toArray();
  const states = client.db(KEPT).collection<{ _id: 'images'; isWhole: boolean }>('states');
  try {
    if (await isFirst(() => states.insertOne({ _id: 'images', isWhole: false }))) {
      await runImport();
      await copy(database, KEPT);
      await states.updateOne({ _id: 'images' }, { $set: { isWhole: true } });
      return;
    }
    // If the first stack fails, the import makes the images itself.
    for (const start = Date.now(); Date.now() - start < KEPT_WITHIN_MS; await delay(200))
      if ((await states.findOne({ _id: 'images' }))?.isWhole) break;
    await copy(KEPT, database);
    await runImport();
  } finally {
    await client.close();
  }
}

async function isFirst(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return false;
    throw error;
  }
}
