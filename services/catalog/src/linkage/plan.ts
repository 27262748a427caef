import { type CatalogDoc, hasSameContent } from '../records/catalog-doc.ts';
import { mainListingOf } from '../records/merge.ts';
import { isDecision } from '../records/override-record.ts';
import { noMainListing } from '../records/quotes.ts';
import { referenceOf, type SourceRecord, statesSecurity } from '../records/source-record.ts';
import { cluster, linkOf } from './clustering.ts';
import { companiesOf, type PlannedCompany, securityOf } from './companies.ts';
import { conflictsOfPuts, type PutConflict } from './conflicts.ts';
import { areObeyed, CONTRADICTED, preferredBy } from './decisions.ts';
import { type IdentifiedCluster, type Reclustered, withIds } from './ids.ts';
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

/** A put is `alone` if the change wants only puts that join a company, and no record of another source is in its company. */
export type PutOutcome = 'created' | 'changed' | 'unchanged' | 'alone' | { refused: string };

/** A write to one company's document. */
export type Write =
  | { readonly kind: 'insert'; readonly doc: CatalogDoc }
  | { readonly kind: 'delete'; readonly before: CatalogDoc }
  /** `mark` changes only the ids of the imports that brought the source records. */
  | { readonly kind: 'replace' | 'mark'; readonly before: CatalogDoc; readonly doc: CatalogDoc };

/** What a plan does to a source record or quote: it states something else afterwards, or is in another company, or both. */
export interface RecordChange {
  readonly source: string;
  readonly id: string;
  readonly isQuote: boolean;
  readonly before?: { readonly record: SourceRecord; readonly companyId: string };
  readonly after?: { readonly bytes: Uint8Array; readonly companyId: string };
}

