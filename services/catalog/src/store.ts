import type { Brand } from '@brand-data/contracts';
import type { BrandKey } from '@brand-data/identifiers';
import type { Mongo } from '@brand-data/runtime';
import { Fault } from '@brand-data/runtime';
import { type AnyBulkWriteOperation, type Collection, MongoBulkWriteError } from 'mongodb';
import { brandFromDoc, brandToDoc, type CatalogDoc, catalogDoc } from './catalog-doc.ts';

/** Far more than 200 identifiers commonly have; some 6 MB of records. */
const MAX_CANDIDATES = 1_000;
const LOOKUP_MS = 1_500;
/** Reads of the whole collection, for operators. */
const SCAN_MS = 60_000;
const MAX_KEYS = 1_000;
const MAX_ROUNDS = 10;
const PRUNE_BATCH = 500;
const DUPLICATE_KEY = 11_000;

/** A record that an identifier may mean. */
export interface Candidate {
  id: string;
  rank: number;
  keys: BrandKey[];
  brand: Brand;
}

export type PutOutcome = 'created' | 'changed' | 'unchanged' | { refused: string };

export interface CatalogStore {
  /** The records that have one of the keys, each as it was at one moment. */
  findCandidates(keys: readonly string[]): Promise<Candidate[]>;
  readBrand(id: string): Promise<Brand | undefined>;
  /** Makes these the source's contributions, each atomically; ids are distinct. Idempotent. */
  putContributions(source: string, importId: string, brands: readonly Brand[]): Promise<PutOutcome[]>;
  /** Takes back what other imports of the source left. Returns of how many records. Idempotent. */
  prune(source: string, importId: string): Promise<number>;
  countBrands(): Promise<{ brands: number; sources: { source: string; brands: number }[] }>;
}

/** Any number of replicas may use one database at once. Creates what indexes are missing. */
export async function openCatalogStore({ db }: Mongo): Promise<CatalogStore> {
  const records = db.collection<CatalogDoc>('brands');
  await records.createIndex({ 'keys.key': 1 });

  const projection = { brand: 1, keys: 1, rank: 1 } as const;
  const candidateFromDoc = ({ _id, rank, keys, brand }: CatalogDoc): Candidate => ({
    id: _id,
    rank,
    keys,
    brand: brandFromDoc(brand),
  });

  return {
    // The brands come with their keys in the one query, not in a second: few candidates lose, and a record that
    // changes between two queries could be answered with keys that it no longer has.
    async findCandidates(keys) {
      const limit = MAX_CANDIDATES + 1;
      const options = { projection, limit, batchSize: limit, maxTimeMS: LOOKUP_MS };
      const found = await records.find({ 'keys.key': { $in: [...keys] } }, options).toArray();
      if (found.length < limit) return found.map(candidateFromDoc);
      const best = await bestIds(records, keys);
      return (await records.find({ _id: { $in: best } }, { projection, maxTimeMS: LOOKUP_MS }).toArray()).map(
        candidateFromDoc,
      );
    },

    async readBrand(id) {
      const doc = await records.findOne({ _id: id }, { projection });
      return doc === null ? undefined : brandFromDoc(doc.brand);
    },

    async putContributions(source, importId, brands) {
      const outcomes = new Map<string, PutOutcome>();
      let pending = brands;
      for (let round = 0; pending.length > 0; round++) {
        if (round === MAX_ROUNDS) throw contended();
        const ids = pending.map(({ id }) => id);
        const found = await records.find({ _id: { $in: ids } }, { batchSize: ids.length + 1 }).toArray();
        const docs = new Map(found.map((doc) => [doc._id, doc]));
        const plans = pending.map((brand) => ({
          brand,
          ...planPut(docs.get(brand.id), source, importId, brand),
        }));
        const writes = plans.flatMap(({ write }) => (write === undefined ? [] : [write]));
        for (const { brand, write, outcome } of plans) {
          // Nothing left to write in a later round: the write of an earlier one did its work.
          if (write !== undefined || !outcomes.has(brand.id)) outcomes.set(brand.id, outcome);
        }
        const settled = await writeAll(records, writes);
        pending = settled ? [] : plans.flatMap(({ brand, write }) => (write === undefined ? [] : [brand]));
      }
      return brands.map(({ id }) => outcomes.get(id) ?? 'unchanged');
    },

    async prune(source, importId) {
      const importIdOf = `contributions.${source}.importId`;
      let pruned = 0;
      for (let contendedRounds = 0; contendedRounds < MAX_ROUNDS; ) {
        const left = await records
          .find(
            { [importIdOf]: { $exists: true, $ne: importId } },
            { limit: PRUNE_BATCH, batchSize: PRUNE_BATCH + 1, maxTimeMS: SCAN_MS },
          )
          .toArray();
        if (left.length === 0) return pruned;
        const taken = await takeBack(records, source, left);
        pruned += taken;
        if (taken < left.length) contendedRounds++;
      }
      throw contended();
    },

    async countBrands() {
      const [brands, sources] = await Promise.all([
        records.countDocuments({}, { maxTimeMS: SCAN_MS }),
        records
          .aggregate<{ _id: string; brands: number }>(
            [
              {
                $project: {
                  source: { $map: { input: { $objectToArray: '$contributions' }, in: '$$this.k' } },
                },
              },
              { $unwind: '$source' },
              { $group: { _id: '$source', brands: { $sum: 1 } } },
              { $sort: { _id: 1 } },
            ],
            { maxTimeMS: SCAN_MS },
          )
          .toArray(),
      ]);
      return { brands, sources: sources.map(({ _id, brands }) => ({ source: _id, brands })) };
    },
  };
}

