import type { Binary, MongoClient } from 'mongodb';
import type { RunningCatalogue } from './running.ts';

/** How much storage a catalogue needs, in bytes unless noted. */
export interface StoreFigures {
  readonly documents: number;
  /** The mean sizes of a document and its record, and the mean number of its keys. */
  readonly document: number;
  readonly record: number;
  readonly keys: number;
  /** The size of all documents, uncompressed and on disk. */
  readonly data: number;
  readonly dataOnDisk: number;
  readonly indexes: Readonly<Record<string, number>>;
}

export async function storeFigures({ client, companies }: RunningCatalogue): Promise<StoreFigures> {
  // mongod reports sizes on disk as of its last checkpoint, so this makes one.
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
