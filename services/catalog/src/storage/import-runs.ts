import { randomUUID } from 'node:crypto';
import {
  type CompanyDifference,
  ImportDifference,
  ImportOutcome,
  type ImportRun,
  type NoteImportRequest,
} from '@brand-data/contracts';
import { compareTexts } from '@brand-data/identifiers';
import { Fault, isDuplicateKey } from '@brand-data/runtime';
import type { Collection, UpdateFilter } from 'mongodb';
import { type ChangeDoc, entriesOf, type RunName } from './journal.ts';

const READ_MS = 10_000;
const DAY_MS = 86_400_000;
/** The runs of a source that the catalogue keeps, and how long after their end, or after the next one was due. Their journals take space. */
const MOST_RUNS = 10;
const KEPT_MS = 30 * DAY_MS;
const MOST_BEST_KNOWN = 20;
/** Entries of a journal that one deletion removes. */
const FORGOTTEN_AT_ONCE = 5_000;

type Outcome = Lowercase<Exclude<keyof typeof ImportOutcome, 'UNSPECIFIED'>>;
const TAKEN_BACK: Outcome[] = ['undoing', 'undone'];

const NO_COUNTS = { created: 0, changed: 0, unchanged: 0, refused: 0 };
type Counts = typeof NO_COUNTS;

/** One run of an import. The proto message ImportRun says what its fields mean. */
export interface RunDoc {
  /** The source and the id of the import. */
  _id: string;
  source: string;
  importId: string;
  operator: string;
  begunAt: Date;
  lastAt: Date;
  outcome: Outcome;
  reasons?: string[];
  nextDueAt?: Date;
  pruned?: true;
  counts?: Partial<Counts>;
  /** The names of fields have ":" for each dot. */
  difference?: Omit<ImportDifference, 'bestKnown'> & { bestKnown: CompanyDifference[] };
  /** Until when each call that writes for the run may still do so, by a random name. A killed process leaves its own. */
  writing?: Record<string, Date>;
  undone?: { by: string; at: Date };
}

/** How a run has ended, or when the source's next one is due. */
interface RunNote extends Partial<Pick<NoteImportRequest, 'reasons' | 'nextDueAtMs' | 'difference'>> {
  outcome?: 'finished' | 'failed' | 'stopped' | undefined;
  pruned?: boolean;
}

/** What a call of a run has done. */
export interface RunStep {
  counts?: Counts;
  difference: ImportDifference;
}

/** Keeps the documents of import runs. */
export class ImportRuns {
  readonly #imports: Collection<RunDoc>;
  readonly #changes: Collection<ChangeDoc>;

  constructor({ imports, changes }: { imports: Collection<RunDoc>; changes: Collection<ChangeDoc> }) {
    this.#imports = imports;
    this.#changes = changes;
  }

