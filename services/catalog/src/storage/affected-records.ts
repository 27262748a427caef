import type { Mongo } from '@brand-data/runtime';
import {
  type ClientSession,
  type Collection,
  type Filter,
  type FindOneOptions,
  MongoServerError,
} from 'mongodb';
import type { LinkOf } from '../linkage/clustering.ts';
import { linksOnlySources } from '../linkage/conflicts.ts';
import {
  type Change,
  isTooLarge,
  keysOfGroup,
  type LinkedGroup,
  linkedGroups,
  type StoredCompany,
  storedCompanyFromDoc,
} from '../linkage/linked-groups.ts';
import type { Write } from '../linkage/plan.ts';
import { append } from '../records/append.ts';
import { type CatalogDoc, LINK_ONLY } from '../records/catalog-doc.ts';
import type { SourceRecord } from '../records/source-record.ts';

const READ_MS = 10_000;
/** SnapshotTooOld, SnapshotUnavailable. */
const SNAPSHOT_GONE: readonly unknown[] = [239, 246];
/** The most documents that one query reads. Fewer documents than that have the identifying keys of one batch. */
const MAX_DOCS = 2_000;
/**
 * A key that more documents than this share is hot and links no records, whatever the batch: a common name, a host with a shop for
 * each customer, or an ISIN that a faulty file has in every row.
 */
export const HOT_KEY_DOCS = 100;

/** A change with the stored companies that its plan needs. */
export interface AffectedChange {
  readonly change: Change;
  /** By id: companies that hold changed source records, companies linked with them, and companies that share keys. */
  readonly stored: ReadonlyMap<string, StoredCompany>;
  /** All documents with these keys are in `stored`. */
  readonly searchedKeys: readonly string[];
  readonly hotKeys: ReadonlySet<string>;
  /** The groups that the change affects, as `linkedGroups` returns them for `stored`. */
  readonly groups: readonly LinkedGroup[];
  /** Whether any document had keys that begin with LINK_ONLY. If none had, they were not searched. */
  readonly hasLinkOnly: boolean;
  /** Whether keys were left out that link only records of several sources. */
  readonly hasOneSource: boolean;
}

/** A change, or a function that makes one from the documents that `holders` finds. */
export type ChangeOf = Change | ((holders: readonly StoredCompany[]) => Change);

interface FindOptions {
  /** The filter of the documents that hold changed source records. Undefined: the change's keys should find them all. */
  holders: Filter<CatalogDoc> | undefined;
  /** Whether the catalogue knows one source only. Records of one source are not linked, so the search leaves out some keys. */
  hasOneSource?: boolean;
  linkOf: LinkOf;
  /** Awaited between steps. */
  yieldIfLong: () => Promise<void>;
}

/**
 * Reads the companies that a change affects, all as they were at one moment, so that a source record that moves meanwhile is in
 * exactly one of them. Undefined if the database cannot provide the snapshot: it is too old, or not available yet.
 */
export async function findAffectedRecords(
  { client }: Mongo,
  companies: Collection<CatalogDoc>,
  changeOf: ChangeOf,
  options: FindOptions,
): Promise<AffectedChange | undefined> {
  try {
    return await client.withSession({ snapshot: true }, (session) =>
      findInSnapshot(session, companies, changeOf, options),
    );
  } catch (error) {
    if (error instanceof MongoServerError && SNAPSHOT_GONE.includes(error.code)) return undefined;
    throw error;
  }
}