export interface Plan {
  /** The writes of an inner list are made together or not at all. */
  readonly writes: readonly (readonly Write[])[];
  /** By inner list: what its writes do to source records. Those that only get another import's id are missing. */
  readonly changes: ReadonlyMap<readonly Write[], readonly RecordChange[]>;
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
 * @param groups the groups of the change among these companies
 */
export function* planChange(
  change: Change,
  stored: ReadonlyMap<string, StoredCompany>,
  groups: readonly LinkedGroup[],
  options: LinkageOptions = {},
): Generator<undefined, Plan> {
  const { hotKeys } = options;
  const outcomes = new Map<string, PutOutcome>();
  const refuse = ({ puts }: LinkedGroup, refused: string) => {
    for (const put of puts) outcomes.set(referenceOf(put), { refused });
  };
  const clustered: ClusteredGroup[] = [];
  for (const group of groups) {
    yield;
    // Clustering compares records in pairs, which would take too long for so many.
    if (group.puts.length > 0 && isTooLarge(group)) refuse(group, TOO_LARGE);
    else clustered.push(clusteredGroup(group, change, options));
  }
  const alone = change.onlyJoining ? putsAlone(clustered, change) : [];
  if (alone.length > 0) {
    const joining = { ...change, puts: change.puts.filter((put) => !alone.includes(put)) };
    const groupsOfJoining = linkedGroups(joining, stored.values(), options);
    const plan = yield* planChange(joining, stored, groupsOfJoining, options);
    const outcomesOfAlone = alone.map((put): [string, PutOutcome] => [referenceOf(put), 'alone']);
    return { ...plan, outcomes: new Map([...plan.outcomes, ...outcomesOfAlone]) };
  }
  // The order of the groups depends on that of the stored companies, so ids are given to the clusters of all groups together.
  const identified = withIds(
    clustered.flatMap(({ parts }) => parts),
    [...stored.values()].map(({ doc }) => doc),
    options.idsBefore,
  );
  const writes: Write[][] = [];
  const changes = new Map<readonly Write[], readonly RecordChange[]>();
  const removed: string[] = [];
  const planned: PlannedCompany[] = [];
  const affected = new Set<string>();
  for (const each of clustered) {
    yield;
    const { group, parts } = each;
    const clusters = parts.flatMap((part) =>
      part.clusters.flatMap((members) => identified.get(members) ?? []),
    );
    const next = planGroup(group, clusters, { change, outcomes });
    const refusal = refusalOfDecisions(each) ?? refusalOfCompanies(next);
    if (refusal !== undefined && group.puts.length > 0) {
      refuse(group, refusal);
      continue;
    }
    planned.push(...next);
    const before = new Map(group.stored.map(({ doc }) => [doc._id, doc]));
    for (const id of before.keys()) affected.add(id);
    const groupWrites = writesBetween(before, next);
    if (groupWrites.length > 0) writes.push(groupWrites);
    if (groupWrites.some(({ kind }) => kind !== 'mark'))
      changes.set(groupWrites, recordChanges(group.stored, next));
    removed.push(
      ...group.stored.flatMap(({ records }) =>
        records.filter((record) => change.isRemoved?.(record)).map(referenceOf),
      ),
    );
  }
  const others = [...stored.values()].filter(({ doc }) => !affected.has(doc._id));
  const conflicts = conflictsOfPuts(change.puts, planned, others, hotKeys);
  const decisions = clustered.flatMap(({ parts }) => parts.flatMap((part) => part.decisions));
  const refusedLinks = refusedLinksOf(change.puts, planned, others, { ...options, decisions });
  return { writes, changes, outcomes, removed, conflicts, refusedLinks };
}

/** Returns the puts that are in clusters without a record of another source. */
function putsAlone(groups: readonly ClusteredGroup[], { puts }: Change): SourceRecord[] {
  const clusters = groups.flatMap(({ parts }) => parts.flatMap(({ clusters }) => clusters));
  const members = clusters
    .filter((cluster) => new Set(cluster.map(({ source }) => source)).size === 1)
    .flat();
  const alone = new Set(members.map(referenceOf));
  return puts.filter((put) => alone.has(referenceOf(put)));
}

interface ClusteredGroup {
  readonly group: LinkedGroup;
  readonly parts: readonly (Reclustered & { readonly decisions: readonly SourceRecord[] })[];
}

function clusteredGroup(
  group: LinkedGroup,
  change: Change,
  { linkOf: link = linkOf }: LinkageOptions,
): ClusteredGroup {
  const parts = group.parts.map(({ puts, stored }) => {
    const after = recordsAfter({ puts, stored }, change);
    const records = after.filter((record) => kindOfRecord(record) === 'records');
    const decisions = after.filter((record) => isDecision(record));
    const removed = stored.flatMap((company) =>
      company.records.filter((record) => change.isRemoved?.(record)),
    );
    return {
      clusters: cluster(records, { linkOf: link, commonNames: group.commonNames, decisions }),
      before: stored.map(({ doc }) => doc),
      preferred: preferredBy([...puts, ...removed].filter((record) => isDecision(record))),
      decisions,
    };
  });
  return { group, parts };
}

/** Returns why a decision of the change cannot be made, if it is one. */
function refusalOfDecisions({ group, parts }: ClusteredGroup): string | undefined {
  const hasDecision = group.puts.some((put) => isDecision(put));
  return hasDecision && !parts.every(({ decisions, clusters }) => areObeyed(decisions, clusters))
    ? CONTRADICTED
    : undefined;
}

/** Returns the source records that the companies have after the change. */
function recordsAfter(
  { puts, stored }: Pick<LinkedGroup, 'puts' | 'stored'>,
  change: Change,
): SourceRecord[] {
  const before = stored.flatMap(({ records }) => records);
  if (before.length === 0) return [...puts];
  const old = new Map(before.map((record) => [referenceOf(record), record]));
  const replaced = new Set(puts.map(referenceOf));
  return [
    ...before.filter((record) => !change.isRemoved?.(record) && !replaced.has(referenceOf(record))),
    ...puts.map((put) => (change.isUndo ? put : withNewestImport(put, old.get(referenceOf(put))))),
  ];
}

interface GroupOptions {
  readonly change: Change;
  readonly outcomes: Map<string, PutOutcome>;
}

/** Returns the group's companies after the change. Refuses a put quote if its listing is not the main listing of any company. */
function planGroup(
  group: LinkedGroup,
  clusters: readonly IdentifiedCluster[],
  options: GroupOptions,
): PlannedCompany[] {
  const { change, outcomes } = options;
  const replaced = new Set(group.puts.map(referenceOf));
  const old = new Map(
    group.stored.flatMap(({ records }) => records).map((record) => [referenceOf(record), record]),
  );
  const {
    quotes = [],
    overrides = [],
    securities = [],
  } = Object.groupBy(recordsAfter(group, change), kindOfRecord);
  const companies = [
    ...companiesOf(clusters, quotes, overrides, group.commonNames),
    ...securities.map(securityOf),
  ];

  // A quote that comes back may have been stored before its company got another main listing.
  const fits = ({ brand }: PlannedCompany, put: SourceRecord) =>
    change.isUndo || mainListingOf(brand) === put.id;
  const misplaced = group.puts.filter(
    (put) => put.isQuote && !companies.some((company) => fits(company, put) && holds(company.doc, put)),
  );
  if (misplaced.length > 0) {
    for (const put of misplaced) outcomes.set(referenceOf(put), { refused: noMainListing(put.id) });
    const placed = group.puts.filter((put) => !misplaced.includes(put));
    return planGroup({ ...group, puts: placed }, clusters, options);
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

function recordChanges(stored: readonly StoredCompany[], next: readonly PlannedCompany[]): RecordChange[] {
  const before = new Map<string, RecordChange['before']>();
  for (const { doc, records } of stored)
    for (const record of records)
      if (!record.overrides) before.set(referenceOf(record), { record, companyId: doc._id });
  const changes: RecordChange[] = [];
  for (const { doc, members } of next)
    for (const [index, mark] of doc.contributions.entries()) {
      if (mark.overrides) continue;
      const was = before.get(referenceOf(mark));
      before.delete(referenceOf(mark));
      const bytes = members[index]?.bytes ?? doc.parts?.[index] ?? doc.brand;
      const isSame = was !== undefined && Buffer.compare(was.record.bytes, bytes) === 0;
      if (isSame && was.companyId === doc._id) continue;
      const { source, id, quote: isQuote = false } = mark;
      changes.push({
        source,
        id,
        isQuote,
        ...(was && { before: was }),
        after: { bytes, companyId: doc._id },
      });
    }
  for (const gone of before.values())
    if (gone !== undefined) {
      const { source, id, isQuote } = gone.record;
      changes.push({ source, id, isQuote, before: gone });
    }
  return changes;
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
      // A document of an earlier version has other entries for searches, or none.
      const isFound = old.search?.join('\n') === doc.search?.join('\n');
      if (!isFound || !hasSameContent(old, doc)) return [{ kind: 'replace', before: old, doc }];
      const isMarked = doc.contributions.some(
        ({ importId }, index) => importId !== old.contributions[index]?.importId,
      );
      return isMarked ? [{ kind: 'mark', before: old, doc }] : [];
    }),
  ];
}
