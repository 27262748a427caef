import { append } from '../records/append.ts';
import { type CatalogDoc, hasSameContent } from '../records/catalog-doc.ts';
import { mainListingOf } from '../records/merge.ts';
import { noMainListing } from '../records/quotes.ts';
import { referenceOf, type SourceRecord, statesSecurity } from '../records/source-record.ts';
import { cluster, type LinkOf, linkOf } from './clustering.ts';
import { companiesOf, type PlannedCompany, securityOf } from './companies.ts';
import { conflictsOfPuts, type PutConflict } from './conflicts.ts';
import { idsOf, withIds } from './ids.ts';
import {
  type Change,
  isTooLarge,
  type LinkageOptions,
  type LinkedGroup,
  linkedGroups,
  MAX_LINKED,
  type StoredCompany,
} from './linked-groups.ts';
import { type PutRefusedLink, refusedLinksOf } from './refused-links.ts';

const TOO_LARGE = `its identifiers link it with more than ${MAX_LINKED} others: correct the identifiers that are not its own`;
const MAX_KEYS = 1_000;
/** Small enough that the 200 answers of a look-up fit into one message of 16 MiB. */
const MAX_BYTES = 72 * 1024;

export type PutOutcome = 'created' | 'changed' | 'unchanged' | { refused: string };

/** A write to one company's document. */
export type Write =
  | { readonly kind: 'insert'; readonly doc: CatalogDoc }
  | { readonly kind: 'delete'; readonly before: CatalogDoc }
  /** `mark` changes only the ids of the imports that brought the source records. */
  | { readonly kind: 'replace' | 'mark'; readonly before: CatalogDoc; readonly doc: CatalogDoc };

export interface Plan {
  /** The writes of an inner list are made together or not at all. */
  readonly writes: readonly (readonly Write[])[];
  /** Outcomes of the puts, by reference. */
  readonly outcomes: ReadonlyMap<string, PutOutcome>;
  /** References of the removed source records. */
  readonly removed: readonly string[];
  readonly conflicts: readonly PutConflict[];
  readonly refusedLinks: readonly PutRefusedLink[];
}

/**
 * Plans the writes that bring the catalogue into the same state as if all its source records had been put at once.
 * Yields between groups, so that the caller can let other work run. Pure except for the new revisions.
 *
 * @param stored by id, all companies that are linked with the change or share identifiers with it
 */
export function* planChange(
  change: Change,
  stored: ReadonlyMap<string, StoredCompany>,
  options: LinkageOptions = {},
): Generator<undefined, Plan> {
  const { linkOf: link = linkOf, hotKeys } = options;
  const outcomes = new Map<string, PutOutcome>();
  const writes: Write[][] = [];
  const removed: string[] = [];
  const planned = new Map<string, PlannedCompany>();
  const plannedIds = new Set<string>();
  const affected = new Set<string>();
  const holders = holdersOfIds(stored.values());
  for (const group of linkedGroups(change, stored.values(), options)) {
    yield;
    const refuse = (refused: string) => {
      for (const put of group.puts) outcomes.set(referenceOf(put), { refused });
    };
    // Clustering compares records in pairs, which would take too long for so many.
    if (group.puts.length > 0 && isTooLarge(group)) {
      refuse(TOO_LARGE);
      continue;
    }
    const before = new Map(group.stored.map((company) => [company.doc._id, company.doc]));
    const isTaken = (id: string, own: ReadonlySet<string>) =>
      plannedIds.has(id) || (holders.get(id) ?? []).some((holder) => !own.has(holder));
    const next = planGroup(group, { change, link, outcomes, isTaken });
    const refusal = refusalOfCompanies(next);
    if (refusal !== undefined && group.puts.length > 0) {
      refuse(refusal);
      continue;
    }
    for (const company of next) {
      planned.set(company.doc._id, company);
      for (const id of idsOf(company.doc)) plannedIds.add(id);
    }
    for (const id of before.keys()) affected.add(id);
    const groupWrites = writesBetween(before, next);
    if (groupWrites.length > 0) writes.push(groupWrites);
    removed.push(
      ...group.stored.flatMap(({ records }) =>
        records.filter((record) => change.isRemoved?.(record)).map(referenceOf),
      ),
    );
  }
  const others = [...stored.values()].filter(({ doc }) => !affected.has(doc._id));
  const conflicts = conflictsOfPuts(change.puts, [...planned.values()], others, hotKeys);
  const refusedLinks = refusedLinksOf(change.puts, [...planned.values()], others, options);
  return { writes, outcomes, removed, conflicts, refusedLinks };
}

/** For each id, the stored companies that have it, or a source record with it. */
function holdersOfIds(stored: Iterable<StoredCompany>): ReadonlyMap<string, string[]> {
  const holders = new Map<string, string[]>();
  for (const { doc } of stored) for (const id of new Set(idsOf(doc))) append(holders, id, doc._id);
  return holders;
}

