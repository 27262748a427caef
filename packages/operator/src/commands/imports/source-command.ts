import { getHeapStatistics } from 'node:v8';
import { type BytesRead, DEFAULT_MEMORY_MIB, type importBrands } from '@brand-data/importers';
import { problemOfSource } from '@brand-data/records';
import { type Command, InvalidArgumentError } from 'commander';
import type { Context } from '../../terminal/context.ts';

/** Adds a command for one kind of source, with the options that all imports have. */
export function sourceCommand(
  parent: Command,
  name: string,
  source: string | undefined,
  description: string,
): Command {
  const added = parent.command(name).description(description);
  const about = 'give the source this name; a later import of the same source replaces its records';
  if (source === undefined) added.requiredOption('--source <name>', about, readSource);
  else added.option('--source <name>', about, readSource, source);
  return added
    .option('--dry-run', 'report what would change, without changing the catalogue')
    .option(
      '--prune',
      'remove records that earlier imports of this source brought and this import lacks; not if any record is refused',
    )
    .option(
      '--rejects <file>',
      'write refused and skipped lines to this file (default: <source>.rejects.ndjson)',
    )
    .option(
      '--conflicts <file>',
      'write conflicts between identifiers to this file (default: <source>.conflicts.ndjson)',
    );
}

/** Options that state where facts come from. */
export interface StatedOptions {
  origin?: string;
  url?: string;
  licence?: string;
  date?: string;
}

export interface MemoryOption {
  memory: number;
}

/** An import needs a part of the heap for itself. */
const MOST_OF_HEAP = 0.6;

export function noBytes(): BytesRead {
  return { read: 0, total: 0 };
}

function readSource(value: string): string {
  const problem = problemOfSource(value);
  if (problem !== undefined) throw new InvalidArgumentError(`The ${problem}.`);
  return value;
}

/** For sources whose rows cannot be sent before the last is read. */
export const MEMORY_OPTION = [
  '--memory <MiB>',
  'keep at most so much of the source in memory, and end with an error if it needs more',
  readMemory,
  DEFAULT_MEMORY_MIB,
] as const;

function readMemory(value: string): number {
  const most = Math.floor((getHeapStatistics().heap_size_limit / (1 << 20)) * MOST_OF_HEAP);
  if (!/^[1-9]\d{0,6}$/.test(value) || Number(value) > most)
    throw new InvalidArgumentError(
      `Write a whole number from 1 to ${most}. For more, start bds with NODE_OPTIONS=--max-old-space-size=MiB, twice this number.`,
    );
  return Number(value);
}

export function readDate(value: string): string {
  if (!/^\d{4}(-\d{2}(-\d{2})?)?$/.test(value))
    throw new InvalidArgumentError('Write YYYY, YYYY-MM or YYYY-MM-DD.');
  return value;
}

export function portsOf({ catalog, images }: Context): Parameters<typeof importBrands>[0] {
  return { catalog: catalog(), images };
}
