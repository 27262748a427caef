import KNOWN_COLUMNS from './known-columns.json' with { type: 'json' };

/** The names of columns from which a mapping is proposed, by field. If a table has several of a field, the first one here gives it. */
export const KNOWN_HEADINGS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(KNOWN_COLUMNS).map(([field, names]) => [field, names.map(headingKey)]),
);

/** Returns the letters and digits of a column's name. Two names with the same ones mean the same: "% Change", "pct_change". */
export function headingKey(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('%', 'pct')
    .replace(/percent(?:age)?/g, 'pct')
    .replace(/[^\p{L}\p{N}]/gu, '');
}
