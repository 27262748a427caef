/** A calendar month in UTC, "YYYY-MM" (services/metering/README.md, "Quota"). */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** Clocks differ: by so much before and after a month its permits are given out, to those in whose time it is that month. */
export const MONTH_MARGIN_MS = 65_000;

/** Its first millisecond and the next month's, since 1970. */
export function boundsOfMonth(month: string): { startMs: number; endMs: number } {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { startMs: Date.UTC(year, number - 1, 1), endMs: Date.UTC(year, number, 1) };
}

export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text);
}
