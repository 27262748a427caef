import type { MongoClient } from 'mongodb';
import type { RunningCatalogue } from './running.ts';

/** Bytes in use in mongod's cache. */
export async function cacheInUse(client: MongoClient): Promise<number> {
  const status = await client.db('admin').command({ serverStatus: 1 });
  return status.wiredTiger.cache['bytes currently in the cache'];
}

/** Reads all documents and keys once, so that mongod's cache is as after a long time of use. */
export async function warm({ companies }: RunningCatalogue): Promise<void> {
  await companies.aggregate([{ $group: { _id: null, ranks: { $sum: '$rank' } } }]).toArray();
  await companies.countDocuments({ keys: { $gte: '' } }, { hint: 'keys' });
}
