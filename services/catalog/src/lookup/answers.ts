import { setImmediate as whenOthersHadTheirTurn } from 'node:timers/promises';
import {
  type Brand,
  type LookupQuery,
  type LookupResult,
  type Match,
  MatchKind,
  MatchStrength,
  type Meaning,
} from '@brand-data/contracts';
import {
  type BrandKey,
  type Candidate,
  CLEARLY_BETTER_KNOWN,
  compareTexts,
  IDENTIFIER_KINDS,
  type IdentifierKind,
  isTooLongForIdentifier,
  isWeak,
  keysOfBrand,
  LONGEST_IDENTIFIER,
  lookupRank,
  type NoCompany,
  noCompanyMeant,
  RANK_OF_LISTED,
  type ReadOptions,
  type Resolution,
  readNamesWithCodes,
  resolve,
  TOO_MANY_LED,
} from '@brand-data/identifiers';
import { Fault } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import type { Collection, Document } from 'mongodb';
import { append } from '../records/append.ts';
import { type CatalogDoc, isOtherSecurity } from '../records/catalog-doc.ts';
import {
  indexKeysToRead,
  isCurrentName,
  keyFromIndex,
  leadingEntriesToRead,
  withoutLegalForm,
} from '../records/index-keys.ts';
import { recordFromBytes } from '../records/merge.ts';

const MAX_QUERIES = 200;
/** The time for all queries of one search for candidates. A look-up makes a second search for leading words. */
const SEARCH_MS = 1_500;
/** Of how many queries the answers are found without a pause for other calls. */
const ANSWERED_AT_ONCE = 4;
/** How many of the best records of an entry a look-up needs. */
const BEST_OF_ENTRY = 2;
/** If more records than this share an index entry, it is a common entry. An example is a name that many companies have. */
const COMMON_ENTRY_RECORDS = 8;
/**
 * A query reads at most one record for each entry, and this many besides. If it finds them all, some of its entries have several records
 * and become common, so the next query for the same entries finds fewer. Little known companies are seldom in mongod's cache. It may
 * not be less than what makes an entry common.
 */
const MORE_CANDIDATES = COMMON_ENTRY_RECORDS;
/** Up to this many common entries are read, each by its own query, at the same time. One query for them all takes twice as long. */
const MOST_APART = 4;
/** How many common entries a process remembers. It forgets the least recently used first. */
const MAX_COMMON_ENTRIES = 10_000;
/** BEST_OF_ENTRY for a name with a ticker. The company that has both need not be one of the two best known with either. */
const BEST_OF_ENTRY_OF_BOTH = 20;

type Query = Pick<LookupQuery, 'identifier' | 'superinvestors' | 'kind'>;

const KINDS = new Map(IDENTIFIER_KINDS.map((kind) => [MatchKind[upperCase(kind)] as MatchKind, kind]));

/** A query with the index entries to look up for it. */
export interface ReadQuery extends Query {
  readonly options: ReadOptions;
  readonly entries: readonly string[];
}

/** Throws Fault `invalid_argument` for a batch that is empty or too long, and for an identifier that is too long. */
export function readQueries<Asked extends Query>(queries: readonly Asked[]): (Asked & ReadQuery)[] {
  if (queries.length === 0) throw new Fault('invalid_argument', 'the batch is empty: send 1 to 200 queries');
  if (queries.length > MAX_QUERIES)
    throw new Fault(
      'invalid_argument',
      `the batch has ${queries.length} queries: send ${MAX_QUERIES} at most`,
    );
  return queries.map((query, index) => {
    if (isTooLongForIdentifier(query.identifier))
      throw new Fault(
        'invalid_argument',
        `queries[${index}].identifier is longer than ${LONGEST_IDENTIFIER} characters`,
      );
    return readQuery(query);
  });
}

export function readQuery<Asked extends Query>(query: Asked): Asked & ReadQuery {
  const { identifier, superinvestors, kind } = query;
  const options = { superinvestors, kind: kind && KINDS.get(kind) };
  return { ...query, options, entries: indexKeysToRead(identifier, options) };
}

/** Returns how many of the best records of each entry the queries need. */
export function bestOfEntry(queries: readonly ReadQuery[]): number {
  const haveBoth = queries.some(
    ({ identifier, options }) => readNamesWithCodes(identifier, options.kind).length > 0,
  );
  return haveBoth ? BEST_OF_ENTRY_OF_BOTH : BEST_OF_ENTRY;
}

