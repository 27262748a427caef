import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { type Conflict, ImportDifference, type RefusedLink } from '@brand-data/contracts';
import type { Refusal, RefusedPicture, Skipped } from './source-items.ts';

/** How many conflicts, and how many kinds of other cases, a report shows; the files have all cases. */
const MOST_SHOWN = 10;
/** Most sources have fewer kinds of mistakes. */
const MOST_KINDS = 200;

const NO_COUNTS = {
  read: 0,
  created: 0,
  changed: 0,
  unchanged: 0,
  refused: 0,
  /** Correct items that are not used, such as bonds, and quotes of securities that are not the main listing of any company. */
  skipped: 0,
  /** How many identifiers a record of another company has too. */
  conflicts: 0,
  /** How many of these identifiers lead to the other record. */
  lost: 0,
  /** How many links with other sources' records the catalogue refused. */
  refusedLinks: 0,
  /** How many pictures images has stored for the records, and how many were refused. */
  pictures: 0,
  refusedPictures: 0,
};
export type ImportCounts = typeof NO_COUNTS;

/** The item that the catalogue answers about. The id is that in its source, or the security of a quote. */
type Reported = Pick<RefusedPicture, 'from' | 'id'>;

/** An identifier of a record that another company's record has too. */
export type ReportedConflict = Reported & Omit<Conflict, 'index'>;

/** A record shares an identifier or its name with another source's record, but the catalogue keeps them two companies. */
export type ReportedLink = Reported & Omit<RefusedLink, 'index'>;

/** The first case of a kind, and how many further cases have the same reason but for names and figures. */
export type KindOfCase<T> = T & { more: number };

/** Groups cases by the words of their reasons. */
class CasesByKind<T extends { reason: string }> {
  readonly #kinds = new Map<string, KindOfCase<T>>();

  add(added: T): void {
    const kind = kindOf(added.reason);
    const first = this.#kinds.get(kind);
    if (first !== undefined) first.more++;
    else if (this.#kinds.size < MOST_KINDS) this.#kinds.set(kind, { ...added, more: 0 });
  }

  /** Returns the kinds with the most cases, the most frequent first. */
  get kinds(): KindOfCase<T>[] {
    return [...this.#kinds.values()].toSorted((a, b) => b.more - a.more).slice(0, MOST_SHOWN);
  }
}

/** Returns a reason without what differs from case to case: quoted texts, and words that have a digit or no small letter. */
function kindOf(reason: string): string {
  const words = reason.replace(/"[^"]*"/g, '').split(' ');
  return words.filter((word) => /[a-z]/.test(word) && !/\d/.test(word)).join(' ');
}

export function newImportId(): string {
  return `${new Date().toISOString()}-${randomUUID().slice(0, 8)}`;
}

/** The most companies that a difference names. */
const MOST_COMPANIES = 20;

/** Counts what an import does, keeps examples of each kind of case, and writes all cases to two files if there are any. */
export class ImportJournal {
  readonly importId = newImportId();
  readonly counts: ImportCounts = { ...NO_COUNTS };
  /** What the batches do to companies. */
  readonly difference = ImportDifference.create();
  readonly refusals = new CasesByKind<Refusal>();
  readonly skips = new CasesByKind<Refusal>();
  readonly refusedPictures = new CasesByKind<RefusedPicture>();
  readonly refusedLinks = new CasesByKind<ReportedLink>();
  /** The first ten. Conflicts that lost the identifier come before the other conflicts. */
  readonly conflicts: ReportedConflict[] = [];
  readonly #rejectsNdjson: NdjsonFile;
  readonly #conflictsNdjson: NdjsonFile;
  readonly #shown: (path: string) => string;

  /** Uses `shown` to convert a path, or a place in a file such as "a.csv:12", to the text that is shown. */
  constructor(files: { rejectsPath: string; conflictsPath: string; shown: (path: string) => string }) {
    this.#rejectsNdjson = new NdjsonFile(files.rejectsPath);
    this.#conflictsNdjson = new NdjsonFile(files.conflictsPath);
    this.#shown = files.shown;
  }

  /** Removes the files of an earlier run. */
  async begin(): Promise<void> {
    for (const { path } of this.#files()) await removeEarlier(path, ['from', 'identifiers']);
  }

  refuse(refusal: Refusal): Promise<void> {
    this.counts.refused++;
    return this.#rejectsNdjson.write(this.#note(this.refusals, refusal));
  }

  addDifference({ changedFields, bestKnown, ...counts }: ImportDifference): void {
    const sum = this.difference;
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) sum[name] += counts[name];
    for (const [field, count] of Object.entries(changedFields))
      sum.changedFields[field] = (sum.changedFields[field] ?? 0) + count;
    sum.bestKnown.push(...bestKnown);
    sum.bestKnown.sort((a, b) => b.rank - a.rank).splice(MOST_COMPANIES);
  }

  /** A source of millions of records, most of which are skipped, lists none of those in the file. */
  async skip({ from, skipped }: Skipped, { isListed = true } = {}): Promise<void> {
    this.counts.skipped++;
    this.#note(this.skips, { from, reason: skipped });
    if (isListed) await this.#rejectsNdjson.write({ from: this.#shown(from), skipped });
  }

  refusePicture(refused: RefusedPicture): Promise<void> {
    this.counts.refusedPictures++;
    return this.#rejectsNdjson.write(this.#note(this.refusedPictures, refused));
  }

  addConflict(conflict: ReportedConflict): Promise<void> {
    this.counts.conflicts++;
    if (conflict.lost) this.counts.lost++;
    const shown = { ...conflict, from: this.#shown(conflict.from) };
    this.conflicts.push(shown);
    this.conflicts.sort((a, b) => Number(b.lost) - Number(a.lost)).splice(MOST_SHOWN);
    return this.#conflictsNdjson.write(caseToJson(shown));
  }

  refuseLink(link: ReportedLink): Promise<void> {
    this.counts.refusedLinks++;
    return this.#conflictsNdjson.write(this.#note(this.refusedLinks, link));
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

  /** Adds the case to its kind. Returns its document for the file. */
  #note<T extends { from: string; reason: string }>(kinds: CasesByKind<T>, { from, ...rest }: T) {
    const shown = { from: this.#shown(from), ...rest } as T;
    kinds.add(shown);
    return caseToJson(shown);
  }
}

/** Returns a case with its names in snake_case, in the same order. */
export function caseToJson(shown: object) {
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** A file with one JSON document a line. Writing the first document creates the file, and replaces an existing one. */
export class NdjsonFile {
  readonly path: string;
  count = 0;
  #stream: WriteStream | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Resolves when more may be written. Rejects when the file cannot be written. */
  async write(document: unknown): Promise<void> {
    // The error rejects the next call.
    this.#stream ??= createWriteStream(this.path).on('error', () => undefined);
    if (this.#stream.errored !== null) throw this.#stream.errored;
    this.count++;
    if (!this.#stream.write(`${JSON.stringify(document)}\n`)) await once(this.#stream, 'drain');
  }

  /** Resolves when everything is in the file. Rejects when the file could not be written. */
  async close(): Promise<void> {
    if (this.#stream !== undefined) await finished(this.#stream.end());
  }
}

/**
 * Removes the file of an earlier run. To protect other files, it removes the file only if it begins with a JSON document
 * whose first field is one of `fields`.
 */
export async function removeEarlier(path: string, fields: readonly string[]): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return;
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
  const start = buffer.toString('utf8', 0, bytesRead);
  if (fields.some((field) => start.startsWith(`{"${field}":`))) await rm(path, { force: true });
}