interface GroupOptions {
  readonly change: Change;
  readonly link: LinkOf;
  readonly outcomes: Map<string, PutOutcome>;
  /** Whether a company other than those with the ids `own` has the id, or a source record with it. */
  readonly isTaken: (id: string, own: ReadonlySet<string>) => boolean;
}

/** Returns the group's companies after the change. Refuses a put quote if its listing is not the main listing of any company. */
function planGroup(group: LinkedGroup, options: GroupOptions): PlannedCompany[] {
  const { change, link, outcomes, isTaken } = options;
  const replaced = new Set(group.puts.map(referenceOf));
  const before = group.stored.flatMap(({ records }) => records);
  const old = new Map(before.map((record) => [referenceOf(record), record]));
  const puts = group.puts.map((put) => withNewestImport(put, old.get(referenceOf(put))));
  const kept = before.filter((record) => !change.isRemoved?.(record) && !replaced.has(referenceOf(record)));
  const { quotes = [], overrides = [], securities = [] } = Object.groupBy([...kept, ...puts], kindOfRecord);
  const used = new Set<string>();
  const clusters = group.parts.flatMap((part) => {
    const references = new Set(
      [...part.stored.flatMap(({ records }) => records), ...part.puts].map(referenceOf),
    );
    const records = [...kept, ...puts].filter(
      (record) => kindOfRecord(record) === 'records' && references.has(referenceOf(record)),
    );
    const docs = part.stored.map(({ doc }) => doc);
    const own = new Set(docs.map(({ _id }) => _id));
    const identified = withIds(
      cluster(records, { linkOf: link, commonNames: group.commonNames }),
      docs,
      (id) => used.has(id) || isTaken(id, own),
    );
    for (const { id, members } of identified)
      for (const one of [id, ...members.map((each) => each.id)]) used.add(one);
    return identified;
  });
  const companies = [
    ...companiesOf(clusters, quotes, overrides, group.commonNames),
    ...securities.map(securityOf),
  ];

  const misplaced = group.puts.filter(
    (put) =>
      put.isQuote && !companies.some(({ doc, brand }) => mainListingOf(brand) === put.id && holds(doc, put)),
  );
  if (misplaced.length > 0) {
    for (const put of misplaced) outcomes.set(referenceOf(put), { refused: noMainListing(put.id) });
    const placed = group.puts.filter((put) => !misplaced.includes(put));
    return planGroup({ ...group, puts: placed }, options);
  }
  for (const { doc } of companies) {
    const isNew = doc.contributions.every((mark) => !old.has(referenceOf(mark)));
    for (const mark of doc.contributions) {
      const reference = referenceOf(mark);
      if (!replaced.has(reference)) continue;
      const was = old.get(reference);
      const put = group.puts.find((one) => referenceOf(one) === reference);
      const isSame = was !== undefined && put !== undefined && Buffer.compare(was.bytes, put.bytes) === 0;
      outcomes.set(reference, isNew ? 'created' : isSame ? 'unchanged' : 'changed');
    }
  }
  return companies;
}

function kindOfRecord(record: SourceRecord): 'quotes' | 'overrides' | 'securities' | 'records' {
  if (record.isQuote) return 'quotes';
  if (statesSecurity(record)) return 'securities';
  return record.overrides === undefined ? 'records' : 'overrides';
}

/** Keeps the newer import's id when a late batch of an older import brings the record again. */
function withNewestImport(put: SourceRecord, stored: SourceRecord | undefined): SourceRecord {
  return stored !== undefined && stored.importId > put.importId ? { ...put, importId: stored.importId } : put;
}

function holds(doc: CatalogDoc, put: SourceRecord): boolean {
  return doc.contributions.some(({ source, id }) => source === put.source && id === put.id);
}

function refusalOfCompanies(next: readonly PlannedCompany[]): string | undefined {
  for (const { doc } of next) {
    if (doc.keys.length > MAX_KEYS)
      return `the record has ${doc.keys.length} names, domains and tickers to be found by, with those of its other sources: ${MAX_KEYS} are allowed`;
    if (doc.brand.length > MAX_BYTES)
      return `the record has ${doc.brand.length} bytes, with those of its other sources: ${MAX_BYTES} are allowed`;
  }
  return undefined;
}

function writesBetween(before: ReadonlyMap<string, CatalogDoc>, next: readonly PlannedCompany[]): Write[] {
  const after = new Set(next.map(({ doc }) => doc._id));
  const gone = [...before.values()].filter(({ _id }) => !after.has(_id));
  return [
    ...gone.map((doc): Write => ({ kind: 'delete', before: doc })),
    ...next.flatMap(({ doc }): Write[] => {
      const old = before.get(doc._id);
      if (old === undefined) return [{ kind: 'insert', doc }];
      if (!hasSameContent(old, doc)) return [{ kind: 'replace', before: old, doc }];
      const isMarked = doc.contributions.some(
        ({ importId }, index) => importId !== old.contributions[index]?.importId,
      );
      return isMarked ? [{ kind: 'mark', before: old, doc }] : [];
    }),
  ];
}
