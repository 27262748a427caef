import { setTimeout as delay } from 'node:timers/promises';
import { compareTexts } from '@brand-data/identifiers';
import { OPERATOR } from '@brand-data/records';
import { answerWithin, Fault, type Mongo } from '@brand-data/runtime';
import type { ClientSession, Collection, Filter } from 'mongodb';
import { linkOf, memoized } from '../linkage/clustering.ts';
import type { PutConflict } from '../linkage/conflicts.ts';
import { editOverrides, type FieldEdit, type FieldOutcome } from '../linkage/edit-overrides.ts';
import { type Plan, type PutOutcome, planChange, type Write } from '../linkage/plan.ts';
import type { PutRefusedLink } from '../linkage/refused-links.ts';
import {
  type CatalogDoc,
  isWaiting,
  LINK_ONLY,
  sourceRecordsFromDoc,
  WAITING_IDS,
} from '../records/catalog-doc.ts';
import { changeKeysOf } from '../records/change-keys.ts';
import { effectiveOverrides } from '../records/override-record.ts';
import { referenceOf, type SourceRecord } from '../records/source-record.ts';
import { type ChangeOf, findAffectedRecords, hasConcurrentChange } from './affected-records.ts';
import type { Announce } from './announcer.ts';
import { changeQueue } from './change-queue.ts';
import { cooperativeYield, throwIfAbandoned } from './cooperation.ts';
import { writeGroups } from './writes.ts';

const READ_MS = 10_000;
/** Deadline of operators' reads of the whole collection. */
const SCAN_MS = 60_000;
const MAX_ROUNDS = 20;
const PRUNE_BATCH = 200;
/** Documents that a scan reads at once. */
const SCAN_BATCH = 200;
/** Wait before the next try if the database has no snapshot because the indexes are new or a read took minutes. */
const SNAPSHOT_PAUSE_MS = 100;
/** The bound matters because each change holds its batch and all linked companies in memory, and all share one CPU. */
const CONCURRENT_CHANGES = 4;

export interface PutAnswer {
  /** In the order of the puts. */
  outcomes: PutOutcome[];
  conflicts: readonly PutConflict[];
  refusedLinks: readonly PutRefusedLink[];
}

export interface CatalogStore {
  /** The company with the id, else the best known company that has a source record with the id. */
  readBrand(id: string): Promise<CatalogDoc | undefined>;
  /**
   * Puts source records, and joins or separates companies accordingly. No two puts may have the same id. The writes of one
   * group of linked companies are atomic. Idempotent. With `dryRun` it writes nothing. When the signal is aborted, it soon
   * rejects with Fault `unavailable`, and some of the records may have been written.
   */
  putSourceRecords(
    source: string,
    puts: readonly SourceRecord[],
    options: { dryRun: boolean; signal?: AbortSignal },
  ): Promise<PutAnswer>;
  /** The refused links of a company's source records, at most ten for each. */
  readRefusedLinks(company: CatalogDoc): Promise<readonly PutRefusedLink[]>;
  /**
   * Removes the source's records that only older imports brought, until none is left or the time is up. Import ids sort by
   * time, so records of a newer import that runs at the same time stay. Idempotent.
   */
  prune(
    source: string,
    importId: string,
    options: { withinMs: number; signal?: AbortSignal },
  ): Promise<{ pruned: number; more: boolean }>;
  /**
   * Removes the company that `readBrand` finds with all its source records and overrides. Returns their numbers, or undefined if
   * none is found.
   */
  deleteBrand(
    id: string,
    options?: { signal?: AbortSignal },
  ): Promise<{ contributions: number; overrides: number } | undefined>;
  /**
   * Sets fields to the operator's own values, and removes such values. Returns the outcomes in the order of the edits. If one
   * edit of a company is refused, all are. Idempotent. With `dryRun` it writes nothing.
   */
  editFields(
    edits: readonly FieldEdit[],
    options: { dryRun: boolean; signal?: AbortSignal },
  ): Promise<FieldOutcome[]>;
  /** The documents with overrides, in the order of their `_id`s, from the first one after `after`. */
  listOverrides(after: string, limit: number): Promise<CatalogDoc[]>;
  /**
   * All documents, in the order of their `_id`s, from the first one after `after`. A company that is joined or separated meanwhile
   * may be missed. When the signal is aborted, it soon rejects with Fault `unavailable`.
   */
  scan(after: string, signal: AbortSignal): AsyncIterable<CatalogDoc>;
  /** Records that an import of the source has ended. Import ids sort by time, so the newest one stays. */
  noteImport(source: string, importId: string): Promise<void>;
  countBrands(): Promise<{
    brands: number;
    /** `newestImport` is empty if no import has ended since the catalogue records it. */
    sources: { source: string; brands: number; newestImport: string }[];
  }>;
}

