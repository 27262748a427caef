import {
  type Brand,
  type LookupQuery,
  type Match,
  MatchKind,
  MatchStrength,
  type Meaning,
} from '@brand-data/contracts';
import {
  compareTexts,
  keysOfBrand,
  type Resolution,
  readNamesWithCodes,
  resolve,
} from '@brand-data/identifiers';
import { Fault } from '@brand-data/runtime';
import { append } from '../records/append.ts';
import { indexKeysToRead } from '../records/index-keys.ts';
import { recordFromBytes } from '../records/merge.ts';
import { BEST_OF_ENTRY, type CandidateRecord } from './candidates.ts';

const MAX_QUERIES = 200;
const MAX_IDENTIFIER = 256;
/** BEST_OF_ENTRY for a name with a ticker. The company that has both need not be one of the two best known with either. */
const BEST_OF_ENTRY_OF_BOTH = 20;

type Query = Pick<LookupQuery, 'identifier' | 'superinvestors'>;

/** A query with the index entries to look up for it. */
export interface ReadQuery extends Query {
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
    // A text has at least as many code units as code points, so the cheap check of `length` comes first.
    if (query.identifier.length > MAX_IDENTIFIER && [...query.identifier].length > MAX_IDENTIFIER)
      throw new Fault(
        'invalid_argument',
        `queries[${index}].identifier is longer than ${MAX_IDENTIFIER} characters`,
      );
    return readQuery(query);
  });
}

export function readQuery<Asked extends Query>(query: Asked): Asked & ReadQuery {
  const { identifier, superinvestors } = query;
  return { ...query, entries: indexKeysToRead(identifier, { superinvestors }) };
}

/** Returns how many of the best records of each entry the queries need. */
export function bestOfEntry(queries: readonly Query[]): number {
  const haveBoth = queries.some(({ identifier }) => readNamesWithCodes(identifier).length > 0);
  return haveBoth ? BEST_OF_ENTRY_OF_BOTH : BEST_OF_ENTRY;
}

export type CandidatesByEntry = ReadonlyMap<string, readonly CandidateRecord[]>;

/** Groups candidates by the index entries that found them. */
export function byEntry(candidates: readonly CandidateRecord[]): CandidatesByEntry {
  const found = new Map<string, CandidateRecord[]>();
  for (const candidate of candidates) for (const entry of candidate.entries) append(found, entry, candidate);
  return found;
}

/** Returns the record that the query means, then the other records that it could mean, in order of precedence. At most `most`. */
export function meaningsOf(
  { identifier, superinvestors, entries }: ReadQuery,
  candidates: CandidatesByEntry,
  most: number,
): { brand: Brand; match: Match }[] {
  const left = new Map(entries.flatMap((entry) => candidates.get(entry) ?? []).map((one) => [one.id, one]));
  const meanings: { brand: Brand; match: Match }[] = [];
  while (meanings.length < most) {
    const meant = resolve(identifier, [...left.values()], { superinvestors });
    const candidate = left.get(meant?.id ?? '');
    if (meant === undefined || candidate === undefined) break;
    left.delete(candidate.id);
    const brand = recordFromBytes(candidate.bytes);
    meanings.push({ brand, match: matchToProto(meant, matchedValue(brand, meant.keys)) });
  }
  return meanings;
}

export function meaningToProto({ brand, match }: { brand: Brand; match: Match }): Meaning {
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
