import type { ImportJournal } from './import-journal.ts';
import type { ImportOptions, ImportSummary } from './run-import.ts';

/** The results of an import, for people and programs. */
export interface ImportReport {
  /** Has no import id if the import failed. */
  summary: Omit<ImportSummary, 'importId'> & Partial<ImportSummary>;
  /** Why the import failed in the middle. */
  failure?: Error;
  journal: ImportJournal;
}

/**
 * Runs an import with these options and reports what it did. The files of an earlier run are removed. If the import fails after
 * reading something, the report has the `failure`. Other errors reject.
 */
export async function reportImport(
  options: ImportOptions,
  run: (options: ImportOptions) => Promise<ImportSummary>,
): Promise<ImportReport> {
  const { source, dryRun = false, journal } = options;
  await journal.begin();
  let summary: ImportReport['summary'];
  let failure: Error | undefined;
  try {
    summary = await run(options);
  } catch (error) {
    if (journal.counts.read === 0) throw error;
    failure = error as Error;
    summary = { source, dryRun, stopped: false, ...journal.counts };
  } finally {
    await journal.close(failure !== undefined);
  }
  return { summary, ...(failure !== undefined && { failure }), journal };
}
