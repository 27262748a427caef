import { type Brand, BrandType, Override, OverrideSet } from '@brand-data/contracts';
import { compareTexts } from '@brand-data/identifiers';
import { fieldOf, hasData, problemsOf } from '@brand-data/records';
import { ObjectId } from 'mongodb';
import { compareDocs, isOtherSecurity, isWaiting } from '../records/catalog-doc.ts';
import { identifyingFieldsOf, mergeRecords, overrideRecordOf } from '../records/override-record.ts';
import { referenceOf, type SourceRecord, statesCompany } from '../records/source-record.ts';
import { givesId } from './decisions.ts';
import type { Change, StoredCompany } from './linked-groups.ts';

/** Sets one field of a record to the operator's own value. Without `override` it removes that value. */
export interface FieldEdit {
  /** The id of the record, or of one of its source records. */
  readonly id: string;
  readonly field: string;
  readonly override?: Override;
}

/** `held_back`: another field of the same record is refused, so this one is not set either. */
export type FieldOutcome = 'changed' | 'unchanged' | 'held_back' | { refused: string };

export interface Edited {
  readonly change: Change;
  /** In the order of the edits. */
  readonly outcomes: readonly FieldOutcome[];
  /** The references of the puts that hold the edits, in the same order. Undefined for an edit that puts nothing. */
  readonly references: readonly (string | undefined)[];
}

/** The overrides of one company by the id of the record that holds them. */
type Sets = Map<string, OverrideSet>;

/**
 * Returns the change that makes the edits. Pure except for the ids of new override records.
 *
 * @param stored all companies, and all overrides without a company, that have one of the ids
 */
export function editOverrides(stored: readonly StoredCompany[], edits: readonly FieldEdit[]): Edited {
  const outcomes: FieldOutcome[] = edits.map(() => 'unchanged');
  const references: (string | undefined)[] = edits.map(() => undefined);
  const puts: SourceRecord[] = [];
  const removed = new Set<string>();
  const indexes = [...edits.keys()];
  const companies = Map.groupBy(indexes, (index) => companyWith(stored, edits[index] as FieldEdit));
  for (const [company, own] of companies) {
    const all = own.map((index) => edits[index] as FieldEdit);
    if (company === undefined) {
      for (const [place, index] of own.entries()) outcomes[index] = withoutCompany(all[place]?.id ?? '');
      continue;
    }
    const edited = editCompany(company, all);
    for (const [place, index] of own.entries()) {
      outcomes[index] = edited.outcomes[place] ?? 'unchanged';
      if (outcomes[index] === 'changed') references[index] = edited.puts[0] && referenceOf(edited.puts[0]);
    }
    puts.push(...edited.puts);
    for (const reference of edited.removed) removed.add(reference);
  }
  return {
    change: { puts, isRemoved: (record) => removed.has(referenceOf(record)) },
    outcomes,
    references,
  };
}

/**
 * Returns the company with the id, else the one with a source record of that id. If neither is there, the edit may already have
 * been made, just before another writer deleted the company: then the override waits, in a document without a company. To remove
 * an override, the id may also be the one that its company had when a field was last set, if no company has this id now or if the
 * override waits.
 */
function companyWith(
  stored: readonly StoredCompany[],
  { id, field, override }: FieldEdit,
): StoredCompany | undefined {
  const inOrder = stored.toSorted((a, b) => compareDocs(a.doc, b.doc));
  const found =
    inOrder.find(({ doc }) => doc._id === id && !isWaiting(doc) && !isOtherSecurity(id)) ??
    inOrder.find(({ records }) => records.some((record) => statesCompany(record) && record.id === id)) ??
    inOrder.find((company) => override !== undefined && holds(company, override));
  if (override !== undefined || (found !== undefined && hasOverride(found, field))) return found;
  const named = inOrder.filter(
    ({ doc, records }) =>
      (found === undefined || isWaiting(doc)) &&
      records.some(({ overrides }) => overrides?.company?.id === id),
  );
  return named.find((company) => hasOverride(company, field)) ?? found ?? named[0];
}

function hasOverride({ records }: StoredCompany, field: string): boolean {
  return records.some(({ overrides }) => overrides?.overrides.some((each) => each.field === field));
}

function holds({ records }: StoredCompany, override: Override): boolean {
  return records.some(({ overrides }) => overrides?.overrides.some((each) => haveSameBytes(each, override)));
}

export function withoutCompany(id: string): FieldOutcome {
  return {
    refused: `there is no record "${id.slice(0, 100)}": bds resolve finds the id of a name, ticker or domain`,
  };
}

