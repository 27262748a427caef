import type { Collection, Filter } from 'mongodb';
import type { CatalogDoc } from './catalog-doc.ts';
import type { Link } from './partition.ts';
import {
  type Change,
  type Found,
  foundFromDoc,
  groupsOf,
  isTooLarge,
  keysOfGroup,
  type Write,
} from './plan.ts';

const READ_MS = 10_000;
/** Documents that share keys with one batch: far more than keys that tell companies apart bring. */
const MAX_SHARING = 5_000;
/** Where there are more, a key that more documents than this have is taken to tell nothing. */
const CROWD = 50;

/** What a change is planned with. */
export interface Surroundings {
  /** By id: the companies that have what changes, those linked with them, and those that share keys. */
  readonly found: ReadonlyMap<string, Found>;
  /** The keys that were looked up. */
  readonly asked: readonly string[];
}

/** `own` finds the documents that have the contributions that change, where their keys may not. */
export async function findSurroundings(
  companies: Collection<CatalogDoc>,
  change: Change,
  { own, link }: { own: Filter<CatalogDoc> | undefined; link: Link },
): Promise<Surroundings> {
  const found = new Map<string, Found>();
  const tried = new Set<string>();
  const asked: string[] = [];
  if (own !== undefined) {
    const docs = await companies.find(own, { maxTimeMS: READ_MS }).toArray();
    for (const doc of docs) found.set(doc._id, foundFromDoc(doc));
  }
  for (let wanted = keysAround(change, found, link, tried); wanted.length > 0; ) {
    const sharing = await findSharing(companies, wanted);
    for (const key of wanted) tried.add(key);
    asked.push(...sharing.keys);
    const news = sharing.docs.filter(({ _id }) => !found.has(_id));
    for (const doc of news) found.set(doc._id, foundFromDoc(doc));
    wanted = news.length === 0 ? [] : keysAround(change, found, link, tried);
  }
  return { found, asked };
}

/** Those of what changes and of all that is linked with it, but for those that were looked up. */
function keysAround(
  change: Change,
  found: ReadonlyMap<string, Found>,
  link: Link,
  tried: ReadonlySet<string>,
): string[] {
  const linked = groupsOf(change, found.values(), link).filter((group) => !isTooLarge(group));
  return [...new Set(linked.flatMap(keysOfGroup))].filter((key) => !tried.has(key));
}

/**
 * Whether another writer was at work on what was planned: a document has one of the keys that was not found before the
 * writes, or has changed but by them.
 */
export async function isOvertaken(
  companies: Collection<CatalogDoc>,
  { found, asked }: Surroundings,
  writes: readonly Write[],
): Promise<boolean> {
  if (asked.length === 0) return false;
  const revisions = new Map([...found.values()].map(({ doc }) => [doc._id, doc.revision]));
  for (const write of writes) if (write.kind === 'delete') revisions.delete(write.before._id);
  for (const write of writes) if (write.kind !== 'delete') revisions.set(write.doc._id, write.doc.revision);
  const present = companies.find(
    { keys: { $in: [...asked] } },
    { projection: { revision: 1 }, batchSize: MAX_SHARING, maxTimeMS: READ_MS },
  );
  for await (const { _id, revision } of present) {
    if (revisions.get(_id)?.equals(revision) !== true) return true;
  }
  return false;
}

interface Sharing {
  readonly docs: readonly CatalogDoc[];
  /** Those that were looked up to the end. */
  readonly keys: readonly string[];
}

/** In one query, wherever no key is shared by very many. */
async function findSharing(companies: Collection<CatalogDoc>, keys: readonly string[]): Promise<Sharing> {
  const limit = MAX_SHARING + 1;
  const options = { limit, batchSize: limit, maxTimeMS: READ_MS };
  const docs = await companies.find({ keys: { $in: [...keys] } }, options).toArray();
  if (docs.length < limit) return { docs, keys };
  const sharers = new Map(keys.map((key) => [key, 0]));
  for (const key of docs.flatMap((doc) => doc.keys)) {
    const count = sharers.get(key);
    if (count !== undefined) sharers.set(key, count + 1);
  }
  const telling = keys.filter((key) => (sharers.get(key) ?? 0) <= CROWD);
  if (telling.length < keys.length) return findSharing(companies, telling);
  const half = Math.ceil(keys.length / 2);
  const parts = await Promise.all(
    [keys.slice(0, half), keys.slice(half)].map((part) => findSharing(companies, part)),
  );
  return { docs: parts.flatMap((part) => part.docs), keys };
}
