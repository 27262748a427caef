import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { SeedResult } from './seed-worker.ts';

/** The finished parts of a run that can be interrupted. The file has a line for the run, then one for each part. */
export interface Progress {
  readonly done: readonly SeedPart[];
  add(part: SeedPart): void;
}

interface SeedPart extends SeedResult {
  seeds: readonly number[];
}

/**
 * @param run describes the run
 * @returns undefined if the file belongs to another run
 */
export function openProgress(file: string, run: string): Progress | undefined {
  if (!existsSync(file)) appendFileSync(file, `${JSON.stringify({ run })}\n`);
  const [first = '{}', ...lines] = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const header: { run?: string } = JSON.parse(first);
  if (header.run !== run) return undefined;
  return {
    // If the last line is incomplete, its part is run again.
    done: lines.flatMap((line): SeedPart[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    }),
    add: (part) => appendFileSync(file, `${JSON.stringify(part)}\n`),
  };
}
