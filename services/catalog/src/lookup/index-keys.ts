import {
  type BrandKey,
  type Kind,
  legalFormOf,
  readIdentifier,
  type Strength,
} from '@brand-data/identifiers';

/**
 * A key as it stands in the index: the key of an exact match, and with a mark behind it that no key has, a weaker one's. A
 * name without its legal form stands there once more, with the form behind the mark, which decides among equals. So the
 * records of one entry match equally well, and the index has them in order of precedence: by rank, then id.
 */
export function indexKeysOf({
  key,
  strength,
  value,
}: Pick<BrandKey, 'key' | 'strength' | 'value'>): string[] {
  const entry = key + MARKS[strength];
  return strength === 'legal_form' ? [entry, entry + legalFormOf(value)] : [entry];
}

/** The entries of the index to look at for an identifier. */
export function indexKeysToRead(identifier: string, options: { superinvestors: boolean }): string[] {
  const form = legalFormOf(identifier);
  const ofForm = form === '' ? [] : [MARKS.legal_form + form];
  return readIdentifier(identifier, options).flatMap(({ key, kind }) => {
    if (kind !== 'name' && kind !== 'superinvestor') return [key];
    const ofFormer = kind === 'name' ? [MARKS.former] : [];
    return [MARKS.exact, MARKS.legal_form, ...ofFormer, ...ofForm].map((mark) => key + mark);
  });
}

/** The key that an entry stands for, but for the record's own value. */
export function keyFromIndex(entry: string): BrandKey {
  const kind = entry.slice(0, entry.indexOf(':')) as Kind;
  const [, key = entry, mark = '', form = ''] = MARKED.exec(entry) ?? [];
  const strength = STRENGTH_OF_MARK.get(mark) ?? 'exact';
  return { key, kind, strength, value: '', ...(form === '' ? {} : { form }) };
}

/** Normal forms of names hold letters, figures and spaces only. */
const MARKS: Record<Strength, string> = { exact: '', legal_form: '~', former: '^' };
const MARKED = /^((?:name|superinvestor):[^~^]*)([~^])(.*)$/s;
const STRENGTH_OF_MARK = new Map<string, Strength>([
  [MARKS.legal_form, 'legal_form'],
  [MARKS.former, 'former'],
]);