/** A record that has at least one of the entries of the look-up. */
export interface CandidateRecord extends Candidate {
  /** Those of the record's index entries that are in the look-up. */
  readonly entries: readonly string[];
  /** The keys that these entries stand for, and all keys of current names, because their legal forms count too. */
  readonly keys: readonly BrandKey[];
  readonly bytes: Uint8Array;
  readonly age: RecordAge;
}

/** When the record last changed, and the day of its price, as far as they are known. */
type RecordAge = Pick<LookupResult, 'changedAtMs' | 'priceDate'>;

type CandidateDoc = Pick<CatalogDoc, '_id' | 'rank' | 'keys' | 'brand' | 'changedAt' | 'priceDate'>;

const FIELDS = { rank: 1, keys: 1, brand: 1, changedAt: 1, priceDate: 1 } as const;
/** The order of the index of keys. The fraction of a rank tells records of equal rank apart. */
const BEST_FIRST = { rank: -1 } as const;

export type FindCandidates = ReturnType<typeof candidateFinder>;

/**
 * Returns a function that finds the records that have any of the entries: of each entry all records, or at least the best
 * `perEntry` by rank with its tie-break. An identifier cannot mean any further record. One query reads all records of most entries, and
 * at the same time others read only the best of the entries that the process remembers as common. If the first reaches its limit, the
 * process remembers the entries that several of the found records have, and asks again. If it reaches its limit again, one more query
 * reads the best records of every entry.
 */
export function candidateFinder(companies: Collection<CatalogDoc>) {
  const commonEntries = new LRUCache<string, true>({ max: MAX_COMMON_ENTRIES });

  /**
   * If the query has not found all, it may not have reached the name without its legal form, which is the most common entry. One more
   * query would.
   */
  function rememberCommon(
    entries: readonly string[],
    found: readonly CandidateDoc[],
    isWhole: boolean,
  ): void {
    const sharedByMoreThan = isWhole ? COMMON_ENTRY_RECORDS : 1;
    if (found.length <= sharedByMoreThan) return;
    const counts = new Map(entries.map((entry) => [entry, 0]));
    for (const key of found.flatMap(({ keys }) => keys)) {
      const count = counts.get(key);
      if (count !== undefined) counts.set(key, count + 1);
    }
    for (const [entry, count] of counts) {
      if (count <= sharedByMoreThan) continue;
      commonEntries.set(entry, true);
      const withoutForm = withoutLegalForm(entry);
      if (!isWhole && counts.has(withoutForm)) commonEntries.set(withoutForm, true);
    }
  }

  /** Returns undefined if the query for the entries that are not common reached its limit, so that it may not have found all. */
  async function findOnce(wanted: Wanted): Promise<CandidateDoc[] | undefined> {
    const { common = [], others = [] } = Object.groupBy(wanted.entries, (entry) =>
      commonEntries.get(entry) ? 'common' : 'others',
    );
    const [all, best] = await Promise.all([
      findAll(companies, { ...wanted, entries: others }),
      findBest(companies, { ...wanted, entries: common }),
    ]);
    const isWhole = all.length < mostOf(others);
    rememberCommon(others, all, isWhole);
    return isWhole ? [...all, ...best] : undefined;
  }

  return async (
    entries: readonly string[],
    { perEntry = BEST_OF_ENTRY }: { perEntry?: number } = {},
  ): Promise<CandidateRecord[]> => {
    const wanted: Wanted = { entries, perEntry, until: performance.now() + SEARCH_MS };
    const found =
      (await findOnce(wanted)) ?? (await findOnce(wanted)) ?? (await findBestOfEach(companies, wanted));
    const ofEntries = new Set(entries);
    // Several entries may have found a record.
    const docs = new Map(found.map((doc) => [doc._id, doc])).values();
    return Array.from(docs, (doc) => candidateFromDoc(doc, ofEntries));
  };
}

/** @param wanted the entries of the look-up */
export function candidateFromDoc(
  { _id, rank, keys, brand, changedAt, priceDate }: CandidateDoc,
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
    age: { changedAtMs: changedAt?.getTime(), priceDate },
  };
}

/** Returns the filter for all records that have any of the entries. */
export function havingAny(entries: readonly string[]) {
  return { keys: { $in: [...entries] } };
}

/** Returns the pipeline that reads only the best records of each entry. */
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
        pipeline: [{ $sort: BEST_FIRST }, { $limit: perEntry }, { $project: fields }],
        as: 'best',
      },
    },
    { $unwind: '$best' },
    { $replaceRoot: { newRoot: '$best' } },
  ];
}

