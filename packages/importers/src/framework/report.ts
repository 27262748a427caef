import { type NdjsonFile, ndjsonFile, removeEarlier } from './ndjson-file.ts';
import type {
  IdentifierConflict,
  ImportCounts,
  ImportOptions,
  ImportSummary,
  RefusedLink,
} from './run-import.ts';
import type { Refusal, RefusedPicture } from './source-items.ts';

/** How many refusals, conflicts and refused links a report holds; the files have all of them. */
const MOST_SHOWN = 10;

/** What an import did, for people and programs. */
export interface ImportReport {
  /** Has no import id if the import failed. */
  summary: Omit<ImportSummary, 'importId'> & Partial<ImportSummary>;
  /** Why the import failed in the middle. */
  failure?: Error;
  /** The first ten refusals. */
  refusals: Refusal[];
  /** The first ten refused pictures. */
  refusedPictures: RefusedPicture[];
  /** Absent if nothing was refused or skipped. */
  rejectsFile?: string;
  /** The first ten conflicts. Conflicts that lost the identifier come before the others. */
  conflicts: IdentifierConflict[];
  /** The first ten refused links. */
  refusedLinks: RefusedLink[];
  /** Has the conflicts and the refused links. Absent if there were neither. */
  conflictsFile?: string;
}

export interface ReportOptions extends Pick<ImportOptions, 'dryRun' | 'prune' | 'signal' | 'onProgress'> {
  source: string;
  /** Each file is written only if there is something to write. The files of an earlier run are removed. */
  rejectsPath: string;
  conflictsPath: string;
  /** Converts a path, or a place in a file such as "a.csv:12", to the text that is shown. */
  shown: (path: string) => string;
}

/** Runs an import with these options. `noteConflict` writes a conflict between items of the same source. */
export type Import = (
  options: ImportOptions,
  noteConflict: (conflict: object) => Promise<void>,
) => Promise<ImportSummary>;

/**
 * Runs an import, writes refusals, skipped items and conflicts to files, and reports the counts. If the import fails after
 * reading something, the report has the `failure`. Other errors reject.
 */
export async function reportImport(
  { source, dryRun = false, prune = false, signal, onProgress, shown, ...paths }: ReportOptions,
  run: Import,
): Promise<ImportReport> {
  const rejects = ndjsonFile(paths.rejectsPath);
  const conflictsFile = ndjsonFile(paths.conflictsPath);
  const refusals: Refusal[] = [];
  const refusedPictures: RefusedPicture[] = [];
  const conflicts: IdentifierConflict[] = [];
  const refusedLinks: RefusedLink[] = [];
  let counts: ImportCounts | undefined;
  await Promise.all([rejects, conflictsFile].map(({ path }) => removeEarlier(path, ['from', 'identifiers'])));

  const options: ImportOptions = {
    source,
    dryRun,
    prune,
    signal,
    onProgress: (now) => {
      counts = now;
      onProgress?.(now);
    },
    onRefused({ from, ...rest }) {
      const refusal = { from: shown(from), ...rest };
      if (refusals.length < MOST_SHOWN) refusals.push(refusal);
      return rejects.write(refusal);
    },
    onRefusedPicture({ from, ...rest }) {
      const refused = { from: shown(from), ...rest };
      if (refusedPictures.length < MOST_SHOWN) refusedPictures.push(refused);
      return rejects.write(refusedPictureToJson(refused));
    },
    onSkipped: ({ from, skipped }) => rejects.write({ from: shown(from), skipped }),
    onConflict({ from, ...rest }) {
      const conflict = { from: shown(from), ...rest };
      if (conflicts.length < MOST_SHOWN || (conflict.lost && !conflicts.every(({ lost }) => lost)))
        addConflict(conflicts, conflict);
      return conflictsFile.write(conflictToJson(conflict));
    },
    onRefusedLink({ from, ...rest }) {
      const link = { from: shown(from), ...rest };
      if (refusedLinks.length < MOST_SHOWN) refusedLinks.push(link);
      return conflictsFile.write(refusedLinkToJson(link));
    },
  };
  let summary: ImportReport['summary'];
  let failure: Error | undefined;
  try {
    summary = await run(options, (conflict) => conflictsFile.write(conflict));
  } catch (error) {
    if (counts === undefined || counts.read === 0) throw error;
    failure = error as Error;
    summary = { source, dryRun, stopped: false, ...counts };
  } finally {
    await closeAll([rejects, conflictsFile], failure !== undefined);
  }
  return {
    summary,
    ...(failure !== undefined && { failure }),
    refusals,
    refusedPictures,
    ...(rejects.count > 0 && { rejectsFile: shown(rejects.path) }),
    conflicts,
    refusedLinks,
    ...(conflictsFile.count > 0 && { conflictsFile: shown(conflictsFile.path) }),
  };
}

export function conflictToJson({ from, id, identifier, otherId, otherName, lost }: IdentifierConflict) {
  return { from, id, identifier, other_id: otherId, other_name: otherName, lost };
}

export function refusedPictureToJson({ from, id, field, reason }: RefusedPicture) {
  return { from, id, picture: field, reason };
}

export function refusedLinkToJson(link: RefusedLink) {
  const { from, id, identifiers, otherSource, otherRecordId, otherId, otherName, reason } = link;
  return {
    from,
    id,
    identifiers,
    other_source: otherSource,
    other_record_id: otherRecordId,
    other_id: otherId,
    other_name: otherName,
    reason,
  };
}

/** Rejects if a file could not be written, unless the import itself has failed. Then the import's error is reported. */
async function closeAll(files: readonly NdjsonFile[], hasFailed: boolean): Promise<void> {
  const ends = await Promise.allSettled(files.map((file) => file.close()));
  const bad = ends.find((end) => end.status === 'rejected');
  if (bad !== undefined && !hasFailed) throw bad.reason;
}

/** Keeps the first ten conflicts. Conflicts that lost the identifier come before the others. */
function addConflict(conflicts: IdentifierConflict[], conflict: IdentifierConflict): void {
  conflicts.push(conflict);
  conflicts.sort((a, b) => Number(b.lost) - Number(a.lost));
  conflicts.splice(MOST_SHOWN);
}
