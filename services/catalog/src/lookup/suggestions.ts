import type { LookupQuery, Suggestion } from '@brand-data/contracts';
import { compareRanked } from '@brand-data/identifiers';
import { answerWithin, type Service } from '@brand-data/runtime';
import type { Collection } from 'mongodb';
import { append } from '../records/append.ts';
import { type CatalogDoc, isOtherSecurity } from '../records/catalog-doc.ts';
import {
  answerOf,
  bestOfEach,
  byEntry,
  type CandidatesByEntry,
  type FindCandidates,
  type ReadQuery,
  readQuery,
} from './answers.ts';
import { mostSimilar, namesSuperinvestor, type SimilarRecord, similarityQuery } from './similar-names.ts';

const SUGGESTIONS = 3;
/** How many similar records are examined for each query. A few may turn out to have no identifier that leads to them alone. */
const EXAMINED = SUGGESTIONS + 1;
const MOST_QUERIES = 20;
/** How many batches get suggestions at once. A flood of misses must not slow down other look-ups. */
const MOST_AT_ONCE = 4;
/** How many records are read for one entry. The best known come first. */
export const RECORDS_OF_ENTRY = 8;
const SUGGEST_MS = 100;

/** The entry of a record's exact name. The first is its displayed name. */
const NAME = /^(?:name|superinvestor):([^~^%=]+)$/;

export interface Suggested {
  readonly suggestions: Suggestion[];
  readonly namesSuperinvestor: boolean;
}

export const NOTHING_SUGGESTED: Suggested = { suggestions: [], namesSuperinvestor: false };

export type FindSimilar = ReturnType<typeof similarFinder>;

/** Returns a function that finds the records that have any of the entries: the best of each entry. */
export function similarFinder(companies: Collection<CatalogDoc>, { withinMs = SUGGEST_MS } = {}) {
  return async (entries: readonly string[]): Promise<SimilarRecord[]> => {
    const pipeline = bestOfEach(entries, RECORDS_OF_ENTRY, companies.collectionName, { rank: 1, keys: 1 });
    const found = await companies.db
      .aggregate<Pick<CatalogDoc, '_id' | 'rank' | 'keys'>>(pipeline, { maxTimeMS: withinMs })
      .toArray();
    const records = found.map(({ _id, rank, keys }) => [_id, { id: _id, rank, keys }] as const);
    return [...new Map(records).values()];
  };
}

interface Finders {
  findSimilar: FindSimilar;
  findCandidates: FindCandidates;
}

/** Suggests records for queries that resolved to nothing, in the order of the queries. */
export type Suggest = (missed: readonly LookupQuery[]) => Promise<Suggested[]>;

/**
 * Returns a function that suggests records. One query finds similar records for the whole batch. A second one, an ordinary
 * look-up, finds which of their identifiers resolve to them. If that takes too long or fails, nothing is suggested.
 */
export function suggester(
  service: Pick<Service, 'log'>,
  { withinMs = SUGGEST_MS, ...finders }: Finders & { withinMs?: number },
): Suggest {
  let underWay = 0;
  return async (missed) => {
    const none = missed.map(() => NOTHING_SUGGESTED);
    if (missed.length === 0 || underWay >= MOST_AT_ONCE) return none;
    underWay += 1;
    const suggesting = suggest(missed.slice(0, MOST_QUERIES), finders).finally(() => {
      // A search goes on after its miss was answered, and still counts.
      underWay -= 1;
    });
    try {
      const detail = 'the suggestions took too long';
      const suggested = await answerWithin(suggesting, { withinMs, detail });
      return missed.map((_, index) => suggested[index] ?? NOTHING_SUGGESTED);
    } catch (err) {
      service.log.debug({ err }, 'a miss was answered without suggestions');
      return none;
    }
  };
}

/** Returns the suggestions for those of the queries that ask for them, or only for the first ones unless it may take longer. */
export async function suggestFor<Query extends LookupQuery>(
  suggest: Suggest,
  missed: readonly Query[],
  { all = false } = {},
): Promise<ReadonlyMap<Query, Suggested>> {
  const asking = missed.filter((query) => query.suggest);
  const suggested: Suggested[] = [];
  do suggested.push(...(await suggest(asking.slice(suggested.length, suggested.length + MOST_QUERIES))));
  while (all && suggested.length < asking.length);
  return new Map(asking.map((query, index) => [query, suggested[index] ?? NOTHING_SUGGESTED]));
}