async function findInSnapshot(
  session: ClientSession,
  companies: Collection<CatalogDoc>,
  changeOf: ChangeOf,
  { holders, hasOneSource = false, ...options }: FindOptions,
): Promise<AffectedChange> {
  const found = holders === undefined ? [] : await companies.find(holders, readingAt(session)).toArray();
  const change = typeof changeOf === 'function' ? changeOf(found.map(storedCompanyFromDoc)) : changeOf;
  const hasLinkOnly = (await companies.findOne(...anyLinkOnly(readingAt(session)))) !== null;
  const search = (all: readonly string[]) => {
    const keys = hasOneSource ? all.filter((key) => !linksOnlySources(key)) : all;
    const searched = hasLinkOnly ? keys.flatMap((key) => [key, LINK_ONLY + key]) : keys;
    return findByKeys(session, companies, searched);
  };
  const affected = await collectAffectedRecords(change, found, { ...options, search });
  return { ...affected, change, hasLinkOnly, hasOneSource };
}

/** Searches for the companies that are linked with the change, then for those linked with these, until none is left. */
export async function collectAffectedRecords(
  change: Change,
  found: readonly CatalogDoc[],
  options: Pick<FindOptions, 'linkOf' | 'yieldIfLong'> & {
    search: (keys: readonly string[]) => Promise<KeySearch>;
  },
): Promise<Pick<AffectedChange, 'stored' | 'searchedKeys' | 'hotKeys' | 'groups'>> {
  const { search, linkOf, yieldIfLong } = options;
  const stored = new Map<string, StoredCompany>();
  const hotKeys = new Set<string>();
  const tried = new Set<string>();
  const searchedKeys: string[] = [];
  const add = async (docs: readonly CatalogDoc[]) => {
    for (const doc of docs) {
      await yieldIfLong();
      stored.set(doc._id, storedCompanyFromDoc(doc));
    }
  };
  await add(found);
  for (;;) {
    const groups = linkedGroups(change, stored.values(), { linkOf, hotKeys });
    const ofGroups = groups.filter((group) => !isTooLarge(group)).flatMap(keysOfGroup);
    const keys = [...new Set(ofGroups)].filter((key) => !tried.has(key));
    const found = keys.length === 0 ? undefined : await search(keys);
    for (const key of keys) tried.add(key);
    for (const key of found?.hotKeys ?? []) hotKeys.add(key);
    searchedKeys.push(...(found?.keys ?? []));
    const added = (found?.docs ?? []).filter(({ _id }) => !stored.has(_id));
    if (added.length === 0 && (found?.hotKeys ?? []).length === 0)
      return { stored, searchedKeys, hotKeys, groups };
    await add(added);
  }
}

/** The puts that have to be planned again, or "all" if it is not known which of this round's. */
export type Repeated = readonly SourceRecord[] | 'all';

/**
 * Finds the puts for which the writes may not be the last word. These are the puts whose group shares a searched key with a write that
 * was not made, or with a document that another writer has changed since it was read: it is new, or has a revision that was neither
 * read nor written. "all" if keys that begin with LINK_ONLY were not searched and are new. The session must see the writes.
 */
export async function putsToRepeat(
  companies: Collection<CatalogDoc>,
  affected: AffectedChange,
  { writes, isDone, session }: { writes: readonly Write[]; isDone: boolean; session: ClientSession },
): Promise<Repeated> {
  const { stored, searchedKeys, hasLinkOnly } = affected;
  const options = { session, batchSize: MAX_DOCS, maxTimeMS: READ_MS };
  if (!hasLinkOnly && (await companies.findOne(...anyLinkOnly({ session, maxTimeMS: READ_MS }))) !== null)
    return 'all';
  const written = new Map(writes.flatMap((write) => ('doc' in write ? [[write.doc._id, write.doc]] : [])));
  const revisions = new Map([...stored.values()].map(({ doc }) => [doc._id, doc.revision]));
  for (const write of writes) if (write.kind === 'delete') revisions.delete(write.before._id);
  for (const [id, { revision }] of written) revisions.set(id, revision);
  // A document that was written and is gone was removed by another writer.
  const missing = new Set(isDone ? [] : written.keys());
  const changed: string[] = [];
  const present = companies.find(
    { $or: [{ keys: { $in: [...searchedKeys] } }, { _id: { $in: [...missing] } }] },
    { ...options, projection: { revision: 1 } },
  );
  for await (const { _id, revision } of present) {
    missing.delete(_id);
    if (revisions.get(_id)?.equals(revision) !== true) changed.push(_id);
  }
  if (missing.size + changed.length === 0) return isDone ? [] : 'all';
  const keysOnly = { ...options, projection: { keys: 1 } };
  const docs = await companies.find({ _id: { $in: changed } }, keysOnly).toArray();
  if (docs.length < changed.length) return 'all';
  const planned = [...missing, ...changed].flatMap((id) => written.get(id) ?? []);
  return putsWithKeys(affected, [...docs, ...planned]);
}

