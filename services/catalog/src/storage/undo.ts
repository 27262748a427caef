import type { Collection, Filter } from 'mongodb';
import type { Change, StoredCompany } from '../linkage/linked-groups.ts';
import type { CatalogDoc } from '../records/catalog-doc.ts';
import { referenceOf, type SourceRecord, storedSourceRecord } from '../records/source-record.ts';
import type { MakeChange } from './change-loop.ts';
import { type Collections, holdersOf } from './collections.ts';
import {
  type ChangeDoc,
  companiesByRecord,
  entriesOf,
  isBroughtBy,
  placeOf,
  type RunName,
} from './journal.ts';

const READ_MS = 10_000;
const BATCH = 200;
/** Companies that had one another's ids get them back in so many passes at most. */
const MOST_PASSES = 8;

/** What undoing a run does to one record. `done`: it is as it was before the run. */
type Verdict = 'removed' | 'reverted' | 'restored' | 'done' | { kept: string };

interface KeptRecord {
  source: string;
  id: string;
  reason: string;
}

export interface UndoStep {
  removed: number;
  reverted: number;
  restored: number;
  kept: KeptRecord[];
  /** Where the next step begins. Undefined: nothing is left to do. */
  next: string | undefined;
}

export interface UndoOptions {
  /** `next` of the step before. Empty: this is the first step. */
  after: string;
  /** Sources of which a later run has removed what it did not bring. */
  prunedSince: ReadonlySet<string>;
  dryRun: boolean;
  withinMs: number;
  signal: AbortSignal | undefined;
}

/** Where an undoing is: the reference of the last entry, in which pass, and whether this pass has changed anything. */
interface Place {
  pass: number;
  hasChanged: boolean;
  last: string;
}

/**
 * Undoes a run until nothing is left or the time is up. A record goes back to what it was before the run, if no other import has
 * brought it since. The records go first. Then follow the quotes of their companies, because a company must have the listing, and the
 * ids of companies that another company still had when their records came back. Idempotent.
 */
export async function undoRun(
  { changes, makeChange }: { changes: Collections['changes']; makeChange: MakeChange },
  run: RunName,
  { after, withinMs, ...options }: UndoOptions,
): Promise<UndoStep> {
  const began = performance.now();
  const step: UndoStep = { removed: 0, reverted: 0, restored: 0, kept: [], next: undefined };
  let place = readPlace(after);
  do {
    const entries = await readEntries(changes, run, place.last);
    const last = entries.at(-1);
    if (last === undefined) {
      const isLast = place.pass > 0 && (!place.hasChanged || options.dryRun || place.pass === MOST_PASSES);
      if (isLast) return step;
      place = { pass: place.pass + 1, hasChanged: false, last: '' };
      continue;
    }
    const hasChanged = await undoEntries(makeChange, run, entries, { ...options, pass: place.pass, step });
    place = { ...place, hasChanged: place.hasChanged || hasChanged, last: referenceOf(last) };
  } while (performance.now() - began < withinMs);
  return { ...step, next: `${place.pass}${place.hasChanged ? '+' : '-'}${place.last}` };
}

function readPlace(after: string): Place {
  const [, pass = '0', changed, last = ''] = /^(\d)([+-])(.*)$/s.exec(after) ?? [];
  return { pass: Number(pass), hasChanged: changed === '+', last };
}

/** Returns the next entries of the run after the one of the reference, in their order. */
export function readEntries(
  changes: Collection<ChangeDoc>,
  run: RunName,
  after: string,
): Promise<ChangeDoc[]> {
  const options = { sort: { _id: 1 }, limit: BATCH, maxTimeMS: READ_MS } as const;
  return changes.find(entriesOf(run, after), options).toArray();
}

/** Returns the filter of the documents that hold the records of the entries. */
export function holdersOfEntries(entries: readonly ChangeDoc[]): Filter<CatalogDoc> {
  const bySource = Map.groupBy(entries, ({ source }) => source);
  return {
    $or: [...bySource].map(([source, own]) => holdersOf({ source, id: { $in: own.map(({ id }) => id) } })),
  };
}