async function suggest(
  missed: readonly LookupQuery[],
  { findSimilar, findCandidates }: Finders,
): Promise<Suggested[]> {
  const queries = missed.map(similarityQuery);
  const entries = [...new Set(queries.flatMap((query) => query?.entries ?? []))];
  if (entries.length === 0) return [];
  const ofEntry = recordsByEntry(await findSimilar(entries), new Set(entries));
  const guesses = queries.map((query, index) => {
    const { superinvestors = false, kind } = missed[index] ?? {};
    if (query === undefined) return { similar: [], namesSuperinvestor: false };
    const all = [...new Set(query.entries.flatMap((entry) => ofEntry.get(entry) ?? []))];
    const found = all.filter(({ id }) => !isOtherSecurity(id));
    const similar = withoutTwins(mostSimilar(query, found))
      .slice(0, EXAMINED)
      .map(({ id, keys }) => ({
        id,
        identifiers: identifiersOf(keys).map((identifier) => readQuery({ identifier, superinvestors, kind })),
      }));
    return { similar, namesSuperinvestor: namesSuperinvestor(query, found) };
  });
  const identifiers = guesses.flatMap(({ similar }) => similar.flatMap((each) => each.identifiers));
  const wanted = [...new Set(identifiers.flatMap((query) => query.entries))];
  const candidates = wanted.length === 0 ? new Map() : byEntry(await findCandidates(wanted));
  return guesses.map(({ similar, namesSuperinvestor }) => {
    const found = similar.flatMap(({ id, identifiers }) => suggestionOf(id, identifiers, candidates) ?? []);
    return { suggestions: found.slice(0, SUGGESTIONS), namesSuperinvestor };
  });
}

/** Returns the best records of each entry. Another query of the batch may have found further records of an entry. */
function recordsByEntry(
  records: readonly SimilarRecord[],
  entries: ReadonlySet<string>,
): ReadonlyMap<string, readonly SimilarRecord[]> {
  const ofEntry = new Map<string, SimilarRecord[]>();
  for (const record of records.toSorted(compareRanked))
    for (const key of record.keys)
      if (entries.has(key) && (ofEntry.get(key)?.length ?? 0) < RECORDS_OF_ENTRY)
        append(ofEntry, key, record);
  return ofEntry;
}

function withoutTwins(records: readonly SimilarRecord[]): SimilarRecord[] {
  const byName = Map.groupBy(records, ({ keys }) => keys.find((key) => NAME.test(key)) ?? '');
  return [...byName.values()].flatMap(([first]) => first ?? []);
}

/** Returns the two handiest identifiers that may resolve to the record: of its main ticker, its name, its domain and a listing. */
function identifiersOf(keys: readonly string[]): string[] {
  const first = (form: RegExp) => keys.map((key) => form.exec(key)).find((match) => match !== null);
  const [, listed, mic] = first(/^ticker:(.+)@(.{4})$/) ?? [];
  return [
    first(/^ticker:([^@^]+)$/)?.[1],
    first(NAME)?.[1],
    first(/^domain:(.+)$/)?.[1],
    listed === undefined ? undefined : `${mic}:${listed}`,
  ]
    .filter((identifier) => identifier !== undefined)
    .slice(0, 2);
}

function suggestionOf(
  id: string,
  identifiers: readonly ReadQuery[],
  candidates: CandidatesByEntry,
): Suggestion | undefined {
  const meansIt = (query: ReadQuery) => {
    const [meaning] = answerOf(query, candidates, 1).meanings;
    return meaning?.brand.id === id ? meaning.brand : undefined;
  };
  for (const query of identifiers) {
    const brand = meansIt(query);
    if (brand === undefined) continue;
    // The record's own spelling of the name is nicer. It is as good if the look-up read all its entries too.
    const named = readQuery({ ...query, identifier: brand.name });
    const isRead = named.entries.every((entry) => query.entries.includes(entry));
    return { name: brand.name, identifier: isRead && meansIt(named) ? brand.name : query.identifier };
  }
  return undefined;
}
