import { type CallLimits, isMonth, monthOf } from '@brand-data/contracts';
import { InvalidArgumentError } from '@commander-js/extra-typings';

/**
 * Creates a reader of an option's value.
 *
 * @param advice what to write instead of a text that is not a value, for which `read` returns undefined
 */
export function reader<Value>(advice: string, read: (text: string) => Value | undefined) {
  return (text: string): Value => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(advice);
    return value;
  };
}

/** Creates a reader of whole numbers. */
export function wholeNumber(advice: string, least: number, most: number): (text: string) => number {
  return reader(advice, (text) => {
    const isNumber = /^\d+$/.test(text) && text.length <= String(most).length;
    return isNumber && Number(text) >= least && Number(text) <= most ? Number(text) : undefined;
  });
}

export const readCount = wholeNumber('Write a whole number from 1.', 1, 999_999_999);

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration such as 30m, 24h or 7d, in milliseconds. */
export const readDuration = reader('Write minutes, hours or days: 30m, 24h or 7d.', (text) => {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
});

/** Reads a month such as 2026-11. */
export function readMonth(text: string): string {
  if (!isMonth(text)) throw new InvalidArgumentError('Write YYYY-MM.');
  if (text > monthOf(Date.now())) throw new InvalidArgumentError('This month has not begun.');
  return text;
}

/** Reads a time, as milliseconds since 1970. */
export const readTime = reader('Write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ.', (text) => {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return undefined;
  const ms = Date.parse(text);
  // Date.parse takes 30 February for 2 March.
  const day = text.slice(0, 10);
  const isDay = !Number.isNaN(ms) && new Date(day).toISOString().startsWith(day);
  return isDay ? ms : undefined;
});

/** Collects the values of an option that may be repeated. */
export function collected(value: string, values: string[] = []): string[] {
  return [...values, value];
}

export const RATE_OPTION = '--rate <per-second[:burst]>';
export const CONCURRENCY_OPTION = '--concurrency <calls>';

/** Reads "50" or "50:100". Without a burst, as many calls may come at once as in a second. */
export const readRate = reader('Write calls a second, and a burst if it differs: 50 or 50:100.', (text) => {
  const [, perSecond, burst = perSecond] = /^(\d{1,7})(?::(\d{1,7}))?$/.exec(text) ?? [];
  return perSecond === undefined ? undefined : { perSecond: Number(perSecond), burst: Number(burst) };
});

export const readConcurrency = wholeNumber('Write a number of calls.', 0, 9_999_999);

/** Creates a reader that also takes "none". */
export function orNone<Value>(read: (text: string) => Value) {
  return (text: string): Value | 'none' => (text === 'none' ? text : read(text));
}

/** Returns the limits of the options --rate and --concurrency. Undefined without both. */
export function limitsOf({ rate, concurrency }: CallLimits): CallLimits | undefined {
  return rate === undefined && concurrency === undefined ? undefined : { rate, concurrency };
}

export function limitsToJson(limits: CallLimits | undefined) {
  const { rate, concurrency } = limits ?? {};
  return {
    rate: rate ? { per_second: rate.perSecond, burst: rate.burst } : null,
    concurrency: concurrency ?? null,
  };
}

/** "50 a second, 100 at once; 20 under way", or an empty text. */
export function limitsText(limits: CallLimits | undefined): string {
  const { rate, concurrency } = limits ?? {};
  return [
    ...(rate ? [`${rate.perSecond} a second, ${rate.burst} at once`] : []),
    ...(concurrency === undefined ? [] : [`${concurrency} under way`]),
  ].join('; ');
}
