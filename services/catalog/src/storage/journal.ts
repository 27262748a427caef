import { namesOnlyDuplicates } from '@brand-data/runtime';
import type { ClientSession, Collection, Filter } from 'mongodb';
import type { StoredCompany } from '../linkage/linked-groups.ts';
import type { RecordChange } from '../linkage/plan.ts';
import { referenceOf, type SourceRecord } from '../records/source-record.ts';

const READ_MS = 10_000;

/** Names a run of an import. */
export interface RunName {
  readonly source: string;
  readonly importId: string;
}

/** What a source stated in a record, and by which import. */
interface StatedBefore {
  bytes: Uint8Array;
  importId: string;
}

/**
 * What a run has done to one source record or quote. The entry is stored before the write that it tells of, or together with it, so it
 * may tell of a write that never came: the record's import then shows that.
 */
export interface ChangeDoc {
  /** The source and the id of the import, and the record's reference: "feed 2026-11-20T19:42:00.123Z-5f0c9a1e wikidata/q312". */
  _id: string;
  source: string;
  id: string;
  quote?: true;
  /** Null if the record is new. Absent if the run has changed nothing in it, and only moved it to another company. */
  was?: StatedBefore | null;
  /** What it states after the run. Null if the run has removed it. Absent if it is new, as its document has it. */
  now?: Uint8Array | null;
  /** The ids of its companies before the run and after it. Null: none. `to` is absent if only an undoing has moved the record. */
  from: string | null;
  to?: string | null;
  /** The id of its company after steps of undoing. */
  at?: string | null;
}

/** Returns the filter of a run's entries after the one of this reference. */
export function entriesOf(run: RunName, after = ''): Filter<ChangeDoc> {
  const prefix = entryId(run, '');
  return { _id: { $gt: prefix + after, $lt: `${prefix.slice(0, -1)}!` } };
}

export function entryId({ source, importId }: RunName, reference: string): string {
  return `${source} ${importId} ${reference}`;
}

/** Checks whether the run was the last import to bring the record. */
export function isBroughtBy(run: RunName, { source, importId }: SourceRecord): boolean {
  return source === run.source && importId === run.importId;
}

/**
 * Enters what a plan does. What was before the run is kept over all its plans: if the run was the last import to bring a record, or to
 * move it, the entry says what was before, and otherwise the plan does. While the run is undone, the entries keep what the run has
 * done, and take the companies through which records pass, and the quotes that get lost on the way.
 *
 * Almost all records of an import have no entry yet, and an insert costs mongod much less than an update that inserts. If some have
 * one, all are updated, which changes nothing in an entry that was just inserted. The run that is undone has entries of almost all
 * records. A refused insert would end a transaction.
 */
export async function enterChanges(
  entries: Collection<ChangeDoc>,
  run: RunName,
  changes: readonly RecordChange[],
  { isUndo, session }: { isUndo: boolean; session?: ClientSession | undefined },
): Promise<void> {
  const entered = changes
    .filter(({ before, after }) => !isUndo || before?.companyId !== after?.companyId)
    .map((change) => ({ change, entry: entryOf(run, change, isUndo) }));
  if (entered.length === 0) return;
  const isInserted =
    session === undefined &&
    !isUndo &&
    (await insertAll(
      entries,
      entered.map(({ entry }) => entry),
    ));
  if (isInserted) return;
  const operations = entered.map(({ change, entry }) => ({
    updateOne: { filter: { _id: entry._id }, update: updateTo(entry, run, change), upsert: true },
  }));
  await entries.bulkWrite(operations, { ordered: false, ...(session && { session }) });
}

/** Returns false if some of the entries were there already, or if it is not known whether all were inserted. */
async function insertAll(entries: Collection<ChangeDoc>, inserted: ChangeDoc[]): Promise<boolean> {
  try {
    await entries.insertMany(inserted, { ordered: false });
    return true;
  } catch (error) {
    if (namesOnlyDuplicates(error)) return false;
    throw error;
  }
}

