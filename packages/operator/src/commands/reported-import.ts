import {
  type BytesRead,
  type IdentifierConflict,
  type ImportCounts,
  type ImportOptions,
  type ImportSummary,
  type NdjsonFile,
  ndjsonFile,
  type Refusal,
  removeEarlier,
} from '@brand-data/importers';
import type { Context } from '../context.ts';
import { facts } from '../output.ts';
import { duration, figure, progressLine } from '../progress.ts';

/** How many refusals and conflicts the summary shows; their files have all. */
const SHOWN = 10;
const PROGRESS_MS = 100;

/** Some were refused; the others are in. */
class SomeRefused extends Error {
  override readonly name = 'SomeRefused';
}

/** Ctrl-C: what was sent is in. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** The options that all imports have. */
export interface ReportedOptions {
  source: string;
  dryRun?: boolean;
  prune?: boolean;
  rejects?: string;
  conflicts?: string;
}

interface Report {
  summary: Omit<ImportSummary, 'importId'> & Partial<ImportSummary>;
  /** Why it ended before its end. */
  failure?: string;
  seconds: number;
  refusals: Refusal[];
  /** Present when something is in it. */
  rejectsFile?: string;
  conflicts: IdentifierConflict[];
  conflictsFile?: string;
  more: Record<string, Record<string, number>>;
}

/**
 * Runs an import with its progress, and answers with its summary. What is refused and what conflicts goes into files,
 * which are made when there is something to write; `note` is for conflicts that a source has within itself. `more` are
 * figures for the summary. Throws when something was refused, or Ctrl-C was pressed.
 */
export async function reportedImport(
  { output, pathOf, shown, interruption }: Context,
  { source, dryRun = false, prune = false, ...files }: ReportedOptions,
  bytes: BytesRead,
  run: (options: ImportOptions, note: (conflict: object) => Promise<void>) => Promise<ImportSummary>,
  more: () => Record<string, Record<string, number>> = () => ({}),
): Promise<void> {
  const rejects = ndjsonFile(pathOf(files.rejects ?? `${source}.rejects.ndjson`));
  const conflictsFile = ndjsonFile(pathOf(files.conflicts ?? `${source}.conflicts.ndjson`));
  const refusals: Refusal[] = [];
  const conflicts: IdentifierConflict[] = [];
  const startedAt = performance.now();
  const secondsSince = () => (performance.now() - startedAt) / 1_000;
  let counts: ImportCounts | undefined;
  await Promise.all([rejects, conflictsFile].map(({ path }) => removeEarlier(path, ['from', 'identifiers'])));
  // A source may be read for long before its first record.
  const clock = setInterval(() => {
    output.progress(() => progressLine(counts ?? {}, bytes, secondsSince()));
  }, PROGRESS_MS).unref();

  let summary: Report['summary'];
  let failure: unknown;
  try {
    const options: ImportOptions = {
      source,
      dryRun,
      prune,
      signal: interruption(),
      onProgress: (now) => {
        counts = now;
      },
      onRefused({ from, ...rest }) {
        const refusal = { from: shown(from), ...rest };
        if (refusals.length < SHOWN) refusals.push(refusal);
        return rejects.write(refusal);
      },
      onSkipped: ({ from, skipped }) => rejects.write({ from: shown(from), skipped }),
      onConflict({ from, ...rest }) {
        const conflict = { from: shown(from), ...rest };
        if (conflicts.length < SHOWN || (conflict.lost && !conflicts.every(({ lost }) => lost)))
          showFirst(conflicts, conflict);
        return conflictsFile.write(conflictToJson(conflict));
      },
    };
    summary = await run(options, (conflict) => conflictsFile.write(conflict));
  } catch (error) {
    // What had not begun has no counts to tell.
    if (counts === undefined || counts.read === 0) throw error;
    failure = error;
    summary = { source, dryRun, stopped: false, ...counts };
  } finally {
    clearInterval(clock);
    output.progress();
    await closed([rejects, conflictsFile], failure !== undefined);
  }

  const seconds = secondsSince();
  const report: Report = {
    summary,
    ...(failure !== undefined && { failure: (failure as Error).message }),
    seconds,
    refusals,
    ...(rejects.count > 0 && { rejectsFile: shown(rejects.path) }),
    conflicts,
    ...(conflictsFile.count > 0 && { conflictsFile: shown(conflictsFile.path) }),
    more: more(),
  };
  output.answer(reportToJson(report), () => reportText(report));
  if (failure !== undefined) throw failure;
  if (summary.stopped)
    throw new Interrupted(
      `stopped after ${figure(summary.read)}: run it again, and it goes on where it ended`,
    );
  if (summary.refused > 0)
    throw new SomeRefused(
      `${figure(summary.refused)} of ${figure(summary.read)} were refused, see ${report.rejectsFile}: correct and import again`,
    );
}

