import type { LookupQuery } from '@brand-data/contracts';
import {
  compareRanked,
  coreName,
  flawOf,
  isFirstWordOfMany,
  isTooLongForName,
  readWebHost,
  resolve,
  soundKeysToRead,
  spellingDistance,
} from '@brand-data/identifiers';
import {
  firstWord,
  INVESTOR,
  indexKeysOf,
  indexKeysToRead,
  keyFromIndex,
  lastWord,
  SAYS_NOTHING,
  SHORTEST_WORD,
  WELL_KNOWN,
} from '../records/index-keys.ts';

/** From this rank on, a company may be suggested because the text begins or ends with its name. */
const FAMOUS = 760;
const MOST_ENTRIES = 40;
/** How many of a record's names the text is compared with. The displayed name is the first. */
const MOST_COMPARED = 40;
const MOST_LETTERS = 60;
const SHORTEST_MISSPELT = 5;
/** A record that the caller probably meant comes before all other suggestions. */
const COST_OF_MEANT = -10;
/** A record whose name is only a part of the text comes after one that differs by so many letters. */
const COST_OF_PHRASE = 1.5;
/** How many letters of a text's first word may differ. "Bayern Munich" is not Bayer, whose name differs by a whole letter. */
const MOST_OF_START = 0.5;
/** A company comes before the superinvestor who runs it. */
const HANDICAP_OF_INVESTOR = 0.5;
/** This many points of rank make up for one letter that differs. */
const POINTS_OF_LETTER = 600;
const VOWELS = /[aeiouyаеёиоуыэюя]/g;
const OF_INVESTOR = 'superinvestor:';

/** A record that may be suggested. */
export interface SimilarRecord {
  readonly id: string;
  readonly rank: number;
  /** All its index entries. */
  readonly keys: readonly string[];
}

/** The names to compare records with, and the at most 40 index entries that find the records. */
export type SimilarityQuery = NonNullable<ReturnType<typeof similarityQuery>>;

/** Reads an identifier that resolved to nothing. Undefined if the query gets no suggestions. */
export function similarityQuery({
  identifier,
  superinvestors,
}: Pick<LookupQuery, 'identifier' | 'superinvestors'>) {
  const flaw = flawOf(identifier);
  // Identifiers that the caller may have meant.
  const instead = (flaw?.instead ?? []).filter((one) => one !== identifier).slice(0, 2);
  const text = spelledText(flaw === undefined ? labelOf(identifier) : (instead[0] ?? ''));
  const phrases = phrasesOf(text);
  const start = startOf(text);
  const sounds = soundKeysToRead(text);
  const all = [
    ...(superinvestors || flaw?.isSecret ? [] : investorEntries(identifier)),
    ...instead.flatMap((one) => indexKeysToRead(one, { superinvestors })),
    ...sounds,
    ...(superinvestors ? sounds.map((key) => INVESTOR + key) : []),
    ...phrases.flatMap(entriesOfPhrase),
    ...soundKeysToRead(start),
  ];
  const entries = [...new Set(all)].slice(0, MOST_ENTRIES);
  if (entries.length === 0) return undefined;
  return { identifier, superinvestors, entries, text, phrases, start, instead };
}

/** "apple" for "https://www.apple.com/", and other texts as they are. */
function labelOf(identifier: string): string {
  return readWebHost(identifier)?.domain.split('.')[0] ?? identifier;
}

/** Returns the normal form without the legal form. '' if no record is to be found by its spelling. */
function spelledText(written: string): string {
  const text = isTooLongForName(written) ? '' : coreName(written);
  const says = text.length <= MOST_LETTERS && !SAYS_NOTHING.test(text) && !isFirstWordOfMany(text);
  return says ? text : '';
}

function investorEntries(identifier: string): string[] {
  return indexKeysToRead(identifier, { superinvestors: true }).filter((entry) =>
    entry.startsWith(OF_INVESTOR),
  );
}

/** Checks whether the identifier of a query without superinvestors is one's name. */
export function namesSuperinvestor(
  { identifier, superinvestors }: SimilarityQuery,
  records: readonly SimilarRecord[],
): boolean {
  if (superinvestors || records.length === 0) return false;
  const wanted = new Set(investorEntries(identifier));
  return records.some(({ keys }) => keys.some((key) => wanted.has(key)));
}

function entriesOfPhrase(phrase: string): string[] {
  return (['exact', 'legal_form'] as const).flatMap((strength) =>
    indexKeysOf({ key: `name:${phrase}`, strength, value: '' }),
  );
}

/** Returns the text's first word, and of three words or more also the last, and all but the last or the first: "Times Square" is not Square. */
function phrasesOf(text: string): string[] {
  const words = text.split(' ');
  if (words.length < 2) return [];
  const ends = words.length < 3 ? [] : [words.slice(-1), words.slice(0, -1), words.slice(1)];
  const parts = [words.slice(0, 1), ...ends];
  return [...new Set(parts.map((part) => part.join(' ')))].filter(({ length }) => length >= SHORTEST_WORD);
}

/** Returns the first of several words. '' if it is too short to be recognised when it is misspelt. */
function startOf(text: string): string {
  const [word = '', ...others] = text.split(' ');
  return others.length === 0 || word.length < SHORTEST_MISSPELT ? '' : word;
}

