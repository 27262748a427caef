import type { Conflict, RefusedLink } from '@brand-data/contracts';
import { NdjsonFile, removeEarlier } from './ndjson-file.ts';
import type { Refusal, RefusedPicture, Skipped } from './source-items.ts';

/** How many refusals, conflicts and refused links a journal holds; the files have all of them. */
const MOST_SHOWN = 10;

export interface ImportCounts {
  read: number;
  created: number;
  changed: number;
  unchanged: number;
  refused: number;
  /** Correct items that are not used, such as bonds, and quotes of securities that are not the main listing of any company. */
  skipped: number;
  /** How many identifiers a record of another company has too. */
  conflicts: number;
  /** How many of these identifiers lead to the other record. */
  lost: number;
  /** How many links with other sources' records the catalogue refused. */
  refusedLinks: number;
  /** How many pictures images has stored for the records, and how many were refused. */
  pictures: number;
  refusedPictures: number;
}

/** The item that the catalogue answers about. */
interface Reported {
  from: string;
  /** The record's id in its source, or the security of a quote. */
  id: string;
}

/** An identifier of a record that another company's record has too. */
export type ReportedConflict = Reported & Omit<Conflict, 'index'>;

/** A record shares an identifier or its name with another source's record, but the catalogue keeps them two companies. */
export type ReportedLink = Reported & Omit<RefusedLink, 'index'>;

export interface JournalOptions {
  /** Each file is written only if there is something to write. */
  rejectsPath: string;
  conflictsPath: string;
  /** Converts a path, or a place in a file such as "a.csv:12", to the text that is shown. */
  shown: (path: string) => string;
}

/** Counts what an import does, keeps the first ten cases of each kind, and writes all cases to two files. */
export class ImportJournal {
  readonly counts: ImportCounts = {
    read: 0,
    created: 0,
    changed: 0,
    unchanged: 0,
    refused: 0,
    skipped: 0,
    conflicts: 0,
    lost: 0,
    refusedLinks: 0,
    pictures: 0,
    refusedPictures: 0,
  };
  readonly refusals: Refusal[] = [];
  readonly refusedPictures: RefusedPicture[] = [];
  /** Conflicts that lost the identifier come before the other conflicts. */
  readonly conflicts: ReportedConflict[] = [];
  readonly refusedLinks: ReportedLink[] = [];
  readonly #rejectsNdjson: NdjsonFile;
  readonly #conflictsNdjson: NdjsonFile;
  readonly #shown: (path: string) => string;

  constructor({ rejectsPath, conflictsPath, shown }: JournalOptions) {
    this.#rejectsNdjson = new NdjsonFile(rejectsPath);
    this.#conflictsNdjson = new NdjsonFile(conflictsPath);
    this.#shown = shown;
  }

  /** Removes the files of an earlier run. */
  async begin(): Promise<void> {
    for (const { path } of this.#files()) await removeEarlier(path, ['from', 'identifiers']);
  }

  refuse(refusal: Refusal): Promise<void> {
    this.counts.refused++;
    const shown = this.#add(this.refusals, refusal);
    return this.#rejectsNdjson.write(shown);
  }

  skip({ from, skipped }: Skipped): Promise<void> {
    this.counts.skipped++;
    return this.#rejectsNdjson.write({ from: this.#shown(from), skipped });
  }

  refusePicture(refused: RefusedPicture): Promise<void> {
    this.counts.refusedPictures++;
    const shown = this.#add(this.refusedPictures, refused);
    return this.#rejectsNdjson.write(refusedPictureToJson(shown));
  }

  addConflict(conflict: ReportedConflict): Promise<void> {
    this.counts.conflicts++;
    if (conflict.lost) this.counts.lost++;
    const shown = this.#add(this.conflicts, conflict, Number.POSITIVE_INFINITY);
    this.conflicts.sort((a, b) => Number(b.lost) - Number(a.lost)).splice(MOST_SHOWN);
    return this.#conflictsNdjson.write(conflictToJson(shown));
  }

  refuseLink(link: ReportedLink): Promise<void> {
    this.counts.refusedLinks++;
    const shown = this.#add(this.refusedLinks, link);
    return this.#conflictsNdjson.write(refusedLinkToJson(shown));
  }

  /** Writes a conflict between items of the source to the file of conflicts. */
  noteOwnConflict(conflict: object): Promise<void> {
    return this.#conflictsNdjson.write(conflict);
  }

  /** Rejects if a file could not be written. If the import itself has failed, reports the import's error instead. */
  async close(hasFailed: boolean): Promise<void> {
    const ends = await Promise.allSettled(this.#files().map((file) => file.close()));
    const bad = ends.find((end) => end.status === 'rejected');
    if (bad !== undefined && !hasFailed) throw bad.reason;
  }

  /** Absent if nothing was refused or skipped. */
  get rejectsFile(): string | undefined {
    return this.#rejectsNdjson.count > 0 ? this.#shown(this.#rejectsNdjson.path) : undefined;
  }

  /** Has the conflicts and the refused links. Absent if there were neither. */
  get conflictsFile(): string | undefined {
    return this.#conflictsNdjson.count > 0 ? this.#shown(this.#conflictsNdjson.path) : undefined;
  }

  #files(): NdjsonFile[] {
    return [this.#rejectsNdjson, this.#conflictsNdjson];
  }

  #add<T extends { from: string }>(kept: T[], { from, ...rest }: T, most = MOST_SHOWN): T {
    const shown = { from: this.#shown(from), ...rest } as T;
    if (kept.length < most) kept.push(shown);
    return shown;
  }
}

export function conflictToJson({ from, id, identifier, otherId, otherName, lost }: ReportedConflict) {
  return { from, id, identifier, other_id: otherId, other_name: otherName, lost };
}

export function refusedPictureToJson({ from, id, field, reason }: RefusedPicture) {
  return { from, id, picture: field, reason };
}

export function refusedLinkToJson(link: ReportedLink) {
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
