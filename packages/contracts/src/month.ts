/**
 * Calendar months in UTC, such as "2026-11". A call belongs to the month in which a gateway admitted it
 * (services/metering/README.md, "Quota").
 */

/** The month of the last question. Nearly every question is about the current month, and some are asked in each call. */
let known = { month: '', startMs: 0, endMs: 0 };

/** @param atMs milliseconds since 1970 */
export function monthOf(atMs: number): string {
  const isKnown = known.startMs <= atMs && atMs < known.endMs;
  if (!isKnown) {
    const month = new Date(atMs).toISOString().slice(0, 7);
    known = { month, ...computedBounds(month) };
  }
  return known.month;
}

const DAY_MS = 86_400_000;
let knownDay = { number: Number.NaN, day: '' };

/** Returns the day in UTC, such as "2026-11-22". */
export function dayOf(atMs: number): string {
  const number = Math.floor(atMs / DAY_MS);
  if (number !== knownDay.number) knownDay = { number, day: new Date(atMs).toISOString().slice(0, 10) };
  return knownDay.day;
}

export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text);
}

/** Returns the first millisecond of the month and of the next month, since 1970. */
export function boundsOfMonth(month: string): { startMs: number; endMs: number } {
  return month === known.month ? known : computedBounds(month);
}

function computedBounds(month: string): { startMs: number; endMs: number } {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { startMs: Date.UTC(year, number - 1, 1), endMs: Date.UTC(year, number, 1) };
}

/** Returns the month that is `months` months later, or earlier if `months` is negative. */
export function addMonths(month: string, months: number): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return monthOf(Date.UTC(year, number - 1 + months, 1));
}