/**
 * Where very many records share a name: the two best ranked of each key and strength. Resolution needs no others: rank,
 * then id, decide among equals, and it compares the best with the best of another record.
 */
async function bestIds(records: Collection<CatalogDoc>, keys: readonly string[]): Promise<string[]> {
  const wanted = { $match: { 'keys.key': { $in: [...keys] } } };
  const groups = await records
    .aggregate<{ best: string[] }>(
      [
        wanted,
        { $project: { rank: 1, 'keys.key': 1, 'keys.strength': 1 } },
        { $unwind: '$keys' },
        wanted,
        {
          $group: {
            _id: { key: '$keys.key', strength: '$keys.strength' },
            best: { $topN: { n: 2, sortBy: { rank: -1, _id: 1 }, output: '$_id' } },
          },
        },
      ],
      { maxTimeMS: LOOKUP_MS },
    )
    .toArray();
  return [...new Set(groups.flatMap(({ best }) => best))];
}

/** What makes `brand` the source's contribution to `found`, if it still is as it was found. */
function planPut(
  found: CatalogDoc | undefined,
  source: string,
  importId: string,
  brand: Brand,
): { outcome: PutOutcome; write?: AnyBulkWriteOperation<CatalogDoc> } {
  const contribution = { importId, brand: brandToDoc(brand) };
  const next = catalogDoc(brand.id, { ...found?.contributions, [source]: contribution });
  if (next.keys.length > MAX_KEYS) {
    const refused = `the record has ${next.keys.length} names, domains and tickers to be found by, with those of its other sources: ${MAX_KEYS} are allowed`;
    return { outcome: { refused } };
  }
  if (found === undefined) return { outcome: 'created', write: { insertOne: { document: next } } };
  const filter = { _id: found._id, hash: found.hash };
  if (next.hash === found.hash) {
    if (found.contributions[source]?.importId === importId) return { outcome: 'unchanged' };
    const update = { $set: { [`contributions.${source}.importId`]: importId } };
    return { outcome: 'unchanged', write: { updateOne: { filter, update } } };
  }
  const update = { $set: { [`contributions.${source}`]: contribution, ...derivedOf(next) } };
  return { outcome: 'changed', write: { updateOne: { filter, update } } };
}

/** Returns from how many of the records as found the contribution was taken. */
async function takeBack(
  records: Collection<CatalogDoc>,
  source: string,
  found: readonly CatalogDoc[],
): Promise<number> {
  const writes = found.map((doc): AnyBulkWriteOperation<CatalogDoc> => {
    const { [source]: left, ...contributions } = doc.contributions;
    const filter = { _id: doc._id, hash: doc.hash, [`contributions.${source}.importId`]: left?.importId };
    if (Object.keys(contributions).length === 0) return { deleteOne: { filter } };
    const derived = derivedOf(catalogDoc(doc._id, contributions));
    return { updateOne: { filter, update: { $unset: { [`contributions.${source}`]: '' }, $set: derived } } };
  });
  const { deletedCount, matchedCount } = await records.bulkWrite(writes, { ordered: false });
  return deletedCount + matchedCount;
}

function derivedOf({ brand, keys, rank, hash }: CatalogDoc) {
  return { brand, keys, rank, hash };
}

/** Whether every write met the record that it was planned for. */
async function writeAll(
  records: Collection<CatalogDoc>,
  writes: AnyBulkWriteOperation<CatalogDoc>[],
): Promise<boolean> {
  if (writes.length === 0) return true;
  try {
    const { insertedCount, matchedCount } = await records.bulkWrite(writes, { ordered: false });
    return insertedCount + matchedCount === writes.length;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    if ([error.writeErrors].flat().every(({ code }) => code === DUPLICATE_KEY)) return false;
    throw error;
  }
}

function contended(): Fault {
  return new Fault('unavailable', 'others change the same records at this moment: send it again');
}
