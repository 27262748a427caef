import { type BytesRead, ImportJournal, reportImport } from '@brand-data/importers';
import type { Context } from '../../terminal/context.ts';
import { Interrupted, PartlyFailed } from '../../terminal/failures.ts';
import { figure, progressLine } from '../../text/progress.ts';
import { type ImportFigures, reportText, reportToJson } from './import-report.ts';

const PROGRESS_MS = 100;

/** The options that every import has. */
export interface ReportedOptions {
  source: string;
  dryRun?: boolean;
  prune?: boolean;
  rejects?: string;
  conflicts?: string;
}

/**
 * Runs an import, shows its progress, and writes its report. At the end it calls `figuresOf` for figures of the source. Throws
 * if the import failed, was interrupted, or refused something.
 */
export async function reportedImport(
  { output, pathOf, shown, interruption }: Context,
  { source, dryRun = false, prune = false, ...files }: ReportedOptions,
  bytes: BytesRead,
  run: Parameters<typeof reportImport>[1],
  figuresOf: () => ImportFigures = () => ({}),
): Promise<void> {
  const startedAt = performance.now();
  const secondsSince = () => (performance.now() - startedAt) / 1_000;
  const journal = new ImportJournal({
    rejectsPath: pathOf(files.rejects ?? `${source}.rejects.ndjson`),
    conflictsPath: pathOf(files.conflicts ?? `${source}.conflicts.ndjson`),
    shown,
  });
  // A timer shows the progress, because reading a source may take long before its first record.
  const timer = setInterval(() => {
    output.progress(() => progressLine(journal.counts, bytes, secondsSince()));
  }, PROGRESS_MS).unref();
  const options = { source, dryRun, prune, signal: interruption(), journal };
  const report = await reportImport(options, run).finally(() => {
    clearInterval(timer);
    output.progress();
  });

  const timed = { ...report, seconds: secondsSince(), figures: figuresOf() };
  output.answer(reportToJson(timed), () => reportText(timed));
  const { failure, summary } = report;
  const { rejectsFile } = journal;
  if (failure !== undefined) throw failure;
  if (summary.stopped)
    throw new Interrupted(
      `the import was stopped after it had read ${figure(summary.read)} records: run it again to finish it`,
    );
  if (summary.refused > 0)
    throw new PartlyFailed(
      `${figure(summary.refused)} of ${figure(summary.read)} records were refused (see ${rejectsFile}): correct them and import again`,
    );
  if (summary.refusedPictures > 0)
    throw new PartlyFailed(
      `${figure(summary.refusedPictures)} pictures were refused, and their records imported without them (see ${rejectsFile})`,
    );
}
