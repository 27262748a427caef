/** Which number of 3/4/2026 is the day: the first (`dmy`) or the second (`mdy`). */
export type DateOrder = 'dmy' | 'mdy';

const YEAR_FIRST = /^(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?:[T ].*)?$/;
const YEAR_LAST = /^(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{2}|\d{4})(?: .*)?$/;
const DAY_NAMED = /^(\d{1,2})(?:st|nd|rd|th|\.)?[-/ ]([a-z]{3,9})\.?,?[-/ ](\d{2}|\d{4})$/i;
const MONTH_NAMED = /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/i;
/** Days since 30 December 1899, from 1927 to 2119. */
const SERIAL = /^[1-7]\d{4}(?:\.\d+)?$/;
const SERIAL_EPOCH = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;
const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);

/**
 * Reads a day: "2026-08-21", "20260821", "21.08.2026", "8/21/2026", "21-AUG-2026", "August 21, 2026", or the number of the day in
 * Excel. Before dots, the day comes first. Elsewhere a number above 12 is the day, or `order` decides. Returns YYYY-MM-DD, or why the
 * date cannot be read. Undefined if the text has none of these forms.
 */
export function readDate(text: string, order?: DateOrder): string | { problem: string } | undefined {
  if (SERIAL.test(text)) return isoOf(SERIAL_EPOCH + Math.floor(Number(text)) * DAY_MS);
  const [, firstYear, , month, day] = YEAR_FIRST.exec(text) ?? [];
  if (firstYear !== undefined) return dayOf(text, firstYear, Number(month), Number(day));
  const [, one = '', sign, other = '', lastYear] = YEAR_LAST.exec(text) ?? [];
  if (lastYear !== undefined) {
    const [a, b] = [Number(one), Number(other)];
    const isDayFirst = sign === '.' || (a > 12 ? b <= 12 : order === 'dmy' && b <= 12) || a === b;
    if (!isDayFirst && a <= 12 && b <= 12 && order === undefined)
      return { problem: `"${text}" is one of two days: write YYYY-MM-DD, or give --date-order dmy or mdy` };
    return isDayFirst ? dayOf(text, lastYear, b, a) : dayOf(text, lastYear, a, b);
  }
  const [, dayNumber, monthName = '', year = ''] = DAY_NAMED.exec(text) ?? [];
  if (dayNumber !== undefined) return dayOf(text, year, monthOf(monthName), Number(dayNumber));
  const [, name = '', number, yearAtEnd = ''] = MONTH_NAMED.exec(text) ?? [];
  return number === undefined ? undefined : dayOf(text, yearAtEnd, monthOf(name), Number(number));
}

function dayOf(text: string, year: string, month: number, day: number): string | { problem: string } {
  if (year.length < 4) return { problem: `"${text}" has a year of two digits: write YYYY-MM-DD` };
  const date = isoOf(Date.UTC(Number(year), month - 1, day));
  const written = [year, month, day].map((part) => String(part).padStart(2, '0')).join('-');
  return date === written ? date : { problem: `"${text}" is no day of the calendar: write YYYY-MM-DD` };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** From 1, by the name of a month or its beginning. 0 if it is none. */
function monthOf(name: string): number {
  return MONTHS.findIndex((month) => month.startsWith(name.toLowerCase())) + 1;
}