  /**
   * Makes a change for a run, and adds what it has done to the run's document, which the first change makes. Throws Fault
   * `failed_precondition` if the run is undone: it must not write any more.
   *
   * @param withinMs how long the change may write at most
   * @param change awaits `beforeWriting` before it writes what an undoing would take back
   */
  async during<Result>(
    run: RunName,
    { operator, withinMs }: { operator: string; withinMs: number },
    change: (beforeWriting: () => Promise<void>) => Promise<Result>,
    stepOf: (result: Result) => RunStep,
  ): Promise<Result> {
    const writing = `writing.${randomUUID()}`;
    let isWriting = false;
    const beforeWriting = async () => {
      if (!isWriting)
        await this.#update(run, operator, { $set: { [writing]: new Date(Date.now() + withinMs) } });
      isWriting = true;
    };
    const stop = (added: UpdateFilter<RunDoc>) =>
      this.#imports.updateOne({ _id: idOf(run) }, { ...added, $unset: { [writing]: true } });
    try {
      const result = await change(beforeWriting);
      const added = additionOf(stepOf(result));
      await (isWriting ? stop(added) : this.#update(run, operator, added));
      return result;
    } catch (error) {
      if (isWriting) await stop({});
      throw error;
    }
  }

  /** Notes that the run has ended, or why, or when the source's next run is due. */
  async note(
    run: RunName,
    operator: string,
    { outcome, reasons, nextDueAtMs, difference, pruned }: RunNote,
  ): Promise<void> {
    const $set = {
      ...(outcome && { outcome }),
      ...(reasons?.length && { reasons }),
      ...(nextDueAtMs !== undefined && { nextDueAt: new Date(nextDueAtMs) }),
      ...(difference && { difference: toStored(difference) }),
      ...(pruned && { pruned: true as const }),
    };
    // An undone run also states when the next one is due. A run that is noted is the source's last one.
    if (outcome === undefined)
      await this.#imports.updateOne({ _id: idOf(run) }, { $set: { lastAt: new Date(), ...$set } });
    else await this.#update(run, operator, { $set });
  }

  async #update(run: RunName, operator: string, { $set, ...rest }: UpdateFilter<RunDoc>): Promise<void> {
    const now = new Date();
    const _id = idOf(run);
    const { source, importId } = run;
    const outcome = $set && 'outcome' in $set ? {} : { outcome: 'running' as const };
    const $setOnInsert = { source, importId, operator, begunAt: now, ...outcome };
    const update = { ...rest, $setOnInsert, $set: { lastAt: now, ...$set } };
    try {
      await this.#imports.updateOne({ _id, outcome: { $nin: TAKEN_BACK } }, update, { upsert: true });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Two first changes of a run may meet here, so the second one tries again.
      const { matchedCount } = await this.#imports.updateOne({ _id, outcome: { $nin: TAKEN_BACK } }, update);
      if (matchedCount === 0)
        throw new Fault(
          'failed_precondition',
          `the import ${importId} of ${source} is undone: begin a new one`,
        );
    }
  }

  /** Returns the kept runs, the newest first, that have the source and the import id, if they are not empty. */
  async list({ source, importId }: RunName): Promise<RunDoc[]> {
    const all = await this.#imports.find({}, { maxTimeMS: READ_MS }).toArray();
    return split(all).kept.filter(
      (run) => (source === '' || run.source === source) && (importId === '' || run.importId === importId),
    );
  }

  /** Returns the run. Throws Fault `not_found`, or `invalid_argument` if several sources have an import with this id. */
  async find(name: RunName): Promise<RunDoc> {
    const [found, other] = name.importId === '' ? [] : await this.list(name);
    if (found === undefined)
      throw new Fault(
        'not_found',
        `there is no import "${name.importId.slice(0, 130)}": catalog keeps the last ${MOST_RUNS} of each source for ${KEPT_MS / DAY_MS} days, and bds import list shows them`,
      );
    if (other !== undefined)
      throw new Fault(
        'invalid_argument',
        `${found.source} and ${other.source} have an import with this id: give the source too`,
      );
    return found;
  }

