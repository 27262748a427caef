import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { OPERATOR } from '@brand-data/records';
import { Fault, type Mongo } from '@brand-data/runtime';
import type { Filter } from 'mongodb';
import { linkOf, memoized } from '../linkage/clustering.ts';
import { Differences } from '../linkage/difference.ts';
import type { Change } from '../linkage/linked-groups.ts';
import { type Plan, type PutOutcome, planChange, type Write } from '../linkage/plan.ts';
import type { CatalogDoc } from '../records/catalog-doc.ts';
import { changeKeysOf } from '../records/index-keys.ts';
import { referenceOf } from '../records/source-record.ts';
import {
  type AffectedChange,
  type ChangeOf,
  findAffectedRecords,
  putsToRepeat,
  type Repeated,
} from './affected-records.ts';
import type { Announce } from './announcer.ts';
import { type Collections, holdersOf, type KnownSources } from './collections.ts';
import { companiesByRecord, idsBefore, type RunName } from './journal.ts';
import { type Written, writeGroups } from './writes.ts';

const MAX_ROUNDS = 20;
/** Wait before the next try if the database has no snapshot because the indexes are new or a read took minutes. */
const SNAPSHOT_PAUSE_MS = 100;
/** The bound matters because each change holds its batch and all linked companies in memory, and all share one CPU. */
const CONCURRENT_CHANGES = 4;
/** The longest time that a plan may block the event loop. Look-ups wait for that long. */
const MAX_BLOCKING_MS = 10;
/** The bound matters because each waiting change holds its batch in memory. */
const MAX_WAITING = 64;

export interface ChangeOptions {
  /** Absent if the change concerns several sources. */
  source?: string;
  dryRun?: boolean;
  signal?: AbortSignal | undefined;
  /** The import run that makes the change. Its journal records what the change does. */
  run?: RunName;
  /** Whether the change undoes the run. Companies then get the ids that they had before it. */
  isUndo?: boolean;
  /** Takes what the change does. Without it, a new one does. */
  differences?: Differences;
  /** Awaited before each write that does more than name the newest imports of source records. */
  beforeWriting?: (() => Promise<void>) | undefined;
}

interface Applied extends Pick<Plan, 'conflicts' | 'refusedLinks'> {
  /** By reference. */
  outcomes: ReadonlyMap<string, PutOutcome>;
  /** References of the removed source records. */
  removed: ReadonlySet<string>;
  /** What a run does to records and companies. */
  differences: Differences;
  hasWritten: boolean;
}

export type MakeChange = ReturnType<typeof changeLoop>;

/**
 * Returns a function that makes a change of the catalogue while other writers, in this process and in other replicas, make theirs. It
 * plans and writes the change, and repeats both until no other writer has interfered: after the writes, it searches the same keys
 * again, because the writer of a document that is new or has changed may have missed these writes. Of a batch of puts, only those
 * whose group shares a key with such a document are planned again. `holders` finds the documents that hold the changed source records.
 *
 * If the catalogue knows only one source, nothing can be linked, and the second search is not needed: the writers of a source
 * that is registered later will see these writes. The first search then leaves out the keys that only link sources, so if a
 * second source is registered meanwhile, the function plans again.
 */
