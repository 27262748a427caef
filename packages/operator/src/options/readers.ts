import { isMonth } from '@brand-data/contracts';
import { InvalidArgumentError } from 'commander';

/** Reads a whole number from 1 of the command line. */
export function readCount(value: string): number {
  const count = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (count < 1) throw new InvalidArgumentError('Write a whole number from 1.');
  return count;
}

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration of the command line such as 30m, 24h or 7d, in milliseconds. */
export function readDuration(value: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(value) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs === undefined) throw new InvalidArgumentError('Write minutes, hours or days: 30m, 24h or 7d.');
  return Number(count) * unitMs;
}

/** Reads a month of the command line, such as 2026-11. */
export function readMonth(value: string): string {
  if (!isMonth(value)) throw new InvalidArgumentError('Write YYYY-MM.');
  return value;
}

/** Reads a time of the command line, as milliseconds since 1970. */
export function readTime(value: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(value)
    ? Date.parse(value)
    : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ.');
  return ms;
}

/** Collects the values of an option that may be repeated. */
export function collected(value: string, values: string[] = []): string[] {
  return [...values, value];
}
