import type { BrandKey } from '@brand-data/identifiers';
import type { Collection, Document } from 'mongodb';
import type { CatalogDoc } from './catalog-doc.ts';
import { keyFromIndex } from './index-keys.ts';

const LOOKUP_MS = 1_500;

/** A record that has a key that was looked for. */
export interface Candidate {
  readonly id: string;
  readonly rank: number;
  /** Those of its entries that were looked for, */
  readonly entries: readonly string[];
  /** and what they stand for. */
  readonly keys: readonly BrandKey[];
  /** A Brand. */
  readonly bytes: Uint8Array;
}

type CandidateDoc = Pick<CatalogDoc, '_id' | 'rank' | 'keys' | 'brand'>;

const FIELDS = { rank: 1, keys: 1, brand: 1 } as const;

/**
 * The records that have an entry of the index, in one query. Where so many share entries that they are not worth
 * fetching, the best `perEntry` of each entry, by rank and then id, in one more; no others can be meant.
 */
export async function findCandidates(
  companies: Collection<CatalogDoc>,
  entries: readonly string[],
  { perEntry = 2 }: { perEntry?: number } = {},
): Promise<Candidate[]> {
  if (entries.length === 0) return [];
  const limit = mostCandidates(entries.length) + 1;
  const options = { projection: FIELDS, limit, batchSize: limit, maxTimeMS: LOOKUP_MS };
  const found: CandidateDoc[] = await companies.find(havingAny(entries), options).toArray();
  const wanted = new Set(entries);
  const candidates = found.length < limit ? found : await findBest(companies, entries, perEntry);
  return candidates.map(({ _id, rank, keys, brand }) => {
    const matched = keys.filter((key) => wanted.has(key));
    return { id: _id, rank, entries: matched, keys: matched.map(keyFromIndex), bytes: brand };
  });
}

/** What the one query asks for. */
export function havingAny(entries: readonly string[]) {
  return { keys: { $in: [...entries] } };
}

/** What is asked for where very many share entries: of each entry the best, read off the index and no further. */
export function bestOfEach(entries: readonly string[], perEntry: number, collection: string): Document[] {
  return [
    { $documents: entries.map((entry) => ({ entry })) },
    {
      $lookup: {
        from: collection,
        localField: 'entry',
        foreignField: 'keys',
        pipeline: [{ $sort: { rank: -1, _id: 1 } }, { $limit: perEntry }, { $project: FIELDS }],
        as: 'best',
      },
    },
    { $unwind: '$best' },
    { $replaceRoot: { newRoot: '$best' } },
  ];
}

/** Far more than identifiers commonly have. */
function mostCandidates(entries: number): number {
  return 64 + entries;
}

async function findBest(
  companies: Collection<CatalogDoc>,
  entries: readonly string[],
  perEntry: number,
): Promise<CandidateDoc[]> {
  const pipeline = bestOfEach(entries, perEntry, companies.collectionName);
  const best = await companies.db
    .aggregate<CandidateDoc>(pipeline, { maxTimeMS: LOOKUP_MS, promoteBuffers: true })
    .toArray();
  return [...new Map(best.map((doc) => [doc._id, doc])).values()];
}
