import { setTimeout as delay } from 'node:timers/promises';
import { Fault, type Mongo } from '@brand-data/runtime';
import type { ClientSession, Collection, Filter } from 'mongodb';
import { linkOf, remembered } from '../linkage/clustering.ts';
import {
  type Change,
  type IdentifierConflict,
  type Plan,
  type PutOutcome,
  planning,
} from '../linkage/plan.ts';
import { type Contribution, referenceOf } from '../records/source-record.ts';
import { findSurroundings, isOvertaken } from './affected-records.ts';
import type { CatalogDoc } from './catalog-doc.ts';
import { pauses, stopIfAbandoned, turns } from './change-queue.ts';
import { writeGroups } from './writes.ts';

const READ_MS = 10_000;
/** Reads of the whole collection, for operators. */
const SCAN_MS = 60_000;
const MAX_ROUNDS = 20;
const PRUNE_BATCH = 200;
/** The indexes were just made, or a read took minutes. */
const SNAPSHOT_PAUSE_MS = 100;
/** Each holds a batch and all that is linked with it in memory, and they share one processor. */
const CHANGES_AT_ONCE = 4;

export type { PutOutcome };

export interface PutAnswer {
  /** In the order of the puts. */
  outcomes: PutOutcome[];
  conflicts: readonly IdentifierConflict[];
}

export interface CatalogStore {
  readBrand(id: string): Promise<CatalogDoc | undefined>;
  /**
   * Makes these the source's contributions, each once, and joins or parts companies as they then are to be. What is of
   * one company is written together or not at all. Idempotent. With `dryRun` nothing is written. Ends with Fault
   * `unavailable`, perhaps when some of it is written, soon after the signal.
   */
  putContributions(
    source: string,
    puts: readonly Contribution[],
    options: { dryRun: boolean; signal?: AbortSignal },
  ): Promise<PutAnswer>;
  /**
   * Takes back what older imports of the source left, until there is no more or the time is up: what a newer one brought
   * beside this one stays. Import ids sort by time. Idempotent.
   */
  prune(
    source: string,
    importId: string,
    options: { withinMs: number; signal?: AbortSignal },
  ): Promise<{ pruned: number; more: boolean }>;
  /** Takes a company away with all its contributions. Returns how many; undefined: there is none. */
  deleteBrand(id: string, options?: { signal?: AbortSignal }): Promise<number | undefined>;
  countBrands(): Promise<{ brands: number; sources: { source: string; brands: number }[] }>;
}

/** The companies, and the names of the sources that ever contributed to them. */
export interface Collections {
  companies: Collection<CatalogDoc>;
  sources: Collection<{ _id: string }>;
}

/** Any number of replicas may use one database at once. Creates what indexes are missing. */
export async function openCollections({ db }: Mongo): Promise<Collections> {
  const companies = db.collection<CatalogDoc>('brands', { promoteBuffers: true });
  await companies.createIndexes([
    { key: { keys: 1, rank: -1, _id: 1 }, name: 'keys' },
    { key: { 'contributions.source': 1, 'contributions.id': 1 }, name: 'contributions', unique: true },
    { key: { 'contributions.source': 1, 'contributions.importId': 1 }, name: 'imports' },
  ]);
  return { companies, sources: db.collection('sources') };
}