interface Wanted {
  readonly entries: readonly string[];
  /** How many of the best records of each entry the search must find. */
  readonly perEntry: number;
  /** Until when the queries may run, by `performance.now()`. */
  readonly until: number;
}

/** Returns the option that ends a query in time. MongoDB reads 0 as no limit. */
const endedBy = (until: number) => ({ maxTimeMS: Math.max(1, Math.ceil(until - performance.now())) });

const mostOf = (entries: readonly string[]) => entries.length + MORE_CANDIDATES;

/** Finds the records that have any of the entries, each once and at most `mostOf`. */
async function findAll(
  companies: Collection<CatalogDoc>,
  { entries, until }: Wanted,
): Promise<CandidateDoc[]> {
  if (entries.length === 0) return [];
  const limit = mostOf(entries);
  const options = { projection: FIELDS, limit, batchSize: limit + 1, ...endedBy(until) };
  return companies.find(havingAny(entries), options).toArray();
}

/** Finds the best records of each entry, by several queries at once if the entries are few. A record may come once for each entry. */
async function findBest(companies: Collection<CatalogDoc>, wanted: Wanted): Promise<CandidateDoc[]> {
  const { entries, perEntry, until } = wanted;
  if (entries.length > MOST_APART) return findBestOfEach(companies, wanted);
  const options = {
    projection: FIELDS,
    sort: BEST_FIRST,
    limit: perEntry,
    batchSize: perEntry + 1,
    ...endedBy(until),
  };
  const found = await Promise.all(entries.map((entry) => companies.find({ keys: entry }, options).toArray()));
  return found.flat();
}

/** Finds the best records of each entry by one query. A record may come once for each entry. */
async function findBestOfEach(
  companies: Collection<CatalogDoc>,
  { entries, perEntry, until }: Wanted,
): Promise<CandidateDoc[]> {
  const pipeline = bestOfEach(entries, perEntry, companies.collectionName);
  return companies.db
    .aggregate<CandidateDoc>(pipeline, { promoteBuffers: true, ...endedBy(until) })
    .toArray();
}

export type CandidatesByEntry = ReadonlyMap<string, readonly CandidateRecord[]>;

/** Groups candidates by the index entries that found them. */
export function byEntry(candidates: readonly CandidateRecord[]): CandidatesByEntry {
  const found = new Map<string, CandidateRecord[]>();
  for (const candidate of candidates) for (const entry of candidate.entries) append(found, entry, candidate);
  return found;
}

/** What a query means: records, or what is no company. */
export interface Answer {
  /** The record that the query means, then the other records that it could mean, in order of precedence. */
  readonly meanings: readonly BrandMatch[];
  /** If the query means what is no company, it means no record. */
  readonly noCompany?: NoCompany;
}

interface BrandMatch extends RecordAge {
  readonly brand: Brand;
  readonly match: Match;
  readonly kind: IdentifierKind;
  readonly strength: Resolution['strength'];
}

/** Checks whether nothing at all is known by the query's identifier. */
export function isUnknown({ meanings, noCompany }: Answer): boolean {
  return meanings.length === 0 && noCompany === undefined;
}

/** Returns what the query means. At most `most` records. */
export function answerOf(
  { identifier, options, entries }: ReadQuery,
  candidates: CandidatesByEntry,
  most: number,
): Answer {
  const found = new Map(entries.flatMap((entry) => candidates.get(entry) ?? []).map((one) => [one.id, one]));
  const { companies = [], securities = [] } = Object.groupBy(found.values(), ({ id }) =>
    isOtherSecurity(id) ? 'securities' : 'companies',
  );
  const meant = meantAmong(identifier, companies, { ...options, most });
  const [security] = meantAmong(identifier, securities, { ...options, superinvestors: false, most: 1 });
  const noCompany = noCompanyMeant(identifier, meant[0], security, options);
  if (noCompany !== undefined) return { meanings: [], noCompany };
  const meanings = meant.map(({ brand, resolution, age }) => ({
    ...age,
    brand,
    kind: resolution.kind,
    strength: resolution.strength,
    // Made for those who read it. Searches and suggestions do not.
    get match() {
      return matchToProto(resolution, matchedValue(brand, resolution.keys));
    },
  }));
  return { meanings };
}

/**
 * Checks whether a query's text may be the leading words of a name: the query finds nothing, or only a little known company, and not
 * by its whole name. "Ross" is Ross Group without "Group", but may mean Ross Stores.
 */
