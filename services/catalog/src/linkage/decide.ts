import { Brand, type Override, type OverrideSet } from '@brand-data/contracts';
import { JOINED } from '@brand-data/records';
import { compareDocs, isOtherSecurity, isWaiting } from '../records/catalog-doc.ts';
import { isDecision, overrideRecordOf } from '../records/override-record.ts';
import { referenceOf, type SourceRecord, statesCompany } from '../records/source-record.ts';
import { givesId } from './decisions.ts';
import { type FieldOutcome, recordsOf, withoutCompany } from './edit-overrides.ts';
import type { Change, StoredCompany } from './linked-groups.ts';

/** What an operator decides about source records, or takes back. */
export interface LinkDecision {
  /** Its field is JOINED or SEPARATED. It has no value. */
  readonly decision: Override;
  /**
   * The two that are joined, or the one that is separated from its company. "wikidata/q312" means a source record, and an id means the
   * company with all its source records.
   */
  readonly names: readonly string[];
  readonly undo: boolean;
}

interface Decided {
  readonly outcome: FieldOutcome;
  readonly change: Change;
}

type Names = readonly OverrideSet['records'][number][];

/**
 * Returns the change that makes the decision or takes it back. Pure.
 *
 * @param stored all companies and decisions that have or name a source record with one of the ids
 * @param newId names the decision among all overrides, if it is new
 */
export function decide(stored: readonly StoredCompany[], request: LinkDecision, newId: string): Decided {
  const { decision, names, undo } = request;
  const ofKind = stored
    .flatMap(({ records }) => records)
    .filter((record) => isDecision(record, decision.field));
  const present = ofKind.filter((record) => isAbout(namesIn(record), request));
  if (!undo) return made(stored, request, { ofKind, before: present[0], newId });
  const removed = new Set(present.map(referenceOf));
  return {
    outcome: removed.size > 0 ? 'changed' : 'unchanged',
    change: { puts: [], isRemoved: (record) => removed.has(referenceOf(record)) },
  };

  function isAbout(named: Names, { decision }: LinkDecision): boolean {
    const meant = names.map((name) => named.filter((record) => isMeant(record, name)));
    if (decision.field !== JOINED) return named[0] !== undefined && meant[0]?.includes(named[0]) === true;
    return meant.every(({ length }) => length > 0) && new Set(meant.flat()).size > 1;
  }
}

function made(
  stored: readonly StoredCompany[],
  { decision, names }: LinkDecision,
  known: { ofKind: readonly SourceRecord[]; before: SourceRecord | undefined; newId: string },
): Decided {
  const { ofKind, before, newId } = known;
  const unmade = (outcome: FieldOutcome): Decided => ({ outcome, change: { puts: [] } });
  const meant: Meant[] = [];
  for (const name of names) {
    const found = meantBy(name, stored);
    if (found === undefined) return unmade(withoutCompany(name));
    meant.push(found);
  }
  const isJoin = decision.field === JOINED;
  const areManagers = meant.map(({ records: [record] }) => record?.identity.isManager);
  if (new Set(areManagers).size > 1)
    return unmade({ refused: 'a superinvestor and a company are never one' });
  const own = meant.flatMap(({ records }) => representatives(records, ofKind));
  const beside = isJoin ? [] : meant.flatMap(({ company }) => recordsOf(company));
  const stated = before ? namesIn(before) : [];
  const records = isJoin && before ? stated : unique([...own, ...stated, ...beside]);
  if (records.length < 2)
    return unmade({ refused: `${names.join(' and ')}: a company with one source record, and nothing else` });
  const isKnown = before?.overrides?.overrides[0]?.reason === decision.reason;
  if (isKnown && records.length === stated.length) return unmade('unchanged');
  const company = before?.brand ?? Brand.fromPartial({ id: meant[0]?.company.doc._id ?? '' });
  const put = overrideRecordOf(before?.id ?? newId, {
    overrides: [decision],
    records: [...records],
    company,
  });
  return { outcome: 'changed', change: { puts: [put] } };
}

/**
 * Returns the records without those that an earlier decision joins with one of them, so that each decision can be taken back without the
 * others.
 */
function representatives(records: Names, decisions: readonly SourceRecord[]): Names {
  const represented = new Set<string>();
  return records.filter((record) => {
    const reference = referenceOf(record);
    if (represented.has(reference)) return false;
    for (const named of decisions.map((decision) => namesIn(decision).map(referenceOf)))
      if (named.includes(reference)) for (const other of named) represented.add(other);
    return true;
  });
}

interface Meant {
  readonly company: StoredCompany;
  /** First the one that gives the company its id, if the company is meant. */
  readonly records: readonly SourceRecord[];
}

function meantBy(name: string, stored: readonly StoredCompany[]): Meant | undefined {
  const companies = stored
    .filter(({ doc }) => !isWaiting(doc) && !isOtherSecurity(doc._id))
    .sort((a, b) => compareDocs(a.doc, b.doc));
  const whole = companies.find(({ doc }) => doc._id === name);
  if (whole !== undefined) {
    const inOrder = recordsOf(whole).map(referenceOf);
    const records = whole.records.filter(statesCompany);
    records.sort((a, b) => inOrder.indexOf(referenceOf(a)) - inOrder.indexOf(referenceOf(b)));
    return { company: whole, records };
  }
  for (const company of companies) {
    const records = company.records.filter((record) => statesCompany(record) && isMeant(record, name));
    if (records.length > 0) return { company, records };
  }
  return undefined;
}

/** Checks whether the name is the source record's own, its id, or the id of a company that has it from the record. */
function isMeant(record: Names[number], name: string): boolean {
  return referenceOf(record) === name || givesId(record, name);
}

function namesIn({ overrides }: SourceRecord): Names {
  return overrides?.records ?? [];
}

function unique(names: Names): Names {
  return [...new Map(names.map(({ source, id }) => [referenceOf({ source, id }), { source, id }])).values()];
}
