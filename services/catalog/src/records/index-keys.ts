import {
  type BrandKey,
  type IdentifierKind,
  isBareTickerKey,
  legalFormOf,
  type Reading,
  readIdentifier,
  readNamesWithCodes,
  type Strength,
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
export function indexKeysToRead(identifier: string, options: { superinvestors: boolean }): string[] {
  const entries = [
    ...entriesToRead(identifier, readIdentifier(identifier, options)),
    ...readNamesWithCodes(identifier).flatMap(({ name, nameReadings, code, codeReadings }) => [
      ...entriesToRead(name, nameReadings),
      ...entriesToRead(code, codeReadings),
    ]),
  ];
  return [...new Set(entries)];
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
};
const MARKED = /^((?:name|superinvestor|ticker):[^~^%#=]*)([~^%#=])(.*)$/s;
const STRENGTH_OF_MARK = new Map(
  Object.entries(MARKS).map(([strength, mark]) => [mark, strength as Strength] as const),
);
