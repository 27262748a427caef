import { addMonths, isMonth, MONTHS_KEPT, monthOf } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';

/**
 * Returns the month that a page is asked for, by default the current one. Throws a Fault if the text is not a month, or the month
 * has not begun.
 */
export function monthAskedFor(query: URLSearchParams): string {
  const current = monthOf(Date.now());
  const month = query.get('month') || current;
  if (!isMonth(month)) throw new Fault('invalid_argument', 'A month is YYYY-MM, for example 2026-11.');
  if (month > current)
    throw new Fault('invalid_argument', `The month ${month} has not begun, so it has no usage.`);
  return month;
}

/** Returns the months that metering keeps, the current one first. */
export function monthsKept(): string[] {
  const current = monthOf(Date.now());
  return Array.from({ length: MONTHS_KEPT }, (_, ago) => addMonths(current, -ago));
}

/** Returns a relative URL with those parameters that are not empty. */
export function urlOf(path: string, parameters: Readonly<Record<string, string | number>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '');
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return given.length === 0 ? path : `${path}?${query}`;
}

export function accountUrl(id: string, month: string): string {
  return urlOf(`/accounts/${encodeURIComponent(id)}`, { month });
}
