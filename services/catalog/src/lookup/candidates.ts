import type { BrandKey } from '@brand-data/identifiers';
import type { Collection, Document } from 'mongodb';
import type { CatalogDoc } from '../storage/catalog-doc.ts';
import { keyFromIndex } from './index-keys.ts';

const LOOKUP_MS = 1_500;
/** An entry that more records share is a crowd's: a name that everybody has. */
const CROWD = 8;
/** Crowds that a process remembers, those that were asked for last. */
const MAX_CROWDS = 10_000;

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
 * The records that have one of some entries of the index: of each entry all of them, or the best `perEntry` at least, by
 * rank and then id; no others can be meant.
 */
export type FindCandidates = (
  entries: readonly string[],
  options?: { perEntry?: number },
) => Promise<Candidate[]>;

/**
 * Finds all that have the entries, in one query. Entries that are known to be crowds' are not among them: of each of these
 * the best are read off the index, in a query beside it. Where crowds that were not known come to light, and what was found
 * is not all, the best of every entry are read in one more.
 */
export function candidateFinder(companies: Collection<CatalogDoc>): FindCandidates {
  // In the order of their use.
  const crowds = new Set<string>();

  function isCrowd(entry: string): boolean {
    if (!crowds.delete(entry)) return false;
    crowds.add(entry);
    return true;
  }

  function learn(entries: ReadonlySet<string>, found: readonly CandidateDoc[]): void {
    const sharers = new Map<string, number>();
    for (const key of found.flatMap(({ keys }) => keys))
      if (entries.has(key)) sharers.set(key, (sharers.get(key) ?? 0) + 1);
    for (const [entry, count] of sharers) if (count > CROWD) crowds.add(entry);
    for (const entry of crowds) {
      if (crowds.size <= MAX_CROWDS) break;
      crowds.delete(entry);
    }
  }

  async function findAll(entries: readonly string[], perEntry: number): Promise<readonly CandidateDoc[]> {
    if (entries.length === 0) return [];
    const limit = mostCandidates(entries.length) + 1;
    const options = { projection: FIELDS, limit, batchSize: limit, maxTimeMS: LOOKUP_MS };
    const found: CandidateDoc[] = await companies.find(havingAny(entries), options).toArray();
    // Entries have a few sharers each, most of them none.
    if (found.length > CROWD) learn(new Set(entries), found);
    return found.length < limit ? found : findBest(companies, entries, perEntry);
  }

  return async (entries, { perEntry = 2 } = {}) => {
    const { crowded = [], others = [] } = Object.groupBy(entries, (entry) =>
      isCrowd(entry) ? 'crowded' : 'others',
    );
    const found = await Promise.all([
      findAll(others, perEntry),
      crowded.length === 0 ? [] : findBest(companies, crowded, perEntry),
    ]);
    const wanted = new Set(entries);
    return [...new Map(found.flat().map((doc) => [doc._id, doc])).values()].map(
      ({ _id, rank, keys, brand }) => {
        const matched = keys.filter((key) => wanted.has(key));
        return { id: _id, rank, entries: matched, keys: matched.map(keyFromIndex), bytes: brand };
      },
    );
  };
}

/** What the one query asks for. */
export function havingAny(entries: readonly string[]) {
  return { keys: { $in: [...entries] } };
}

/** What is asked for of crowds: of each entry the best, read off the index and no further. */
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
  return companies.db
    .aggregate<CandidateDoc>(pipeline, { maxTimeMS: LOOKUP_MS, promoteBuffers: true })
    .toArray();
}
