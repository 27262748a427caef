import type { Binary, MongoClient } from 'mongodb';
import type { RunningCatalogue } from './running.ts';

/** What a catalogue takes, in bytes unless said. */
export interface StoreFigures {
  readonly documents: number;
  /** The mean document, its record, and how many keys it has. */
  readonly document: number;
  readonly record: number;
  readonly keys: number;
  /** All documents uncompressed, and on disk. */
  readonly data: number;
  readonly dataOnDisk: number;
  readonly indexes: Readonly<Record<string, number>>;
}

export async function storeFigures({ client, companies }: RunningCatalogue): Promise<StoreFigures> {
  // What is on disk is so since the last checkpoint: make one.
  await client.db('admin').command({ fsync: 1 });
  const [{ storageStats }] = (await companies
    .aggregate([{ $collStats: { storageStats: {} } }])
    .toArray()) as [
    {
      storageStats: {
        count: number;
        size: number;
        avgObjSize: number;
        storageSize: number;
        indexSizes: Record<string, number>;
      };
    },
  ];
  const sample = await companies
    .aggregate<{ brand: Binary; keys: string[] }>([
      { $sample: { size: 1_000 } },
      { $project: { brand: 1, keys: 1 } },
    ])
    .toArray();
  const mean = (of: (doc: { brand: Binary; keys: string[] }) => number) =>
    sample.reduce((sum, doc) => sum + of(doc), 0) / sample.length;
  return {
    documents: storageStats.count,
    document: storageStats.avgObjSize,
    record: mean(({ brand }) => brand.length()),
    keys: mean(({ keys }) => keys.length),
    data: storageStats.size,
    dataOnDisk: storageStats.storageSize,
    indexes: storageStats.indexSizes,
  };
}

/** Bytes of mongod's cache that are in use. */
export async function cacheInUse(client: MongoClient): Promise<number> {
  const status = await client.db('admin').command({ serverStatus: 1 });
  return status.wiredTiger.cache['bytes currently in the cache'];
}

/** Reads all documents and all keys once: what mongod's cache holds of a catalogue that has long been asked. */
export async function warm({ companies }: RunningCatalogue): Promise<void> {
  await companies.aggregate([{ $group: { _id: null, ranks: { $sum: '$rank' } } }]).toArray();
  await companies.countDocuments({ keys: { $gte: '' } }, { hint: 'keys' });
}
