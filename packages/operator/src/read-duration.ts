import { InvalidArgumentError } from 'commander';

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration of the command line such as 30m, 24h or 7d, in milliseconds. */
export function readDuration(value: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(value) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs === undefined) throw new InvalidArgumentError('Write minutes, hours or days: 30m, 24h or 7d.');
  return Number(count) * unitMs;
}
