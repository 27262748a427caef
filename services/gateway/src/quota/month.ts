/** The calendar month (UTC) of a moment, in ms since 1970: "2026-11". */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}