/** Returns the puts of the groups that share a searched key with one of the documents. "all" if one shares none, or a group has no put. */
function putsWithKeys(
  { groups, searchedKeys }: AffectedChange,
  docs: readonly Pick<CatalogDoc, 'keys'>[],
): Repeated {
  const searched = new Set(searchedKeys);
  const groupsOf = new Map<string, LinkedGroup[]>();
  for (const group of groups)
    for (const key of keysOfGroup(group))
      for (const one of [key, LINK_ONLY + key]) if (searched.has(one)) append(groupsOf, one, group);
  const found = docs.map(({ keys }) => keys.flatMap((key) => groupsOf.get(key) ?? []));
  const all = new Set(found.flat());
  const isKnown = found.every(({ length }) => length > 0) && [...all].every(({ puts }) => puts.length > 0);
  return isKnown ? [...all].flatMap(({ puts }) => puts) : 'all';
}

/** Returns the arguments of a query for one document with keys that begin with LINK_ONLY. */
function anyLinkOnly(options: FindOneOptions): [Filter<CatalogDoc>, FindOneOptions] {
  return [{ keys: LINK_ONLY }, { ...options, projection: { _id: 1 } }];
}

/** The result of a search for documents by their keys. */
export interface KeySearch {
  readonly docs: readonly CatalogDoc[];
  /** The keys for which all documents were read. */
  readonly keys: readonly string[];
  readonly hotKeys: readonly string[];
}

/** Uses one query, unless it finds more than MAX_DOCS documents. */
async function findByKeys(
  session: ClientSession,
  companies: Collection<CatalogDoc>,
  keys: readonly string[],
): Promise<KeySearch> {
  if (keys.length === 0) return { docs: [], keys, hotKeys: [] };
  const limit = MAX_DOCS + 1;
  const options = { ...readingAt(session), limit, batchSize: limit };
  const docs = await companies.find({ keys: { $in: [...keys] } }, options).toArray();
  const counts = new Map<string, number>();
  for (const doc of docs) for (const key of doc.keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  const isHot = (key: string) => (counts.get(key) ?? 0) > HOT_KEY_DOCS;
  const hotKeys = keys.filter(isHot);
  const others = hotKeys.length === 0 ? keys : keys.filter((key) => !isHot(key));
  if (docs.length < limit) {
    if (hotKeys.length === 0) return { docs, keys, hotKeys };
    const wanted = new Set(others);
    return { docs: docs.filter((doc) => doc.keys.some((key) => wanted.has(key))), keys: others, hotKeys };
  }
  const half = Math.ceil(others.length / 2);
  const parts = hotKeys.length > 0 ? [others] : [others.slice(0, half), others.slice(half)];
  const searches: KeySearch[] = [{ docs: [], keys: [], hotKeys }];
  for (const part of parts) searches.push(await findByKeys(session, companies, part));
  return {
    docs: searches.flatMap((search) => search.docs),
    keys: searches.flatMap((search) => search.keys),
    hotKeys: searches.flatMap((search) => search.hotKeys),
  };
}

function readingAt(session: ClientSession) {
  return { session, readConcern: 'snapshot', maxTimeMS: READ_MS } as const;
}
