import { crc32 } from 'node:zlib';
import { type Brand, BrandType } from '@brand-data/contracts';
import {
  type BrandKey,
  coreName,
  IDENTIFIER_KINDS,
  type IdentifierKind,
  isBareTickerKey,
  kindOf,
  leadingKeysToRead,
  legalFormOf,
  namesOfBrand,
  normalName,
  type Reading,
  type ReadOptions,
  readIdentifier,
  readNamesWithCodes,
  type Strength,
  soundKeys,
} from '@brand-data/identifiers';

/**
 * Returns the entries of a key in the index. An exact key is its own entry. The entry of a weaker key ends in a mark that no key
 * contains. A name without its legal form has a second entry, with the form after the mark, because the form decides before rank
 * does. All records of one entry therefore match equally well, and the index holds them in order of precedence.
 */
export function indexKeysOf({ key, strength, value }: Omit<BrandKey, 'kind'>): string[] {
  const entry = key + MARKS[strength];
  return strength === 'legal_form' ? [entry, entry + legalFormOf(value)] : [entry];
}

/** Returns the index entries to look up for an identifier, each once. */
export function indexKeysToRead(identifier: string, options: ReadOptions): string[] {
  const entries = [
    ...entriesToRead(identifier, readIdentifier(identifier, options)),
    ...readNamesWithCodes(identifier, options.kind).flatMap(({ name, nameReadings, code, codeReadings }) => [
      ...entriesToRead(name, nameReadings),
      ...entriesToRead(code, codeReadings),
    ]),
  ];
  return [...new Set(entries)];
}

/** Returns the index entries by which names that begin with the identifier are found, if nothing else has it. */
export function leadingEntriesToRead(identifier: string, options: ReadOptions): string[] {
  return leadingKeysToRead(identifier, options).map(({ key }) => key + MARKS.leading_words);
}

function entriesToRead(text: string, readings: readonly Reading[]): string[] {
  const form = readings.some(({ kind }) => isOfName(kind)) ? legalFormOf(text) : '';
  const ofForm = form === '' ? [] : [MARKS.legal_form + form];
  return readings.flatMap((reading) => marksToRead(reading, ofForm).map((mark) => reading.key + mark));
}

function marksToRead({ key, kind, strength }: Reading, ofForm: readonly string[]): string[] {
  if (kind === 'ticker') return isBareTickerKey(key) ? [MARKS.exact, MARKS.former] : [MARKS.exact];
  if (!isOfName(kind)) return [MARKS.exact];
  const current = [MARKS.exact, MARKS.legal_form];
  if (kind === 'superinvestor') return [...current, ...ofForm];
  if (strength === 'spacing') return [...current, MARKS.group_word, MARKS.spacing];
  // A name without its spaces is one word.
  const ofSpacing = key.includes(' ') ? [] : [MARKS.spacing];
  return [...current, MARKS.former, MARKS.group_word, MARKS.site_name, ...ofSpacing, ...ofForm];
}

function isOfName(kind: IdentifierKind): boolean {
  return kind === 'name' || kind === 'superinvestor';
}

/** Returns the key that an entry stands for. Its `value` is empty, because the index does not hold the record's own value. */
export function keyFromIndex(entry: string): BrandKey {
  const kind = entry.slice(0, entry.indexOf(':')) as IdentifierKind;
  const [, key = entry, mark = '', form = ''] = MARKED.exec(entry) ?? [];
  const strength = STRENGTH_OF_MARK.get(mark) ?? 'exact';
  return { key, kind, strength, value: '', ...(form === '' ? {} : { form }) };
}

/** Returns the entry of the same name without its legal form, whatever that is. */
export function withoutLegalForm(entry: string): string {
  return keyFromIndex(entry).key + MARKS.legal_form;
}

/** Checks whether the entry is a whole current name, or a current name's legal form. */
export function isCurrentName(entry: string): boolean {
  return entry.startsWith('name:') && !/[\^%#=]|~$/.test(entry);
}

/** Normal forms of names contain only letters, digits and spaces, and tickers do not contain these signs. */
const MARKS: Record<Strength, string> = {
  exact: '',
  legal_form: '~',
  former: '^',
  group_word: '%',
  site_name: '#',
  spacing: '=',
  // An earlier version that reads this entry takes it for that of a group word.
  leading_words: '%+',
};
const MARKED = /^((?:name|superinvestor|ticker):[^~^%#=]*)(%\+|[~^%#=])(.*)$/s;
const STRENGTH_OF_MARK = new Map(
  Object.entries(MARKS).map(([strength, mark]) => [mark, strength as Strength] as const),
);

/** The kinds of keys that look-ups read. Other keys link source records, or find suggestions. */
const LOOKED_UP: ReadonlySet<string> = new Set(IDENTIFIER_KINDS);

export function isLookedUp(entry: string): boolean {
  return LOOKED_UP.has(kindOf(entry));
}

/**
 * Returns hashes of the keys that the index entries stand for, each once, without the strengths of matches. If a change of records
 * can change the answer to an identifier, then the hashes of the records and of the identifier have one in common, because an
 * answer depends only on the records that have one of the identifier's entries.
 *
 * Gateways compare hashes from all replicas and versions of catalog, so how they are made must never change.
 */
export function changeKeysOf(entries: Iterable<string>): number[] {
  const keys = new Set<number>();
  for (const entry of entries) if (isLookedUp(entry)) keys.add(crc32(keyFromIndex(entry).key));
  return [...keys];
}

/**
 * From this rank on, people know a company by the first word of its name too, and its other names are indexed as well. Below it,
 * a record has one entry in place of two, because every entry makes imports slower and callers hardly ever misspell these names.
 */
export const WELL_KNOWN = 700;
const MOST_NAMES = 8;
export const SHORTEST_WORD = 4;
/** Words by which people know no company. */
export const SAYS_NOTHING = /^(?:gr(?:uppo|ou?pe?|upo?)|holdings?|company|companhia|compagnie)$/;
/** Marks the entries of superinvestors. Look-ups without superinvestors do not read them. */
export const INVESTOR = '@';

/** Returns the index entries by which misspelt names find a record: two for each name, or one if the record is little known. */
export function similarityEntriesOf(brand: Brand): string[] {
  if (brand.type === BrandType.SUPERINVESTOR)
    return entriesOfNames(namesOfInvestor(namesOfBrand(brand).current)).map((entry) => INVESTOR + entry);
  const [displayed = '', ...others] = namesOfBrand(brand).current.slice(0, MOST_NAMES);
  const name = coreName(displayed);
  if (brand.rank < WELL_KNOWN) return soundKeys(name).slice(0, 1);
  const names = [name, firstWord(name), ...others.map(coreName)];
  return entriesOfNames(names.filter((one) => one !== '').slice(0, MOST_NAMES));
}

function namesOfInvestor(names: readonly string[]): string[] {
  const all = names.slice(0, MOST_NAMES).map(normalName);
  return [lastWord(all[0] ?? ''), ...all].filter((one) => one !== '').slice(0, MOST_NAMES);
}

function entriesOfNames(names: readonly string[]): string[] {
  return [...new Set(names.flatMap(soundKeys))];
}

export function firstWord(name: string): string {
  const [word = ''] = name.split(' ');
  return word.length < SHORTEST_WORD || SAYS_NOTHING.test(word) ? '' : word;
}

export function lastWord(name: string): string {
  const word = name.split(' ').at(-1) ?? '';
  return word.length < SHORTEST_WORD ? '' : word;
}
