import type { BrandKey, Candidate } from '@brand-data/identifiers';
import type { Collection, Document } from 'mongodb';
import type { CatalogDoc } from '../records/catalog-doc.ts';
import { isCurrentName, keyFromIndex } from '../records/index-keys.ts';

const LOOKUP_MS = 1_500;
/** How many of the best records of an entry a look-up needs. */
export const BEST_OF_ENTRY = 2;
/** If more records than this share an index entry, it is a common entry. An example is a name that many companies have. */
const COMMON_ENTRY_RECORDS = 8;
/** With one record for each entry, far more records than entries have that are not common. */
const MORE_CANDIDATES = 65;
/** How many common entries a process remembers. It forgets the least recently used first. */
const MAX_COMMON_ENTRIES = 10_000;

/** A record that has at least one of the entries of the look-up. */
export interface CandidateRecord extends Candidate {
  /** Those of the record's index entries that are in the look-up. */
  readonly entries: readonly string[];
  /** The keys that these entries stand for, and all keys of current names, because their legal forms count too. */
  readonly keys: readonly BrandKey[];
  readonly bytes: Uint8Array;
}

type CandidateDoc = Pick<CatalogDoc, '_id' | 'rank' | 'keys' | 'brand'>;

const FIELDS = { rank: 1, keys: 1, brand: 1 } as const;

export type FindCandidates = ReturnType<typeof candidateFinder>;

/**
 * Returns a function that finds the records that have any of the entries: of each entry all records, or at least the best
 * `perEntry` by rank with its tie-break. An identifier cannot mean any further record. One query reads all records, and a second
 * one reads only the best of the entries that the process remembers as common. If the first query reaches its limit, some of its
 * entries are common too, and one more query reads the best records of each.
 */
export function candidateFinder(companies: Collection<CatalogDoc>) {
  // In order of use, the least recently used entry first.
  const commonEntries = new Set<string>();

  function isCommon(entry: string): boolean {
    if (!commonEntries.delete(entry)) return false;
    commonEntries.add(entry);
    return true;
  }

  function rememberCommon(entries: ReadonlySet<string>, found: readonly CandidateDoc[]): void {
    const counts = new Map<string, number>();
    for (const key of found.flatMap(({ keys }) => keys))
      if (entries.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
    for (const [entry, count] of counts) if (count > COMMON_ENTRY_RECORDS) commonEntries.add(entry);
    for (const entry of commonEntries) {
      if (commonEntries.size <= MAX_COMMON_ENTRIES) break;
      commonEntries.delete(entry);
    }
  }

  async function findAll(entries: readonly string[], perEntry: number): Promise<readonly CandidateDoc[]> {
    if (entries.length === 0) return [];
    const limit = entries.length + MORE_CANDIDATES;
    const options = { projection: FIELDS, limit, batchSize: limit, maxTimeMS: LOOKUP_MS };
    const found: CandidateDoc[] = await companies.find(havingAny(entries), options).toArray();
    if (found.length > COMMON_ENTRY_RECORDS) rememberCommon(new Set(entries), found);
    return found.length < limit ? found : findBest(companies, entries, perEntry);
  }

  return async (
    entries: readonly string[],
    { perEntry = BEST_OF_ENTRY }: { perEntry?: number } = {},
  ): Promise<CandidateRecord[]> => {
    const { common = [], others = [] } = Object.groupBy(entries, (entry) =>
      isCommon(entry) ? 'common' : 'others',
    );
    const found = await Promise.all([
      findAll(others, perEntry),
      common.length === 0 ? [] : findBest(companies, common, perEntry),
    ]);
    const wanted = new Set(entries);
    const docs = new Map(found.flat().map((doc) => [doc._id, doc]));
    return [...docs.values()].map((doc) => candidateFromDoc(doc, wanted));
  };
}

/** @param wanted the entries of the look-up */
export function candidateFromDoc(
  { _id, rank, keys, brand }: CandidateDoc,
  wanted: ReadonlySet<string>,
): CandidateRecord {
  const entries = keys.filter((key) => wanted.has(key));
  const whole = Math.floor(rank);
  return {
    id: _id,
    rank: whole,
    tieBreak: rank - whole,
    entries,
    keys: keys.filter((key) => wanted.has(key) || isCurrentName(key)).map(keyFromIndex),
    bytes: brand,
  };
}

/** Returns the filter of the first query. */
export function havingAny(entries: readonly string[]) {
  return { keys: { $in: [...entries] } };
}

/** Returns the pipeline that reads only the best records of each entry. Its sort is the order of the index. */
export function bestOfEach(
  entries: readonly string[],
  perEntry: number,
  collection: string,
  fields: Document = FIELDS,
): Document[] {
  return [
    { $documents: entries.map((entry) => ({ entry })) },
    {
      $lookup: {
        from: collection,
        localField: 'entry',
        foreignField: 'keys',
        pipeline: [{ $sort: { rank: -1, _id: 1 } }, { $limit: perEntry }, { $project: fields }],
        as: 'best',
      },
    },
    { $unwind: '$best' },
    { $replaceRoot: { newRoot: '$best' } },
  ];
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