function editCompany(
  company: StoredCompany,
  edits: readonly FieldEdit[],
): { outcomes: FieldOutcome[]; puts: SourceRecord[]; removed: string[] } {
  const before = company.records.filter(({ overrides }) => overrides !== undefined);
  const sets: Sets = new Map(
    before
      .toSorted((a, b) => compareTexts(a.id, b.id))
      .map(({ id, overrides }) => [id, overrides ?? OverrideSet.create()]),
  );
  const records = recordsOf(company);
  const own = ownSetOf(sets, records) ?? new ObjectId().toHexString();
  const outcomes = edits.map((edit) => editField(sets, own, edit));
  if (edits.some(({ override }, index) => override !== undefined && outcomes[index] === 'changed')) {
    const brand = brandWith(company, sets);
    const problems = problemsOfEdits(brandWith(company, new Map()), brand, edits);
    if (problems.size > 0) {
      const refusals = edits.map(({ field }): FieldOutcome => {
        const problem = problems.get(field);
        return problem === undefined ? 'held_back' : { refused: problem };
      });
      return { outcomes: refusals, puts: [], removed: [] };
    }
    const { overrides } = sets.get(own) ?? OverrideSet.create();
    sets.set(own, { overrides, records, company: identifyingFieldsOf({ ...brand, id: company.doc._id }) });
  }
  const left = [...sets].filter(([, { overrides }]) => overrides.length > 0);
  const old = new Map(before.map((record) => [record.id, record]));
  return {
    outcomes,
    puts: left
      .map(([id, set]) => overrideRecordOf(id, set))
      .filter(({ id, bytes }) => Buffer.compare(old.get(id)?.bytes ?? Buffer.of(), bytes) !== 0),
    removed: before.filter(({ id }) => !left.some(([other]) => other === id)).map(referenceOf),
  };
}

/**
 * Returns the id of the set that names the company's first source record first. The company may have further sets, from companies
 * that were joined with it. Those sets stay unchanged, because they go back to their companies if the companies are separated
 * again.
 */
function ownSetOf(sets: Sets, records: OverrideSet['records']): string | undefined {
  const firstOf = ([first]: OverrideSet['records']) => first && referenceOf(first);
  return [...sets].find(([, set]) => firstOf(set.records) === firstOf(records))?.[0];
}

/**
 * Changes `sets`, and puts the override into the set `own`. A field is then in at most one set. To set a group replaces the
 * overrides of its fields.
 */
function editField(sets: Sets, own: string, { field, override }: FieldEdit): 'changed' | 'unchanged' {
  const present = [...sets.values()].flatMap(({ overrides }) =>
    overrides.filter((each) => each.field === field),
  );
  if (override === undefined ? present.length === 0 : present.some((each) => isSame(each, override)))
    return 'unchanged';
  const isReplaced = (other: string) =>
    other === field || (override !== undefined && other.startsWith(`${field}.`));
  for (const [id, set] of sets)
    sets.set(id, { ...set, overrides: set.overrides.filter((each) => !isReplaced(each.field)) });
  if (override !== undefined) {
    const set = sets.get(own) ?? OverrideSet.create();
    const overrides = [...set.overrides, override].sort((a, b) => compareTexts(a.field, b.field));
    sets.set(own, { ...set, overrides });
  }
  return 'changed';
}

/** Checks whether the values and reasons are equal. Who says it again, and when, changes nothing. */
function isSame(a: Override, b: Override): boolean {
  return haveSameBytes({ ...a, by: '', atMs: 0 }, { ...b, by: '', atMs: 0 });
}

function haveSameBytes(a: Override, b: Override): boolean {
  return Buffer.compare(Override.encode(a).finish(), Override.encode(b).finish()) === 0;
}

function brandWith({ records }: StoredCompany, sets: Sets): Brand {
  const stated = records.filter(({ overrides }) => overrides === undefined);
  return mergeRecords([...stated, ...[...sets].map(([id, set]) => overrideRecordOf(id, set))]).brand;
}

/** Returns the names of the company's source records, first the one that gives the company its id. */
export function recordsOf({ doc, records }: StoredCompany): OverrideSet['records'] {
  return records
    .filter(statesCompany)
    .map(({ source, id }) => ({ source, id }))
    .sort((a, b) => Number(givesId(b, doc._id)) - Number(givesId(a, doc._id)));
}

/**
 * Returns the problems by the fields of the edits. A record must satisfy the same rules with the operator's values as without
 * them, but problems that it has without them do not count.
 */
function problemsOfEdits(before: Brand, after: Brand, edits: readonly FieldEdit[]): Map<string, string> {
  const known = new Set(problemsOf(before));
  const found = new Map<string, string>();
  const fields = edits.flatMap(({ field, override }) => (override === undefined ? [] : [field]));
  for (const problem of problemsOf(after).filter((each) => !known.has(each))) {
    const [place = ''] = problem.split(' ', 1);
    const field = fields.find((each) => isPartOf(place, each) || isPartOf(each, place)) ?? fields[0] ?? place;
    if (!found.has(field)) found.set(field, problem);
  }
  const isManager = ({ type }: Brand) => type === BrandType.SUPERINVESTOR;
  if (isManager(before) !== isManager(after))
    found.set('type', 'type cannot make a company a superinvestor, or a superinvestor a company');
  for (const { field, override } of edits)
    if (override?.value !== undefined && !found.has(field) && !hasData(fieldOf(after, field)))
      found.set(field, `${field} is only in records of type stock: set type and listings too`);
  return found;
}

/** Checks whether the place, such as "listings[0].isin", is the field or a part of it. */
function isPartOf(place: string, field: string): boolean {
  return place === field || place.startsWith(`${field}.`) || place.startsWith(`${field}[`);
}
