import type { ImportJournal } from './import-journal.ts';
import type { ImportOptions, ImportSummary } from './run-import.ts';

/** What an import did, for people and programs: with the first ten cases of each kind. */
export interface ImportReport
  extends Pick<ImportJournal, 'refusals' | 'refusedPictures' | 'conflicts' | 'refusedLinks'> {
  /** Has no import id if the import failed. */
  summary: Omit<ImportSummary, 'importId'> & Partial<ImportSummary>;
  /** Why the import failed in the middle. */
  failure?: Error;
  /** Absent if nothing was refused or skipped. */
  rejectsFile?: string;
  /** Has the conflicts and the refused links. Absent if there were neither. */
  conflictsFile?: string;
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
  const { refusals, refusedPictures, conflicts, refusedLinks } = journal;
  return {
    summary,
    ...(failure !== undefined && { failure }),
    refusals,
    refusedPictures,
    conflicts,
    refusedLinks,
    ...journal.writtenFiles(),
  };
}