/** A source that has ever put a record. */
interface SourceDoc {
  /** Its name. */
  _id: string;
  /** The newest import that has ended. */
  newestImport?: string;
}

/** The companies, and all sources that ever put a record. */
export interface Collections {
  companies: Collection<CatalogDoc>;
  sources: Collection<SourceDoc>;
}

/** Creates missing indexes. Any number of replicas may use one database. */
export async function openCollections({ db }: Mongo): Promise<Collections> {
  const companies = db.collection<CatalogDoc>('brands', { promoteBuffers: true });
  await companies.createIndexes([
    { key: { keys: 1, rank: -1, _id: 1 }, name: 'keys' },
    { key: { 'contributions.source': 1, 'contributions.id': 1 }, name: 'contributions', unique: true },
    { key: { 'contributions.source': 1, 'contributions.importId': 1 }, name: 'imports' },
  ]);
  return { companies, sources: db.collection('sources') };
}

/** @param announce is called with every write that changes what look-ups answer */
export function catalogStore(
  mongo: Mongo,
  { companies, sources }: Collections,
  announce: Announce,
): CatalogStore {
  const registered = new Set<string>();
  const runChange = changeQueue(CONCURRENT_CHANGES);

  /** Stores a source's name before its first record. */
  async function register(source: string): Promise<void> {
    if (registered.has(source)) return;
    await sources.updateOne({ _id: source }, { $setOnInsert: { _id: source } }, { upsert: true });
    registered.add(source);
  }

  /**
   * Whether the catalogue knows no source but this one. Remembers another source once it has found one, because sources
   * are never deleted. False if `source` is undefined.
   */
  async function isOnlySource(source: string | undefined, session?: ClientSession): Promise<boolean> {
    if (source === undefined || [...registered].some((other) => other !== source)) return false;
    const options = { maxTimeMS: READ_MS, ...(session === undefined ? {} : { session }) };
    const other = await sources.findOne({ _id: { $ne: source } }, options);
    if (other !== null) registered.add(other._id);
    return other === null;
  }

  /**
   * Plans and writes a change, and repeats both until no other writer has interfered. After the writes it searches the
   * same keys again. If a document is new or has changed, its writer may have missed these writes, so this function plans
   * again.
   *
   * If the catalogue knows only one source, nothing can be linked, and the second search is not needed: the writers of a source
   * that is registered later will see these writes. The first search then leaves out the keys that only link sources, so if a
   * second source is registered meanwhile, this function plans again.
   *
   * The search must see these writes, and so everything older. A plain majority read does not ensure that, because it may
   * return outdated data after an election. So the session is advanced to the operation times of the writes.
   */
  async function apply(
    changeOf: ChangeOf,
    holders: Filter<CatalogDoc>,
    { source, dryRun = false, signal }: ApplyOptions,
  ): Promise<Applied> {
    const yieldIfLong = cooperativeYield(signal);
    const outcomes = new Map<string, PutOutcome>();
    const removed = new Set<string>();
    // Overrides that an earlier round has assigned. Another writer may have put a record that has an equal claim to them.
    const reassigned = new Set<string>();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const link = memoized(linkOf);
      // A put record's keys find its document, unless this version computes other keys than the one that stored it. A
      // first write would then fail, and later rounds search by `holders` too.
      const hasKeys = typeof changeOf !== 'function' && changeOf.puts.length > 0;
      const change: ChangeOf =
        reassigned.size === 0
          ? changeOf
          : (stored) => ({ ...(typeof changeOf === 'function' ? changeOf(stored) : changeOf), reassigned });
      const hasOneSource = await isOnlySource(source);
      const affected = await findAffectedRecords(mongo, companies, change, {
        hasOneSource,
        holders: hasKeys && round === 0 ? undefined : withOverrides(holders, reassigned),
        linkOf: link,
        yieldIfLong,
      });
      if (affected === undefined) {
        throwIfAbandoned(signal);
        await delay(SNAPSHOT_PAUSE_MS);
        continue;
      }
      const steps = planChange(affected.change, affected.stored, { linkOf: link, hotKeys: affected.hotKeys });
      const plan = await runSteps(steps, yieldIfLong);
      throwIfAbandoned(signal);
      for (const [reference, outcome] of plan.outcomes) {
        // If a put is "unchanged" in a later round, an earlier round has written it, so the earlier outcome stays.
        if (round === 0 || outcome !== 'unchanged') outcomes.set(reference, outcome);
      }
      for (const reference of plan.removed) removed.add(reference);
      const { conflicts, refusedLinks } = plan;
      const applied = { outcomes, removed, conflicts, refusedLinks };
      const writes = plan.writes.flat();
      if (dryRun || writes.length === 0) return applied;
      const write = () => writeGroups(mongo, companies, plan.writes);
      const keys = changeKeysOf(changedEntries(writes));
      const writtenAt = await (keys.length === 0 ? write() : announce(keys, write));
      if (writtenAt !== undefined) {
        if (writes.every(({ kind }) => kind === 'mark')) return applied;
        const isFinal = await mongo.client.withSession(async (session) => {
          for (const time of writtenAt) session.advanceOperationTime(time);
          if (await isOnlySource(source, session)) return true;
          if (hasOneSource) return false;
          return !(await hasConcurrentChange(companies, { ...affected, writes, session }));
        });
        if (isFinal) return applied;
      }
      for (const reference of overridesOf(writes)) reassigned.add(reference);
      // The pause is random and grows, so that competing writers do not collide again.
      await delay(Math.random() * 10 * round);
    }
    throw new Fault(
      'unavailable',
      'the records could not be changed, because other requests are changing them: send the request again',
    );
  }

  async function findCompany(id: string): Promise<CatalogDoc | undefined> {
    if (isWaiting({ _id: id })) return undefined;
    const options = { maxTimeMS: READ_MS };
    const own = await companies.findOne({ _id: id }, options);
    if (own !== null) return own;
    const sort = { rank: -1, _id: 1 } as const;
    return (await companies.findOne({ keys: `id:${id}` }, { ...options, sort })) ?? undefined;
  }

  return {
    readBrand: findCompany,

    async putSourceRecords(source, puts, { dryRun, signal }) {
      if (puts.length === 0) return { outcomes: [], conflicts: [], refusedLinks: [] };
      if (!dryRun) await register(source);
      const holders = withMark({ source, id: { $in: puts.map(({ id }) => id) } });
      const { outcomes, ...reports } = await runChange(signal, () =>
        apply({ puts }, holders, { source, dryRun, signal }),
      );
      return {
        outcomes: puts.map((put) => outcomes.get(referenceOf(put)) ?? 'unchanged'),
        conflicts: reports.conflicts,
        refusedLinks: reports.refusedLinks,
      };
    },

    async readRefusedLinks(company) {
      const puts = sourceRecordsFromDoc(company).filter(
        ({ isQuote, overrides }) => !isQuote && overrides === undefined,
      );
      const holders = { _id: company._id };
      // What a plan would report that puts the same records again.
      const { refusedLinks } = await runChange(undefined, () =>
        apply({ puts }, holders, { source: undefined, dryRun: true, signal: undefined }),
      );
      return refusedLinks;
    },

    async prune(source, importId, { withinMs, signal }) {
      const began = performance.now();
      const isRemoved = (record: SourceRecord) => record.source === source && record.importId < importId;
      let pruned = 0;
      do {
        const left = await companies
          .find(withMark({ source, importId: { $lt: importId } }), {
            projection: { _id: 1 },
            limit: PRUNE_BATCH,
            maxTimeMS: SCAN_MS,
          })
          .toArray();
        if (left.length === 0) return { pruned, more: false };
        const holders = { _id: { $in: left.map(({ _id }) => _id) } };
        const { removed } = await runChange(signal, () =>
          apply({ puts: [], isRemoved }, holders, { source, signal }),
        );
        pruned += removed.size;
      } while (performance.now() - began < withinMs);
      return { pruned, more: true };
    },

    async deleteBrand(id, { signal } = {}) {
      const doc = await findCompany(id);
      if (doc === undefined) return undefined;
      const references = new Set(doc.contributions.map(referenceOf));
      const isRemoved = (record: SourceRecord) => references.has(referenceOf(record));
      const holders = { $or: doc.contributions.map(({ source, id }) => withMark({ source, id })) };
      const { removed } = await runChange(signal, () =>
        apply({ puts: [], isRemoved }, holders, { source: undefined, signal }),
      );
      const isOverrides = (record: SourceRecord) => record.overrides !== undefined;
      const records = sourceRecordsFromDoc(doc);
      const gone = records.filter((record) => removed.has(referenceOf(record)));
      return {
        contributions: gone.filter((record) => !isOverrides(record)).length,
        overrides: effectiveOverrides(gone).length,
      };
    },

    async editFields(edits, { dryRun, signal }) {
      if (edits.length === 0) return [];
      if (!dryRun) await register(OPERATOR);
      const ids = [...new Set(edits.map(({ id }) => id))];
      const keys = ids.flatMap((id) => [`id:${id}`, `${LINK_ONLY}id:${id}`]);
      // An id that the catalogue has made (linkage/ids.ts) is no key of its company.
      const holders = { $or: [{ _id: { $in: ids } }, { keys: { $in: keys } }] };
      const outcomes: FieldOutcome[] = [];
      let references: readonly (string | undefined)[] = [];
      const { outcomes: planned } = await runChange(signal, () =>
        apply(
          (stored) => {
            const edited = editOverrides(stored, edits);
            // An edit that is "unchanged" in a later round was made in an earlier one.
            for (const [index, outcome] of edited.outcomes.entries())
              if (outcome !== 'unchanged' || outcomes[index] === undefined) outcomes[index] = outcome;
            references = edited.references;
            return edited.change;
          },
          holders,
          { source: undefined, dryRun, signal },
        ),
      );
      return outcomes.map((outcome, index) => {
        const put = planned.get(references[index] ?? '');
        return typeof put === 'object' ? put : outcome;
      });
    },

    async listOverrides(after, limit) {
      const options = { limit, hint: 'contributions', sort: { _id: 1 }, maxTimeMS: SCAN_MS } as const;
      return companies.find({ 'contributions.source': OPERATOR, _id: { $gt: after } }, options).toArray();
    },

    async *scan(after, signal) {
      const yieldIfLong = cooperativeYield(signal);
      const options = { sort: { _id: 1 }, limit: SCAN_BATCH, maxTimeMS: READ_MS } as const;
      // Pages, because a cursor would not survive an election.
      for (let page: CatalogDoc[] = [], last = after; ; last = page.at(-1)?._id ?? last) {
        page = await answerWithin(companies.find({ _id: { $gt: last } }, options).toArray(), {
          withinMs: READ_MS,
          detail: "the catalogue's database did not answer in time: ask for the rest of the stream",
        });
        for (const doc of page) {
          await yieldIfLong();
          yield doc;
        }
        if (page.length < SCAN_BATCH) return;
      }
    },

    async noteImport(source, importId) {
      await sources.updateOne({ _id: source }, { $max: { newestImport: importId } });
    },

    async countBrands() {
      const known = await sources.find({}, { maxTimeMS: READ_MS }).toArray();
      const [documents, waiting, ...counts] = await Promise.all([
        companies.countDocuments({}, { maxTimeMS: SCAN_MS }),
        companies.countDocuments({ _id: WAITING_IDS }, { maxTimeMS: SCAN_MS }),
        ...known.map(({ _id }) => countOf(_id)),
      ]);
      const brands = documents - waiting;
      const bySource = known.map(({ _id, newestImport = '' }, index) => {
        return { source: _id, brands: counts[index] ?? 0, newestImport };
      });
      return {
        brands,
        sources: bySource.filter(({ brands }) => brands > 0).sort((a, b) => compareTexts(a.source, b.source)),
      };
    },
  };

  async function countOf(source: string): Promise<number> {
    return companies.countDocuments({ 'contributions.source': source }, { maxTimeMS: SCAN_MS });
  }
}