export function catalogStore(mongo: Mongo, { companies, sources }: Collections): CatalogStore {
  const registered = new Set<string>();
  const inTurn = turns(CHANGES_AT_ONCE);

  /** A source is known before it contributes. */
  async function register(source: string): Promise<void> {
    if (registered.has(source)) return;
    await sources.updateOne({ _id: source }, { $setOnInsert: { _id: source } }, { upsert: true });
    registered.add(source);
  }

  /** Once there is another source, there always is. */
  async function isOnlySource(source: string | undefined, session: ClientSession): Promise<boolean> {
    if (source === undefined || [...registered].some((other) => other !== source)) return false;
    const other = await sources.findOne({ _id: { $ne: source } }, { session, maxTimeMS: READ_MS });
    if (other !== null) registered.add(other._id);
    return other === null;
  }

  /**
   * Plans and writes until what is written is what was to be: another writer may be at work on the same companies.
   * After a write the keys are looked up once more: a document that was not there before, or that has changed, means
   * that the other may not have seen what was written here either, so this one goes round again. Where still no other
   * source is known nothing can be linked, and there is no need to: who is known later sees what was written here. All
   * this holds if the looks after the writes see the writes, and so all that is older: they are bound to that, as after
   * an election a majority read may show the past.
   */
  async function carryOut(
    change: Change,
    own: Filter<CatalogDoc>,
    { source, dryRun = false, signal }: Circumstances,
  ): Promise<Done> {
    const pause = pauses(signal);
    const outcomes = new Map<string, PutOutcome>();
    const removed = new Set<string>();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const link = remembered(linkOf);
      // What is put finds its own document by its keys, as long as they are derived as they were.
      const surroundings = await findSurroundings(mongo, companies, change, {
        own: change.puts.length === 0 || round > 0 ? own : undefined,
        link,
        pause,
      });
      if (surroundings === undefined) {
        stopIfAbandoned(signal);
        await delay(SNAPSHOT_PAUSE_MS);
        continue;
      }
      const plan = await planInSteps(planning(change, surroundings.found, { link, ...surroundings }), pause);
      stopIfAbandoned(signal);
      for (const [reference, outcome] of plan.outcomes) {
        // Nothing left to write in a later round: the write of an earlier one did its work.
        if (round === 0 || outcome !== 'unchanged') outcomes.set(reference, outcome);
      }
      for (const reference of plan.removed) removed.add(reference);
      const done = { outcomes, removed, conflicts: plan.conflicts };
      const writes = plan.writes.flat();
      if (dryRun || writes.length === 0) return done;
      const writtenAt = await writeGroups(mongo, companies, plan.writes);
      if (writtenAt !== undefined) {
        if (writes.every(({ kind }) => kind === 'mark')) return done;
        const isDone = await mongo.client.withSession(async (session) => {
          for (const time of writtenAt) session.advanceOperationTime(time);
          if (await isOnlySource(source, session)) return true;
          return !(await isOvertaken(companies, { ...surroundings, writes, session }));
        });
        if (isDone) return done;
      }
      // The more it was tried in vain, the longer, and not all at once.
      await delay(Math.random() * 10 * round);
    }
    throw new Fault(
      'unavailable',
      'the records could not be changed at this moment, as others change them: send it again',
    );
  }

  return {
    async readBrand(id) {
      return (await companies.findOne({ _id: id }, { maxTimeMS: READ_MS })) ?? undefined;
    },

    async putContributions(source, puts, { dryRun, signal }) {
      if (puts.length === 0) return { outcomes: [], conflicts: [] };
      if (!dryRun) await register(source);
      const own = hasContribution({ source, id: { $in: puts.map(({ id }) => id) } });
      const { outcomes, conflicts } = await inTurn(signal, () =>
        carryOut({ puts }, own, { source, dryRun, signal }),
      );
      return { outcomes: puts.map((put) => outcomes.get(referenceOf(put)) ?? 'unchanged'), conflicts };
    },

    async prune(source, importId, { withinMs, signal }) {
      const began = performance.now();
      const isRemoved = (held: Contribution) => held.source === source && held.importId < importId;
      let pruned = 0;
      do {
        const left = await companies
          .find(hasContribution({ source, importId: { $lt: importId } }), {
            projection: { _id: 1 },
            limit: PRUNE_BATCH,
            maxTimeMS: SCAN_MS,
          })
          .toArray();
        if (left.length === 0) return { pruned, more: false };
        const own = { _id: { $in: left.map(({ _id }) => _id) } };
        const { removed } = await inTurn(signal, () =>
          carryOut({ puts: [], isRemoved }, own, { source, signal }),
        );
        pruned += removed.size;
      } while (performance.now() - began < withinMs);
      return { pruned, more: true };
    },

    async deleteBrand(id, { signal } = {}) {
      const doc = await companies.findOne({ _id: id }, { maxTimeMS: READ_MS });
      if (doc === null) return undefined;
      const references = new Set(doc.contributions.map(referenceOf));
      const isRemoved = (held: Contribution) => references.has(referenceOf(held));
      const own = { $or: doc.contributions.map(({ source, id }) => hasContribution({ source, id })) };
      const { removed } = await inTurn(signal, () =>
        carryOut({ puts: [], isRemoved }, own, { source: undefined, signal }),
      );
      return removed.size;
    },

    async countBrands() {
      const names = (await sources.find({}, { maxTimeMS: READ_MS }).toArray()).map(({ _id }) => _id);
      const [brands, ...counts] = await Promise.all([
        companies.countDocuments({}, { maxTimeMS: SCAN_MS }),
        ...names.map((source) => countOf(source)),
      ]);
      const ofSources = names.map((source, index) => ({ source, brands: counts[index] ?? 0 }));
      return {
        brands,
        sources: ofSources.filter(({ brands }) => brands > 0).sort((a, b) => (a.source < b.source ? -1 : 1)),
      };
    },
  };

  async function countOf(source: string): Promise<number> {
    return companies.countDocuments({ 'contributions.source': source }, { maxTimeMS: SCAN_MS });
  }
}

interface Circumstances {
  /** Undefined: of several. */
  source: string | undefined;
  dryRun?: boolean;
  signal: AbortSignal | undefined;
}

interface Done {
  outcomes: ReadonlyMap<string, PutOutcome>;
  conflicts: readonly IdentifierConflict[];
  /** References. */
  removed: ReadonlySet<string>;
}

async function planInSteps(steps: Generator<undefined, Plan>, pause: () => Promise<void>): Promise<Plan> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await pause();
  }
}

function hasContribution(fields: Filter<CatalogDoc['contributions'][number]>): Filter<CatalogDoc> {
  return { contributions: { $elemMatch: fields } } as Filter<CatalogDoc>;
}
