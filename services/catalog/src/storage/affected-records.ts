import type { Mongo } from '@brand-data/runtime';
import { type ClientSession, type Collection, type Filter, MongoServerError } from 'mongodb';
import type { Link } from '../linkage/clustering.ts';
import {
  type Change,
  type Found,
  foundFromDoc,
  groupsOf,
  isTooLarge,
  keysOfGroup,
  type Write,
} from '../linkage/plan.ts';
import type { CatalogDoc } from './catalog-doc.ts';

const READ_MS = 10_000;
const SNAPSHOT_TOO_OLD = 239;
const SNAPSHOT_UNAVAILABLE = 246;
/** Documents that one query reads: more than the keys of a batch bring that tell companies apart. */
const MAX_SHARING = 2_000;
/**
 * A key that more documents have joins nothing, whichever batch it is in: a web host with a shop a customer, a name that
 * everybody has. Only keys that say what a company is join the more (and then too many: plan.ts).
 */
const CROWD = 100;

/** What a change is planned with. */
export interface Surroundings {
  /** By id: the companies that have what changes, those linked with them, and those that share keys. */
  readonly found: ReadonlyMap<string, Found>;
  /** The keys that were looked up to the end. */
  readonly asked: readonly string[];
  /** The keys that join nothing. */
  readonly crowds: ReadonlySet<string>;
}

interface Manner {
  /** Finds the documents that have the contributions that change, where their keys may not. */
  own: Filter<CatalogDoc> | undefined;
  link: Link;
  /** Awaited between steps. */
  pause: () => Promise<void>;
}

/**
 * As they all were at one moment: a contribution that another writer takes from one company to another is never found in
 * both, or in none. Undefined: the database cannot tell any more, or not yet, how that was.
 */
export async function findSurroundings(
  { client }: Mongo,
  companies: Collection<CatalogDoc>,
  change: Change,
  manner: Manner,
): Promise<Surroundings | undefined> {
  const session = client.startSession({ snapshot: true });
  try {
    return await findAt(session, companies, change, manner);
  } catch (error) {
    if (isSnapshotGone(error)) return undefined;
    throw error;
  } finally {
    await session.endSession();
  }
}

function isSnapshotGone(error: unknown): boolean {
  return (
    error instanceof MongoServerError &&
    (error.code === SNAPSHOT_TOO_OLD || error.code === SNAPSHOT_UNAVAILABLE)
  );
}

async function findAt(
  session: ClientSession,
  companies: Collection<CatalogDoc>,
  change: Change,
  { own, link, pause }: Manner,
): Promise<Surroundings> {
  const found = new Map<string, Found>();
  const crowds = new Set<string>();
  const tried = new Set<string>();
  const asked: string[] = [];
  const add = async (docs: readonly CatalogDoc[]) => {
    for (const doc of docs) {
      await pause();
      found.set(doc._id, foundFromDoc(doc));
    }
  };
  /** Those of what changes and of all that is linked with it, but for those that were looked up. */
  const keysAround = () => {
    const linked = groupsOf(change, found.values(), { link, crowds }).filter((group) => !isTooLarge(group));
    return [...new Set(linked.flatMap(keysOfGroup))].filter((key) => !tried.has(key));
  };

  if (own !== undefined) await add(await companies.find(own, readingAt(session)).toArray());
  for (let wanted = keysAround(); wanted.length > 0; ) {
    const sharing = await findSharing(session, companies, wanted);
    for (const key of wanted) tried.add(key);
    for (const key of sharing.crowds) crowds.add(key);
    asked.push(...sharing.keys);
    const news = sharing.docs.filter(({ _id }) => !found.has(_id));
    await add(news);
    wanted = news.length === 0 ? [] : keysAround();
  }
  return { found, asked, crowds };
}

/**
 * Whether another writer was at work on what was planned: a document has one of the keys that was not found before the
 * writes, or has changed but by them. `session` sees the writes.
 */
export async function isOvertaken(
  companies: Collection<CatalogDoc>,
  {
    found,
    asked,
    writes,
    session,
  }: Pick<Surroundings, 'found' | 'asked'> & { writes: readonly Write[]; session: ClientSession },
): Promise<boolean> {
  if (asked.length === 0) return false;
  const revisions = new Map([...found.values()].map(({ doc }) => [doc._id, doc.revision]));
  for (const write of writes) if (write.kind === 'delete') revisions.delete(write.before._id);
  for (const write of writes) if (write.kind !== 'delete') revisions.set(write.doc._id, write.doc.revision);
  const present = companies.find(
    { keys: { $in: [...asked] } },
    { session, projection: { revision: 1 }, batchSize: MAX_SHARING, maxTimeMS: READ_MS },
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
  readonly crowds: readonly string[];
}

/** In one query, wherever no key is shared by very many. */
async function findSharing(
  session: ClientSession,
  companies: Collection<CatalogDoc>,
  keys: readonly string[],
): Promise<Sharing> {
  if (keys.length === 0) return { docs: [], keys, crowds: [] };
  const limit = MAX_SHARING + 1;
  const options = { ...readingAt(session), limit, batchSize: limit };
  const docs = await companies.find({ keys: { $in: [...keys] } }, options).toArray();
  const sharers = new Map(keys.map((key) => [key, 0]));
  for (const key of docs.flatMap((doc) => doc.keys)) {
    const count = sharers.get(key);
    if (count !== undefined) sharers.set(key, count + 1);
  }
  const isCrowd = (key: string) => (sharers.get(key) ?? 0) > CROWD;
  const many = keys.filter(isCrowd);
  const crowds = many.filter((key) => !saysWhatItIs(key));
  const left = many.length === 0 ? keys : keys.filter((key) => !isCrowd(key));
  const ofMany = many.filter(saysWhatItIs).flatMap((key) => docs.filter((doc) => doc.keys.includes(key)));
  if (docs.length < limit) {
    if (many.length === 0) return { docs, keys, crowds };
    const wanted = new Set(left);
    const sharing = docs.filter((doc) => doc.keys.some((key) => wanted.has(key)));
    return { docs: [...new Set([...ofMany, ...sharing])], keys: left, crowds };
  }
  const half = Math.ceil(left.length / 2);
  const parts = many.length > 0 ? [left] : [left.slice(0, half), left.slice(half)];
  const sharing: Sharing[] = [{ docs: ofMany, keys: [], crowds }];
  for (const part of parts) sharing.push(await findSharing(session, companies, part));
  return {
    docs: sharing.flatMap((part) => part.docs),
    keys: sharing.flatMap((part) => part.keys),
    crowds: sharing.flatMap((part) => part.crowds),
  };
}

function readingAt(session: ClientSession) {
  return { session, readConcern: 'snapshot', maxTimeMS: READ_MS } as const;
}

/** The keys that link what has them without any other fact. */
function saysWhatItIs(key: string): boolean {
  return /^(?:id|qid|lei|figi|isin|cusip):/.test(key);
}