interface ApplyOptions {
  /** Undefined if the change concerns several sources. */
  source: string | undefined;
  dryRun?: boolean;
  signal: AbortSignal | undefined;
}

interface Applied {
  /** By reference. */
  outcomes: ReadonlyMap<string, PutOutcome>;
  conflicts: readonly PutConflict[];
  refusedLinks: readonly PutRefusedLink[];
  /** References of the removed source records. */
  removed: ReadonlySet<string>;
}

async function runSteps(steps: Generator<undefined, Plan>, yieldIfLong: () => Promise<void>): Promise<Plan> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await yieldIfLong();
  }
}

/** The index entries by which look-ups find the records before the writes or after them. */
function changedEntries(writes: readonly Write[]): Set<string> {
  const entries = new Set<string>();
  for (const write of writes) {
    if (write.kind === 'mark') continue;
    if ('before' in write) for (const entry of write.before.keys) entries.add(entry);
    if ('doc' in write) for (const entry of write.doc.keys) entries.add(entry);
  }
  return entries;
}

/** References of the overrides in the written documents. */
function overridesOf(writes: readonly Write[]): string[] {
  return writes
    .flatMap((write) => ('doc' in write ? write.doc.contributions : []))
    .filter(({ overrides }) => overrides)
    .map(referenceOf);
}

/** The documents that `holders` finds, and those that hold the overrides. */
function withOverrides(holders: Filter<CatalogDoc>, references: ReadonlySet<string>): Filter<CatalogDoc> {
  if (references.size === 0) return holders;
  const ids = [...references].map((reference) => reference.slice(`${OPERATOR}/`.length));
  return { $or: [holders, withMark({ source: OPERATOR, id: { $in: ids } })] };
}

function withMark(fields: Filter<CatalogDoc['contributions'][number]>): Filter<CatalogDoc> {
  return { contributions: { $elemMatch: fields } } as Filter<CatalogDoc>;
}
