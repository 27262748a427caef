import { InvalidArgumentError } from 'commander';

/** Reads a whole number from 1 of the command line. */
export function readCount(value: string): number {
  const count = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (count < 1) throw new InvalidArgumentError('Write a whole number from 1.');
  return count;
}