export function mayLead(answer: Answer): boolean {
  const [first] = answer.meanings;
  if (first === undefined) return isUnknown(answer);
  const { kind, strength, brand } = first;
  const isPart = kind === 'name' && (strength === 'legal_form' || strength === 'former');
  return (isWeak(strength) || isPart) && lookupRank(brand) < RANK_OF_LISTED;
}

/**
 * Returns the answer with what the query means by leading words, which `leading` asks for, as its first meaning. A company that is
 * already found stays the first meaning unless the other one is clearly better known, and no superinvestor.
 */
export function withLeadingWords(
  answer: Answer,
  leading: ReadQuery,
  candidates: CandidatesByEntry,
  most: number,
): Answer {
  const [led] = answerOf(leading, candidates, 1).meanings;
  const [found] = answer.meanings;
  if (led === undefined) return answer;
  if (found !== undefined) {
    const lead = lookupRank(led.brand) - lookupRank(found.brand);
    if (led.kind === 'superinvestor' || lead < CLEARLY_BETTER_KNOWN) return answer;
  }
  const others = answer.meanings.filter(({ brand }) => brand.id !== led.brand.id);
  return { meanings: [led, ...others].slice(0, most) };
}

/**
 * Returns what each query means, at most `most` records. If a query finds nothing, or only a little known company and
 * not by its whole name, its text may be the leading words of a name. One more search for all such queries finds these names, so that other queries pay nothing for them.
 */
export async function findAnswers<Asked extends ReadQuery>(
  queries: readonly Asked[],
  findCandidates: FindCandidates,
  { perEntry, most }: { perEntry: number; most: number },
): Promise<{ query: Asked; answer: Answer }[]> {
  const entriesOf = (read: readonly ReadQuery[]) => [...new Set(read.flatMap(({ entries }) => entries))];
  const candidates = byEntry(await findCandidates(entriesOf(queries), { perEntry }));
  const answers: { query: Asked; answer: Answer }[] = [];
  for (const query of queries) {
    if (answers.length > 0 && answers.length % ANSWERED_AT_ONCE === 0) await whenOthersHadTheirTurn();
    answers.push({ query, answer: answerOf(query, candidates, most) });
  }
  const missed = answers.flatMap((each) =>
    mayLead(each.answer) ? [{ each, leading: leadingQuery(each.query) }] : [],
  );
  const wanted = entriesOf(missed.map(({ leading }) => leading));
  if (wanted.length === 0) return answers;
  const led = byEntry(await findCandidates(wanted, { perEntry: TOO_MANY_LED }));
  for (const { each, leading } of missed) each.answer = withLeadingWords(each.answer, leading, led, most);
  return answers;
}

/** Returns the query with the index entries of names that begin with its text. */
export function leadingQuery(query: ReadQuery): ReadQuery {
  return { ...query, entries: leadingEntriesToRead(query.identifier, query.options) };
}

function meantAmong(
  identifier: string,
  candidates: readonly CandidateRecord[],
  { most, ...options }: ReadOptions & { most: number },
): (Pick<CandidateRecord, 'age'> & { brand: Brand; resolution: Resolution })[] {
  const left = new Map(candidates.map((one) => [one.id, one]));
  const meant: ReturnType<typeof meantAmong> = [];
  while (meant.length < most && left.size > 0) {
    const resolution = resolve(identifier, [...left.values()], options);
    const candidate = left.get(resolution?.id ?? '');
    if (resolution === undefined || candidate === undefined) break;
    left.delete(candidate.id);
    meant.push({ brand: recordFromBytes(candidate.bytes), resolution, age: candidate.age });
  }
  return meant;
}

export function meaningToProto({ brand, match }: BrandMatch): Meaning {
  const { id, name, type, rank } = brand;
  return { id, name, type, rank, match };
}

/** Returns the value that matched, from the record, because the index holds none. '' if earlier keys found the record. */
function matchedValue(brand: Brand, keys: readonly string[]): string {
  const values = keysOfBrand(brand).flatMap(({ key, value }) => (keys.includes(key) ? [value] : []));
  return values.sort(compareTexts)[0] ?? '';
}

function matchToProto({ kind, strength }: Resolution, value: string): Match {
  const strengthName = strength === 'site_name' ? 'GROUP_WORD' : upperCase(strength);
  return { kind: MatchKind[upperCase(kind)], value, strength: MatchStrength[strengthName] };
}

function upperCase<Text extends string>(text: Text): Uppercase<Text> {
  return text.toUpperCase() as Uppercase<Text>;
}
