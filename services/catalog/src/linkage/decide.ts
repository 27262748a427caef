import { Brand, type Override, type OverrideSet } from '@brand-data/contracts';
import { JOINED, SEPARATED } from '@brand-data/records';
import { compareDocs, isOtherSecurity, isWaiting } from '../records/catalog-doc.ts';
import { isDecision, overrideRecordOf } from '../records/override-record.ts';
import { referenceOf, type SourceRecord, statesCompany } from '../records/source-record.ts';
import { areObeyed, CONTRADICTED, givesId } from './decisions.ts';
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
  if (!undo) return made(stored, request, ofKind, newId);
  // If no record has the name, the records that the decision names may be gone. Their ids are then compared with the name.
  const isAbout = names.map((name) => {
    const { named } = meantBy(name, stored) ?? {};
    return (record: Names[number]) => (named?.size ? named.has(referenceOf(record)) : isMeant(record, name));
  });
  const removed = new Set(ofKind.filter((each) => decides(each, isAbout)).map(referenceOf));
  return {
    outcome: removed.size > 0 ? 'changed' : 'unchanged',
    change: { puts: [], isRemoved: (record) => removed.has(referenceOf(record)) },
  };
}

/** Checks whether the decision is about records of which each of these functions accepts one. */
function decides(decision: SourceRecord, isAbout: readonly ((record: Names[number]) => boolean)[]): boolean {
  const named = namesIn(decision);
  if (isDecision(decision, SEPARATED)) return named[0] !== undefined && isAbout[0]?.(named[0]) === true;
  const meant = isAbout.map((accepts) => named.filter(accepts));
  return meant.every(({ length }) => length > 0) && new Set(meant.flat()).size > 1;
}

function made(
  stored: readonly StoredCompany[],
  { decision, names }: LinkDecision,
  ofKind: readonly SourceRecord[],
  newId: string,
): Decided {
  const unmade = (outcome: FieldOutcome): Decided => ({ outcome, change: { puts: [] } });
  const meant: Meant[] = [];
  for (const name of names) {
    const found = meantBy(name, stored);
    if (found === undefined) return unmade(withoutCompany(name));
    meant.push(found);
  }
  // An earlier decision that names other records with the same ids, which may be gone, is another one.
  const isAbout = meant.map(
    ({ named }) =>
      (record: Names[number]) =>
        named.has(referenceOf(record)),
  );
  const before = ofKind.find((each) => decides(each, isAbout));
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
  if (before && isKnown && records.length === stated.length) {
    const companies = stored.filter(({ doc }) => !isWaiting(doc)).map((company) => company.records);
    return unmade(areObeyed([before], companies) ? 'unchanged' : { refused: CONTRADICTED });
  }
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
  /** References of the records by which earlier decisions about the name are known. Without a company of this id, it names them all. */
  readonly named: ReadonlySet<string>;
}

function meantBy(name: string, stored: readonly StoredCompany[]): Meant | undefined {
  const companies = stored
    .filter(({ doc }) => !isWaiting(doc) && !isOtherSecurity(doc._id))
    .sort((a, b) => compareDocs(a.doc, b.doc));
  const whole = companies.find(({ doc }) => doc._id === name);
  const withName = (whole ? [whole] : companies).map((company) => ({
    company,
    records: company.records.filter((record) => statesCompany(record) && isMeant(record, name)),
  }));
  const named = new Set(withName.flatMap(({ records }) => records.map(referenceOf)));
  if (whole !== undefined) {
    const inOrder = recordsOf(whole).map(referenceOf);
    const records = whole.records.filter(statesCompany);
    records.sort((a, b) => inOrder.indexOf(referenceOf(a)) - inOrder.indexOf(referenceOf(b)));
    return { company: whole, records, named };
  }
  const found = withName.find(({ records }) => records.length > 0);
  return found && { ...found, named };
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
