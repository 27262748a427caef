import { setTimeout as delay } from 'node:timers/promises';
import { importCatalogue } from '@brand-data/local';
import { isDuplicateKey } from '@brand-data/runtime';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { inject } from 'vitest';
import { startTestStack, type TestStack, type TestStackOptions } from '../stack/index.ts';

export interface SampleStack extends TestStack {
  /** The base URL of images in records, where the service images answers. */
  logoHost: string;
}

/** The prefix of the databases in the shared mongod that keep the imported sample for all files of a test run. */
const KEPT = 'test_kept_sample';
/** The databases that the import fills. */
const FILLED = ['catalog', 'images'] as const;
const ASKED_EVERY_MS = 200;

/**
 * Starts what `npm start` starts, without the demo accounts: one gateway, and the sample catalogue with its images. The first
 * stack of a test run imports the sample. Further stacks wait for it, and begin with a copy of its databases, as after a restart.
 */
export async function startSampleStack(environment: NodeJS.ProcessEnv = {}): Promise<SampleStack> {
  const client = await MongoClient.connect(inject('mongodbUrl'));
  const states = client.db(`${KEPT}_state`).collection<{ _id: 'sample'; isWhole: boolean }>('states');
  try {
    while (!(await states.findOne({ _id: 'sample', isWhole: true }))) {
      if (await isFirst(() => states.insertOne({ _id: 'sample', isWhole: false }))) {
        try {
          const stack = await startAndImport(environment, (databasePrefix) =>
            copySample(client, databasePrefix, KEPT),
          );
          await states.updateOne({ _id: 'sample' }, { $set: { isWhole: true } });
          return stack;
        } catch (error) {
          // Another file tries it then.
          await states.deleteOne({ _id: 'sample' });
          throw error;
        }
      }
      await delay(ASKED_EVERY_MS);
    }
    return await start({ environment, fill: (databasePrefix) => copySample(client, KEPT, databasePrefix) });
  } finally {
    await client.close();
  }
}

async function start(options: TestStackOptions): Promise<SampleStack> {
  const stack = await startTestStack({ gateways: 1, ...options });
  return { ...stack, logoHost: stack.images[0]?.url ?? '' };
}

async function startAndImport(
  environment: NodeJS.ProcessEnv,
  keep: (databasePrefix: string) => Promise<void>,
): Promise<SampleStack> {
  const stack = await start({ environment: { ...environment, IMAGE_WORKERS: '2' } });
  try {
    await importCatalogue(await temporaryFolder(), stack.bds, (refusal) => {
      throw new Error(refusal);
    });
    await keep(stack.databasePrefix);
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

async function copySample(client: MongoClient, from: string, to: string): Promise<void> {
  for (const name of FILLED) {
    const source = client.db(`${from}_${name}`);
    for (const { collectionName } of await source.collections())
      await source
        .collection(collectionName)
        .aggregate([{ $out: { db: `${to}_${name}`, coll: collectionName } }])
        .toArray();
  }
}

async function isFirst(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