/** Returns the records that are similar enough, best first. */
export function mostSimilar(query: SimilarityQuery, records: readonly SimilarRecord[]): SimilarRecord[] {
  const allowed = records.filter(({ keys }) => query.superinvestors || !isOfInvestor(keys));
  const meant = query.instead.map((identifier) => meantBy(identifier, query, allowed));
  return allowed
    .map((record) => ({ record, cost: meant.includes(record.id) ? COST_OF_MEANT : costOf(query, record) }))
    .filter(({ cost }) => cost < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.cost - b.cost || compareRanked(a.record, b.record))
    .map(({ record }) => record);
}

function meantBy(
  identifier: string,
  { superinvestors }: SimilarityQuery,
  records: readonly SimilarRecord[],
): string | undefined {
  const entries = new Set(indexKeysToRead(identifier, { superinvestors }));
  const candidates = records.map(({ id, rank, keys }) => ({
    id,
    rank,
    keys: keys.filter((key) => entries.has(key)).map(keyFromIndex),
  }));
  return resolve(identifier, candidates, { superinvestors })?.id;
}

function isOfInvestor(keys: readonly string[]): boolean {
  return keys.some((key) => key.startsWith(OF_INVESTOR));
}

/** Returns how unlikely it is that the text means the record: the difference in spelling, less for better known records. */
function costOf({ text, phrases, start }: SimilarityQuery, { rank, keys }: SimilarRecord): number {
  const all = keys.flatMap((key) => NAME.exec(key)?.[1] ?? []);
  const names = [...new Set(all)].slice(0, MOST_COMPARED);
  const shortNames = [
    ...(rank < WELL_KNOWN ? [] : names.map(firstWord)),
    ...(isOfInvestor(keys) ? names.map(lastWord) : []),
  ];
  const costs = [...names, ...new Set(shortNames)].map((name) => differenceOf(text, name, rank));
  if (rank >= FAMOUS)
    for (const name of names)
      if (phrases.includes(name) || differenceOf(start, name, rank) <= MOST_OF_START)
        costs.push(COST_OF_PHRASE);
  const handicap = isOfInvestor(keys) ? HANDICAP_OF_INVESTOR : 0;
  return Math.min(...costs) + handicap - rank / POINTS_OF_LETTER;
}

/** An entry of a whole current name with its spaces, and its normal form. Leading words have the mark "%+". */
const NAME = /^(?:name|superinvestor):([^~^%=]+)(?:[~%](?!\+)[^^=]*)?$/;

/** Returns how many letters differ, "and" aside. Infinity if too many do, in the whole text or in one of its words. */
function differenceOf(text: string, name: string, rank: number): number {
  const [words, own] = [wordsOf(text), wordsOf(name)];
  const [joined, ownJoined] = [words.join(''), own.join('')];
  if (joined === '' || ownJoined === '') return Number.POSITIVE_INFINITY;
  const difference = distanceOf(joined, ownJoined, mostDistance(joined, ownJoined, rank));
  if (difference === 0 || difference === Number.POSITIVE_INFINITY) return difference;
  if (isOtherShortWord(joined, ownJoined, difference)) return Number.POSITIVE_INFINITY;
  const hasOtherWord =
    words.length === own.length
      ? words.length > 1 && words.some((word, index) => isOtherWord(word, own[index] ?? '', rank))
      : isPartOf(words, own) || isPartOf(own, words);
  return hasOtherWord ? Number.POSITIVE_INFINITY : difference;
}

/** Checks whether a word of four letters is more than misspelt: "vale" is not "valve", but "fedx" is "fedex" and "nkie" is "nike". */
function isOtherShortWord(a: string, b: string, difference: number): boolean {
  if (Math.min(a.length, b.length) > 4 || difference <= 0.5) return false;
  const [consonants, others] = [a, b].map((word) => [...word.replace(VOWELS, '')].sort().join(''));
  return consonants !== others;
}

/** Checks whether a text is another without some of its words, and so no misspelling: "holdings" and "nu holdings". */
function isPartOf(words: readonly string[], others: readonly string[]): boolean {
  return words.every((word) => others.includes(word));
}

function wordsOf(text: string): string[] {
  return text.split(' ').filter((word) => word !== 'and');
}

/** Checks whether the words differ too much to be one word, misspelt. People hardly ever mistype the first letter. */
function isOtherWord(a: string, b: string, rank: number): boolean {
  const most = a[0] === b[0] ? Math.min(a.length, b.length) / 2 : mostDistance(a, b, rank);
  return distanceOf(a, b, most) > most;
}

function distanceOf(a: string, b: string, most: number): number {
  return a === b ? 0 : spellingDistance(a, b, most);
}

/** Returns how many letters may differ: more in longer names, and in names that many people write. */
function mostDistance(a: string, b: string, rank: number): number {
  const letters = Math.min(a.length, b.length);
  const more = rank >= WELL_KNOWN ? 0.5 : 0;
  if (letters < 4) return 0;
  if (letters < 6) return 0.5 + more;
  if (letters < 8) return 1;
  return (letters < 12 ? 1.5 : 2.5) + more;
}
