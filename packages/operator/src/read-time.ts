import { InvalidArgumentError } from 'commander';

/** Reads a time of the command line, as milliseconds since 1970. */
export function readTime(value: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(value)
    ? Date.parse(value)
    : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ.');
  return ms;
}
