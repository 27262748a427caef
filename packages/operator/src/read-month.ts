import { isMonth } from '@brand-data/contracts';
import { InvalidArgumentError } from 'commander';

/** Reads a month of the command line, such as 2026-11. */
export function readMonth(value: string): string {
  if (!isMonth(value)) throw new InvalidArgumentError('Write YYYY-MM.');
  return value;
}
