import type { BrandKey, Kind, Reading, Strength } from '@brand-data/identifiers';

/**
 * A key as it stands in the index: the key of an exact match, and with a mark behind it that no key has, a weaker one's.
 * So the records of one entry match equally strongly, and the index has them in order of precedence: by rank, then id.
 */
export function indexKeyOf({ key, strength }: Pick<BrandKey, 'key' | 'strength'>): string {
  return key + MARKS[strength];
}

/** The entries of the index to look at for a reading. */
export function indexKeysToRead({ key, kind }: Pick<Reading, 'key' | 'kind'>): string[] {
  return (STRENGTHS_OF[kind] ?? ONLY_EXACT).map((strength) => indexKeyOf({ key, strength }));
}

/** The key that an entry stands for, but for the record's own value. */
export function keyFromIndex(entry: string): BrandKey {
  const strength = STRENGTH_OF_MARK.get(entry.slice(-1)) ?? 'exact';
  const key = strength === 'exact' ? entry : entry.slice(0, -1);
  return { key, kind: key.slice(0, key.indexOf(':')) as Kind, strength, value: '' };
}

/** Normal forms of names hold letters, figures and spaces only. */
const MARKS: Record<Strength, string> = { exact: '', legal_form: '~', former: '^' };
const STRENGTH_OF_MARK = new Map<string, Strength>([
  [MARKS.legal_form, 'legal_form'],
  [MARKS.former, 'former'],
]);

const ONLY_EXACT: readonly Strength[] = ['exact'];
const STRENGTHS_OF: Partial<Record<Kind, readonly Strength[]>> = {
  name: ['exact', 'legal_form', 'former'],
  superinvestor: ['exact', 'legal_form'],
};