export function changeLoop(
  mongo: Mongo,
  { companies, changes: entries }: Pick<Collections, 'companies' | 'changes'>,
  { sources, announce }: { sources: KnownSources; announce: Announce },
) {
  const runChange = changeQueue(CONCURRENT_CHANGES);
  return (changeOf: ChangeOf, holders: Filter<CatalogDoc>, options: ChangeOptions): Promise<Applied> =>
    runChange(options.signal, () => repeat(changeOf, holders, options));

  async function repeat(
    whole: ChangeOf,
    holdersOfWhole: Filter<CatalogDoc>,
    options: ChangeOptions,
  ): Promise<Applied> {
    let [changeOf, holders] = [whole, holdersOfWhole];
    const { source, dryRun = false, signal, run, differences = new Differences() } = options;
    const yieldIfLong = cooperativeYield(signal);
    const outcomes = new Map<string, PutOutcome>();
    const removed = new Set<string>();
    const reports = new Reports();
    // Overrides that an earlier round has assigned. Another writer may have put a record that has an equal claim to them.
    const reassigned = new Set<string>();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const link = memoized(linkOf);
      // A put record's keys find its document, unless this version computes other keys than the one that stored it. A
      // first write would then fail, and later rounds search by `holders` too.
      const hasKeys = typeof changeOf !== 'function' && changeOf.puts.length > 0;
      const hasOneSource = await sources.isOnly(source);
      const found = hasKeys && round === 0 ? undefined : withOverrides(holders, reassigned);
      const change = withReassigned(changeOf, reassigned);
      const search = { hasOneSource, holders: found, linkOf: link, yieldIfLong };
      const affected = await findAffectedRecords(mongo, companies, change, search);
      if (affected === undefined) {
        throwIfAbandoned(signal);
        await delay(SNAPSHOT_PAUSE_MS);
        continue;
      }
      const { stored, groups, hotKeys } = affected;
      const idsBefore = await idsBeforeRun(affected, options);
      const steps = planChange(affected.change, stored, groups, { linkOf: link, hotKeys, idsBefore });
      const plan = await runSteps(steps, yieldIfLong);
      throwIfAbandoned(signal);
      if (run !== undefined) await runSteps(differences.add(plan), yieldIfLong);
      // If a put is "unchanged" in a later round, an earlier round has written it, so the earlier outcome stays.
      for (const [reference, outcome] of plan.outcomes)
        if (round === 0 || outcome !== 'unchanged') outcomes.set(reference, outcome);
      for (const reference of plan.removed) removed.add(reference);
      reports.add(affected.change, plan);
      const hasWritten = round > 0 || (!dryRun && plan.writes.length > 0);
      const applied = { outcomes, removed, ...reports.all(), differences, hasWritten };
      const writes = plan.writes.flat();
      if (dryRun || writes.length === 0) return applied;
      const written = await write(plan, options);
      const repeated = await repeatedAfter(affected, writes, written, source);
      if (repeated !== 'all' && repeated.length === 0) return applied;
      if (repeated !== 'all' && source !== undefined && typeof changeOf !== 'function') {
        changeOf = narrowed(changeOf, repeated, outcomes);
        holders = holdersOf({ source, id: { $in: changeOf.puts.map(({ id }) => id) } });
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

  /** Returns the ids that companies of the affected records had before the run that the change undoes. */
  async function idsBeforeRun({ change, stored }: AffectedChange, { run, isUndo }: ChangeOptions) {
    if (run === undefined || !isUndo) return undefined;
    const companies = companiesByRecord(stored.values());
    const puts = change.puts.map(
      (put) => [referenceOf(put), companies.get(referenceOf(put)) ?? null] as const,
    );
    return idsBefore(entries, run, new Map([...companies, ...puts]));
  }

  /** Makes the writes, and announces them if they change what look-ups answer. */
  async function write(plan: Plan, { run, isUndo = false, beforeWriting }: ChangeOptions): Promise<Written> {
    if (plan.changes.size > 0) await beforeWriting?.();
    const journal = run && { changes: entries, run, isUndo };
    const make = () => writeGroups(mongo, companies, plan, journal);
    const keys = changeKeysOf(changedEntries(plan.writes.flat()));
    return keys.length === 0 ? make() : announce(keys, make);
  }

  /**
   * Finds what has to be planned again: writes that were not made, and what another writer may have changed without seeing these
   * writes. The search must see them, and with them everything older, which a plain majority read after an election may not. The
   * session is therefore first advanced to the operation times of the writes.
   */
  async function repeatedAfter(
    affected: AffectedChange,
    writes: readonly Write[],
    { isDone, times }: Written,
    source: string | undefined,
  ): Promise<Repeated> {
    if (isDone && writes.every(({ kind }) => kind === 'mark')) return [];
    return mongo.client.withSession(async (session) => {
      for (const time of times) session.advanceOperationTime(time);
      if (await sources.isOnly(source, session)) return isDone ? [] : 'all';
      return affected.hasOneSource ? 'all' : putsToRepeat(companies, affected, { writes, isDone, session });
    });
  }
}

/** The conflicts and refused links of each put when it was last planned. */
class Reports {
  #conflicts: Applied['conflicts'] = [];
  #refusedLinks: Applied['refusedLinks'] = [];

  add({ puts }: Change, { conflicts, refusedLinks }: Plan): void {
    const planned = new Set(puts.map(referenceOf));
    const isOlder = ({ reference }: { reference: string }) => !planned.has(reference);
    this.#conflicts = [...this.#conflicts.filter(isOlder), ...conflicts];
    this.#refusedLinks = [...this.#refusedLinks.filter(isOlder), ...refusedLinks];
  }

  all(): Pick<Applied, 'conflicts' | 'refusedLinks'> {
    return { conflicts: this.#conflicts, refusedLinks: this.#refusedLinks };
  }
}

/** Returns the change with the puts that the next round needs. */
function narrowed(
  change: Change,
  repeated: Exclude<Repeated, 'all'>,
  outcomes: ReadonlyMap<string, PutOutcome>,
): Change {
  const again = new Set(repeated);
  // A name is common if enough records have it. The next round must therefore see the puts that were refused or left out, which are
  // not stored.
  const isNotStored = (outcome: PutOutcome | undefined) => outcome === 'alone' || typeof outcome === 'object';
  return {
    ...change,
    puts: change.puts.filter((put) => again.has(put) || isNotStored(outcomes.get(referenceOf(put)))),
  };
}

function withReassigned(changeOf: ChangeOf, reassigned: ReadonlySet<string>): ChangeOf {
  if (reassigned.size === 0) return changeOf;
  return (stored) => {
    const change = typeof changeOf === 'function' ? changeOf(stored) : changeOf;
    return { ...change, reassigned: reassigned.union(change.reassigned ?? new Set()) };
  };
}

async function runSteps<Result>(
  steps: Generator<undefined, Result>,
  yieldIfLong: () => Promise<void>,
): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await yieldIfLong();
  }
}

/** Returns the index entries by which look-ups find the records before the writes or after them. */
function changedEntries(writes: readonly Write[]): Set<string> {
  const entries = new Set<string>();
  for (const write of writes) {
    if (write.kind === 'mark') continue;
    if ('before' in write) for (const entry of write.before.keys) entries.add(entry);
    if ('doc' in write) for (const entry of write.doc.keys) entries.add(entry);
  }
  return entries;
}

function overridesOf(writes: readonly Write[]): string[] {
  return writes
    .flatMap((write) => ('doc' in write ? write.doc.contributions : []))
    .filter(({ overrides }) => overrides)
    .map(referenceOf);
}

/** Returns the filter for the documents that `holders` finds, and for those that hold the overrides. */
function withOverrides(holders: Filter<CatalogDoc>, references: ReadonlySet<string>): Filter<CatalogDoc> {
  if (references.size === 0) return holders;
  const ids = [...references].map((reference) => reference.slice(`${OPERATOR}/`.length));
  return { $or: [holders, holdersOf({ source: OPERATOR, id: { $in: ids } })] };
}

import pLimit from 'p-limit';

/**
 * Returns a function that runs a change as soon as fewer changes than the limit are running, in order of arrival. If too many
 * are waiting, or if the signal is aborted before the change starts, it rejects with Fault `unavailable` and does not run it.
 */
export function changeQueue(concurrency: number) {
  const limit = pLimit(concurrency);
  return async <T>(signal: AbortSignal | undefined, change: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= MAX_WAITING)
      throw new Fault('unavailable', 'too many changes are waiting: send this change again later');
    return limit(() => {
      throwIfAbandoned(signal);
      return change();
    });
  };
}

/** Throws Fault `unavailable` when the caller no longer waits for the answer. */
function throwIfAbandoned(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Fault('unavailable', 'the deadline has passed: send the request again');
}

/**
 * Returns a function to await between the steps of long work. The function yields to the event loop if the work has blocked
 * it for MAX_BLOCKING_MS. After that it throws Fault `unavailable` if the caller no longer waits.
 */
export function cooperativeYield(signal: AbortSignal | undefined): () => Promise<void> {
  let resumedAt = performance.now();
  return async () => {
    if (performance.now() - resumedAt < MAX_BLOCKING_MS) return;
    await setImmediate();
    throwIfAbandoned(signal);
    resumedAt = performance.now();
  };
}