  /** Ends the run for good. Returns whether a call may still write for it. */
  async beginUndoing({ _id }: RunDoc, by: string): Promise<boolean> {
    const undone = { by, at: new Date() };
    await this.#imports.updateOne(
      { _id, outcome: { $nin: TAKEN_BACK } },
      { $set: { outcome: 'undoing', undone } },
    );
    const run = await this.#imports.findOne({ _id }, { maxTimeMS: READ_MS });
    return Object.values(run?.writing ?? {}).some((until) => until > new Date());
  }

  async endUndoing({ _id }: RunDoc): Promise<void> {
    await this.#imports.updateOne({ _id, outcome: 'undoing' }, { $set: { outcome: 'undone' } });
  }

  /** Returns the sources that have pruned in a later run, which has ended. What such a run did not bring is gone for good. */
  async prunedSince({ importId }: RunName): Promise<ReadonlySet<string>> {
    const filter = { importId: { $gt: importId }, outcome: 'finished', pruned: true } as const;
    return new Set(await this.#imports.distinct('source', filter, { maxTimeMS: READ_MS }));
  }

  /** Removes runs that are no longer kept with their journals, until none is left or the time is up. Returns whether any is left. */
  async forget(withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    const options = { projection: { difference: 0 }, maxTimeMS: READ_MS } as const;
    const { old } = split(await this.#imports.find({}, options).toArray());
    for (const run of old) {
      for (;;) {
        if (performance.now() > until) return true;
        const $in = await this.#changes
          .find(entriesOf(run), { projection: { _id: 1 }, limit: FORGOTTEN_AT_ONCE, maxTimeMS: READ_MS })
          .map(({ _id }) => _id)
          .toArray();
        if ($in.length === 0) break;
        await this.#changes.deleteMany({ _id: { $in } });
      }
      await this.#imports.deleteOne({ _id: run._id });
    }
    return false;
  }
}

function idOf({ source, importId }: RunName): string {
  return `${source} ${importId}`;
}

/** Divides runs into those that are kept, the newest first, and the others. Runs that wrote nothing take no other run's place. */
function split(runs: readonly RunDoc[]): { kept: RunDoc[]; old: RunDoc[] } {
  const newestFirst = runs.toSorted((a, b) => compareTexts(b.importId, a.importId));
  const places = new Map<string, number>();
  const { kept = [], old = [] } = Object.groupBy(
    newestFirst,
    ({ source, outcome, lastAt, nextDueAt = lastAt, counts = {} }) => {
      const isVain =
        ['stopped', 'failed'].includes(outcome) && Object.values(counts).every((count) => count === 0);
      const group = `${source} ${isVain}`;
      const place = places.get(group) ?? 0;
      places.set(group, place + 1);
      const heardMs = Math.max(lastAt.getTime(), nextDueAt.getTime());
      const isKept = place < MOST_RUNS && Date.now() - heardMs < KEPT_MS;
      return isKept || outcome === 'undoing' ? 'kept' : 'old';
    },
  );
  return { kept, old };
}

function additionOf({ counts = NO_COUNTS, difference }: RunStep): UpdateFilter<RunDoc> {
  const { bestKnown, changedFields, ...figures } = toStored(difference);
  const prefixed = (prefix: string, values: Record<string, number>) =>
    Object.entries(values).flatMap(([name, value]) => (value === 0 ? [] : [[`${prefix}.${name}`, value]]));
  const $inc = Object.fromEntries([
    ...prefixed('counts', counts),
    ...prefixed('difference', figures),
    ...prefixed('difference.changedFields', changedFields),
  ]);
  const best = { $each: bestKnown, $sort: { rank: -1 }, $slice: MOST_BEST_KNOWN };
  return {
    ...(Object.keys($inc).length > 0 && { $inc }),
    ...(bestKnown.length > 0 && { $push: { 'difference.bestKnown': best } }),
  } as UpdateFilter<RunDoc>;
}

/** A dot in the name of a MongoDB field would mean a field of a field. */
function toStored({ changedFields, ...difference }: ImportDifference) {
  return { ...difference, changedFields: renamed(changedFields, '.', ':') };
}

function renamed(counts: Record<string, number>, from: string, to: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name.replaceAll(from, to), count]),
  );
}

export function runToProto(run: RunDoc): ImportRun {
  const { source, importId, operator, begunAt, lastAt, outcome, reasons = [], nextDueAt, counts } = run;
  const { difference, pruned = false, undone } = run;
  return {
    ...{ source, importId, operator, reasons, pruned, ...NO_COUNTS, ...counts },
    begunAtMs: begunAt.getTime(),
    lastAtMs: lastAt.getTime(),
    outcome: ImportOutcome[outcome.toUpperCase() as Uppercase<Outcome>],
    nextDueAtMs: nextDueAt?.getTime(),
    difference:
      difference &&
      ImportDifference.fromPartial({
        ...difference,
        changedFields: renamed(difference.changedFields ?? {}, ':', '.'),
      }),
    undoneBy: undone?.by ?? '',
    undoneAtMs: undone?.at.getTime() ?? 0,
  };
}
