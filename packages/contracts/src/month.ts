/**
 * Calendar months in UTC, such as "2026-11". A call belongs to the month in which a gateway admitted it
 * (services/metering/README.md, "Quota").
 */

/** @param atMs milliseconds since 1970 */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text);
}

/** The first millisecond of the month and of the next month, since 1970. */
export function boundsOfMonth(month: string): { startMs: number; endMs: number } {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { startMs: Date.UTC(year, number - 1, 1), endMs: Date.UTC(year, number, 1) };
}

/** The month that is `months` months later, or earlier if `months` is negative. */
export function addMonths(month: string, months: number): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return monthOf(Date.UTC(year, number - 1 + months, 1));
}
