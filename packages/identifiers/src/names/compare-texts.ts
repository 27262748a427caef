/** Compares by code units, so that the order is the same on every machine, whatever its locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
