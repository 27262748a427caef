/** Compares by code units, so that the order is the same on every machine, whatever its locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What decides between two records that an identifier fits equally well. */
export interface Ranked {
  readonly id: string;
  /** A whole number. */
  readonly rank: number;
  /**
   * From 0 to below 1. It decides between equal ranks, so that the answer does not depend on ids, which depend on the order of
   * imports.
   */
  readonly tieBreak?: number | undefined;
}

/** Orders by rank, then tie-break, then id: the highest rank and tie-break first, then the smallest id. */
export function compareRanked(a: Ranked, b: Ranked): number {
  return b.rank - a.rank || (b.tieBreak ?? 0) - (a.tieBreak ?? 0) || compareTexts(a.id, b.id);
}