/** With a failure of the import itself, that of its files is not told. */
async function closed(files: readonly NdjsonFile[], isFailed: boolean): Promise<void> {
  const ends = await Promise.allSettled(files.map((file) => file.close()));
  const bad = ends.find((end) => end.status === 'rejected');
  if (bad !== undefined && !isFailed) throw bad.reason;
}

/** Those that are lost go before the others. */
function showFirst(shown: IdentifierConflict[], conflict: IdentifierConflict): void {
  shown.push(conflict);
  shown.sort((a, b) => Number(b.lost) - Number(a.lost));
  shown.splice(SHOWN);
}

function conflictToJson({ from, id, identifier, otherId, otherName, lost }: IdentifierConflict) {
  return { from, id, identifier, other_id: otherId, other_name: otherName, lost };
}

function reportToJson(report: Report) {
  const { summary, failure, seconds, refusals, rejectsFile, conflicts, conflictsFile, more } = report;
  const { importId, dryRun, source, stopped, unpruned, ...counts } = summary;
  return {
    ...(importId !== undefined && { import_id: importId }),
    source,
    dry_run: dryRun,
    stopped,
    ...(failure !== undefined && { failed: failure }),
    ...counts,
    ...(unpruned !== undefined && { not_pruned: unpruned }),
    seconds: Math.round(seconds * 1_000) / 1_000,
    ...more,
    ...(rejectsFile !== undefined && { rejects_file: rejectsFile }),
    ...(refusals.length > 0 && { first_refusals: refusals }),
    ...(conflictsFile !== undefined && {
      conflicts_file: conflictsFile,
      first_conflicts: conflicts.map(conflictToJson),
    }),
  };
}

function reportText(report: Report): string {
  const { summary, failure, seconds, refusals, rejectsFile, conflicts, conflictsFile, more } = report;
  const { source, dryRun, pruned, unpruned, ...counts } = summary;
  const notPruned = unpruned === undefined ? undefined : `nothing, since ${unpruned}`;
  const lost = counts.conflicts > 0 ? `, ${figure(counts.lost)} lost` : '';
  const rate = seconds >= 1 ? `, ${figure(Math.round(counts.read / seconds))} a second` : '';
  return [
    ...(failure === undefined ? [] : ['It failed before its end; this is what was done until then:']),
    ...(dryRun ? ['Nothing was written into the catalogue; this is what would be:'] : []),
    facts([
      ['Source', source],
      ['Read', `${figure(counts.read)} in ${duration(seconds)}${rate}`],
      ['Created', figure(counts.created)],
      ['Changed', figure(counts.changed)],
      ['Unchanged', figure(counts.unchanged)],
      ['Refused', `${figure(counts.refused)}${inFile(counts.refused > 0 ? rejectsFile : undefined)}`],
      ['Skipped', counts.skipped > 0 ? `${figure(counts.skipped)}${inFile(rejectsFile)}` : undefined],
      ['Conflicts', `${figure(counts.conflicts)}${lost}${inFile(conflictsFile)}`],
      ['Pruned', pruned === undefined ? notPruned : figure(pruned)],
    ]),
    ...Object.entries(more).flatMap(([name, counts]) => {
      const lines = Object.entries(counts).map(([what, count]) => `  ${figure(count).padStart(7)}  ${what}`);
      return lines.length === 0 ? [] : [sentenceCase(name), ...lines];
    }),
    ...titled(
      'Refused',
      refusals.map(({ from, reason }) => `  ${from}: ${reason}`),
      counts.refused,
    ),
    ...titled(
      'Conflicts',
      conflicts.map(
        ({ from, id, identifier, otherId, otherName, lost }) =>
          `  ${from}: ${identifier} of ${id} ${lost ? 'leads to' : 'is also that of'} ${otherId} (${otherName})`,
      ),
      counts.conflicts,
    ),
  ].join('\n');
}

function inFile(path: string | undefined): string {
  return path === undefined ? '' : ` (${path})`;
}

/** "missing_rates" is "Missing rates". */
function sentenceCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
}

/** Those lines that are shown, and how many more there are. */
function titled(title: string, lines: readonly string[], count: number): string[] {
  if (count === 0) return [];
  return [title, ...lines, ...(count > lines.length ? [`  … and ${figure(count - lines.length)} more`] : [])];
}
