/** Compares by code units, so that the order is the same on every machine, whatever its locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Orders by rank and then id: the highest rank first, then the smallest id. */
export function compareRanked(
  a: { readonly rank: number; readonly id: string },
  b: { readonly rank: number; readonly id: string },
): number {
  return b.rank - a.rank || compareTexts(a.id, b.id);
}