/** Undoes entries in one change. Counts in `step` what the passes that are to undo these entries do. Returns whether anything changed. */
async function undoEntries(
  makeChange: MakeChange,
  run: RunName,
  entries: readonly ChangeDoc[],
  options: Omit<UndoOptions, 'after' | 'withinMs'> & { pass: number; step: UndoStep },
): Promise<boolean> {
  const { pass, step, prunedSince, dryRun, signal } = options;
  const verdicts = new Map<ChangeDoc, Verdict>();
  const changeOf = (stored: readonly StoredCompany[]): Change => {
    const records = new Map(
      stored.flatMap((company) => company.records).map((record) => [referenceOf(record), record]),
    );
    const puts: SourceRecord[] = [];
    const removed = new Set<string>();
    for (const entry of entries) {
      if (entry.was === undefined || pass !== (entry.quote === undefined ? 0 : 1)) continue;
      const record = records.get(referenceOf(entry));
      const verdict = verdictOf(entry, record, run, prunedSince);
      // What an earlier round of this change has undone is done in a later one.
      if (verdict !== 'done' || !verdicts.has(entry)) verdicts.set(entry, verdict);
      if (verdict === 'removed') removed.add(referenceOf(entry));
      if (verdict === 'reverted' || verdict === 'restored') puts.push(...recordBefore(entry));
    }
    return {
      puts,
      isRemoved: (record) => removed.has(referenceOf(record)),
      reassigned: pass === 0 ? new Set() : recordsWithOtherIds(entries, stored),
      isUndo: true,
    };
  };
  const holders = holdersOfEntries(entries);
  const { outcomes, hasWritten } = await makeChange(changeOf, holders, { dryRun, signal, run, isUndo: true });
  for (const [entry, verdict] of verdicts) {
    const { source, id } = entry;
    // In a dry run, the company of a quote may not be back.
    const outcome = dryRun && entry.quote ? undefined : outcomes.get(referenceOf(entry));
    const reason =
      typeof outcome === 'object' ? outcome.refused : typeof verdict === 'object' ? verdict.kept : '';
    if (reason !== '') step.kept.push({ source, id, reason });
    else if (typeof verdict === 'string' && verdict !== 'done') step[verdict]++;
  }
  return hasWritten;
}

/** Returns what undoing the run does to the record of an entry. Undefined: it is not in the catalogue. */
function verdictOf(
  { was, now, source }: ChangeDoc,
  record: SourceRecord | undefined,
  run: RunName,
  prunedSince: ReadonlySet<string>,
): Verdict {
  if (record === undefined) {
    if (was === null) return 'done';
    if (now !== null) return { kept: 'it has been removed since' };
    if (prunedSince.has(source))
      return { kept: `a later import of ${source} has pruned what it did not bring` };
    return 'restored';
  }
  if (was?.importId === record.importId && Buffer.compare(was.bytes, record.bytes) === 0) return 'done';
  if (!isBroughtBy(run, record)) return { kept: `the import ${record.importId} has brought it since` };
  return was === null ? 'removed' : 'reverted';
}

function recordBefore({ source, id, quote, was }: ChangeDoc): SourceRecord[] {
  if (!was) return [];
  return [storedSourceRecord({ source, id, importId: was.importId, isQuote: quote === true }, was.bytes)];
}

/** Returns the references of the records whose company has another id than before the run, and which nobody else has moved. */
function recordsWithOtherIds(entries: readonly ChangeDoc[], stored: readonly StoredCompany[]): Set<string> {
  const companies = companiesByRecord(stored);
  const moved = entries.filter((entry) => {
    const current = companies.get(referenceOf(entry));
    return (
      current !== undefined && entry.from !== null && placeOf(entry) === current && entry.from !== current
    );
  });
  return new Set(moved.map(referenceOf));
}