/** Returns what a plan does to a record that has no entry of the run yet. */
function entryOf(run: RunName, change: RecordChange, isUndo: boolean): ChangeDoc {
  const { source, id, isQuote, before, after } = change;
  const isContent = before === undefined || after === undefined || differs(before.record, after);
  const to = after?.companyId ?? null;
  return {
    _id: entryId(run, referenceOf(change)),
    source,
    id,
    ...(isQuote && { quote: true }),
    ...(isContent && (!isUndo || after === undefined) && contentOf(change)),
    from: before?.companyId ?? null,
    ...(isUndo ? { at: to } : { to }),
  };
}

function contentOf({ before, after }: RecordChange): Pick<ChangeDoc, 'was' | 'now'> {
  if (before === undefined) return { was: null };
  const { bytes, importId } = before.record;
  return { was: { bytes, importId }, now: after?.bytes ?? null };
}

function differs(record: SourceRecord, { bytes }: { bytes: Uint8Array }): boolean {
  return Buffer.compare(record.bytes, bytes) !== 0;
}

const isMissing = (field: string) => ({ $eq: [{ $type: field }, 'missing'] });

/** Returns the update that enters the change, whether or not the record has an entry of the run already. */
function updateTo({ source, id, quote, ...entry }: ChangeDoc, run: RunName, { before }: RecordChange) {
  const isOwn = before !== undefined && isBroughtBy(run, before.record);
  const was = { $literal: entry.was };
  const content = {
    was: isOwn ? { $cond: [isMissing('$was'), was, '$was'] } : was,
    now: entry.now === undefined ? '$$REMOVE' : { $literal: entry.now },
  };
  const fields = { source: { $literal: source }, id: { $literal: id }, ...(quote && { quote }) };
  return [{ $set: { ...fields, ...(entry.was !== undefined && content), ...companiesOf(entry) } }];
}

/** Returns what to set of the companies. Pure: two plans that do the same, of which one is outdated, give the same. */
function companiesOf(entry: Pick<ChangeDoc, 'from' | 'to' | 'at'>) {
  const isUndo = entry.at !== undefined;
  const [current, next] = [entry.from, placeOf(entry) ?? null];
  const [here, there] = [{ $literal: current }, { $literal: next }];
  if (current === next) {
    // An outdated plan must not hide that another one has moved the record.
    const isUnmoved = { $or: [isMissing('$from'), { $eq: ['$from', '$to'] }] };
    return { from: { $cond: [isUnmoved, here, '$from'] }, to: { $cond: [isUnmoved, here, '$to'] } };
  }
  const place = isUndo ? { $cond: [isMissing('$at'), '$to', '$at'] } : '$to';
  const from = { $cond: [{ $in: [place, [here, there]] }, '$from', here] };
  return isUndo ? { from, at: there } : { from, to: there };
}

/**
 * Returns the ids that companies had before the run, by the references of the source records that nobody but the run has moved since.
 */
export async function idsBefore(
  changes: Collection<ChangeDoc>,
  run: RunName,
  references: ReadonlyMap<string, string | null>,
): Promise<ReadonlyMap<string, string>> {
  const filter = { _id: { $in: [...references.keys()].map((reference) => entryId(run, reference)) } };
  const options = { projection: { was: 0, now: 0 }, maxTimeMS: READ_MS } as const;
  const ids = new Map<string, string>();
  for await (const entry of changes.find(filter, options)) {
    const reference = referenceOf(entry);
    if (entry.from !== null && placeOf(entry) === references.get(reference)) ids.set(reference, entry.from);
  }
  return ids;
}

/** Returns the id of the record's company after what the entry tells of. Null: it is in none. */
export function placeOf({ to, at = to }: Pick<ChangeDoc, 'to' | 'at'>): string | null | undefined {
  return at;
}

/** Returns the ids of the companies that hold the records, by reference. */
export function companiesByRecord(stored: Iterable<StoredCompany>): Map<string, string> {
  return new Map(
    [...stored].flatMap(({ doc, records }) =>
      records.map((record) => [referenceOf(record), doc._id] as const),
    ),
  );
}
