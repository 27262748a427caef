import { ImportDifference } from '@brand-data/contracts';
import { compareTexts } from '@brand-data/identifiers';
import { OPERATOR } from '@brand-data/records';
import { answerWithin, type Mongo } from '@brand-data/runtime';
import { type Collection, type Filter, ObjectId } from 'mongodb';
import { decide, type LinkDecision } from '../linkage/decide.ts';
import { Differences } from '../linkage/difference.ts';
import { type Edited, editOverrides, type FieldEdit, type FieldOutcome } from '../linkage/edit-overrides.ts';
import type { StoredCompany } from '../linkage/linked-groups.ts';
import type { Plan, PutOutcome } from '../linkage/plan.ts';
import type { PutRefusedLink } from '../linkage/refused-links.ts';
import {
  type CatalogDoc,
  isWaiting,
  LINK_ONLY,
  OTHER_SECURITY,
  SUPPRESSED_KEY,
  sourceRecordsFromDoc,
  WAITING_IDS,
} from '../records/catalog-doc.ts';
import { effectiveOverrides } from '../records/override-record.ts';
import { referenceOf, type SourceRecord, statesCompany } from '../records/source-record.ts';
import type { Announce } from './announcer.ts';
import { type ChangeOptions, changeLoop, cooperativeYield, type MakeChange } from './change-loop.ts';
import { type Collections, holdersOf, KnownSources } from './collections.ts';
import type { ChangeDoc, RunName } from './journal.ts';
import { holdersOfEntries, readEntries, type UndoOptions, type UndoStep, undoRun } from './undo.ts';

const READ_MS = 10_000;
/** Deadline of operators' reads of the whole collection. */
const SCAN_MS = 60_000;
const PRUNE_BATCH = 200;
const SCAN_BATCH = 200;

export interface PutAnswer extends Pick<Plan, 'conflicts' | 'refusedLinks'> {
  /** In the order of the puts. */
  outcomes: PutOutcome[];
  difference: ImportDifference;
}

interface WriteOptions extends Pick<ChangeOptions, 'signal' | 'beforeWriting'> {
  dryRun: boolean;
}

/** Reads and changes the catalogue's records. */
export class CatalogStore {
  readonly #companies: Collection<CatalogDoc>;
  readonly #sources: Collections['sources'];
  readonly #entries: Collections['changes'];
  readonly #known: KnownSources;
  readonly #makeChange: MakeChange;

  /** @param announce is called with every write that changes what look-ups answer */
  constructor(mongo: Mongo, collections: Collections, announce: Announce) {
    const { companies, sources, changes } = collections;
    this.#companies = companies;
    this.#sources = sources;
    this.#entries = changes;
    this.#known = new KnownSources(sources);
    this.#makeChange = changeLoop(mongo, collections, { sources: this.#known, announce });
  }

  /** Returns the company with the id, else the best known company that has a source record with the id. */
  async readBrand(id: string): Promise<CatalogDoc | undefined> {
    if (isWaiting({ _id: id })) return undefined;
    const options = { maxTimeMS: READ_MS };
    const own = await this.#companies.findOne({ _id: id }, options);
    if (own !== null) return own;
    const sort = { rank: -1 } as const;
    return (await this.#companies.findOne({ keys: `id:${id}` }, { ...options, sort })) ?? undefined;
  }

  /**
   * Puts source records of one import run, and joins or separates companies accordingly. No two puts may have the same id. The
   * writes of one group of linked companies are atomic. Idempotent. With `dryRun` it writes nothing. When the signal is aborted, it
   * soon rejects with Fault `unavailable`, and some of the records may have been written. With `onlyJoining` it leaves out the
   * records that no record of another source joins.
   */
  async putSourceRecords(
    source: string,
    puts: readonly SourceRecord[],
    { onlyJoining = false, ...rest }: WriteOptions & { onlyJoining?: boolean },
  ): Promise<PutAnswer> {
    const [first] = puts;
    if (first === undefined)
      return { outcomes: [], conflicts: [], refusedLinks: [], difference: ImportDifference.create() };
    if (!rest.dryRun) await this.#known.register(source);
    const holders = holdersOf({ source, id: { $in: puts.map(({ id }) => id) } });
    const options = { ...rest, source, run: { source, importId: first.importId } };
    const applied = await this.#makeChange({ puts, onlyJoining }, holders, options);
    const { outcomes, conflicts, refusedLinks, differences } = applied;
    const inOrder = puts.map((put) => outcomes.get(referenceOf(put)) ?? 'unchanged');
    return { outcomes: inOrder, conflicts, refusedLinks, difference: differences.toProto() };
  }

  /** Returns the refused links of a company's source records, at most ten for each. */
  async readRefusedLinks(company: CatalogDoc): Promise<readonly PutRefusedLink[]> {
    const puts = sourceRecordsFromDoc(company).filter(statesCompany);
    // The report of a plan that puts the same records again.
    return (await this.#makeChange({ puts }, { _id: company._id }, { dryRun: true })).refusedLinks;
  }

  /**
   * Removes the source's records that only older imports brought, until none is left or the time is up. Import ids sort by
   * time, so records of a newer import that runs at the same time stay. Idempotent.
   */
  async prune(
    source: string,
    importId: string,
    { withinMs, ...options }: { withinMs: number } & Omit<WriteOptions, 'dryRun'>,
  ): Promise<{ pruned: number; more: boolean; difference: ImportDifference }> {
    const differences = new Differences();
    const began = performance.now();
    const isRemoved = (record: SourceRecord) => record.source === source && record.importId < importId;
    let pruned = 0;
    do {
      const few = { projection: { _id: 1 }, limit: PRUNE_BATCH, maxTimeMS: SCAN_MS };
      const older = holdersOf({ source, importId: { $lt: importId } });
      const left = await this.#companies.find(older, few).toArray();
      if (left.length === 0) return { pruned, more: false, difference: differences.toProto() };
      const holders = { _id: { $in: left.map(({ _id }) => _id) } };
      const change = { ...options, source, run: { source, importId }, differences };
      const { removed } = await this.#makeChange({ puts: [], isRemoved }, holders, change);
      pruned += removed.size;
    } while (performance.now() - began < withinMs);
    return { pruned, more: true, difference: differences.toProto() };
  }

  /** Undoes a run in steps (undo.ts). */
  undo(run: RunName, options: UndoOptions): Promise<UndoStep> {
    return undoRun({ changes: this.#entries, makeChange: this.#makeChange }, run, options);
  }

  /** Yields what a run has done to source records, with their companies as they are, from the first one after `after`. */
  async *changesOf(run: RunName, after: string): AsyncIterable<{ entry: ChangeDoc; stored?: SourceRecord }> {
    for (let last = after; ; ) {
      const entries = await readEntries(this.#entries, run, last);
      if (entries.length === 0) return;
      const found = await this.#companies.find(holdersOfEntries(entries), { maxTimeMS: READ_MS }).toArray();
      const records = new Map(
        found.flatMap(sourceRecordsFromDoc).map((record) => [referenceOf(record), record]),
      );
      for (const entry of entries) {
        last = referenceOf(entry);
        const stored = records.get(last);
        yield { entry, ...(stored && { stored }) };
      }
    }
  }

  /** Yields the documents that hold records of the source, with the ids of these records, from the first id after `after`. */
  async *recordsOf(
    source: string,
    after: string,
  ): AsyncIterable<{ holders: { doc: CatalogDoc; ids: string[] }[]; end: string }> {
    const options = { hint: 'contributions', limit: SCAN_BATCH, maxTimeMS: READ_MS } as const;
    for (let last = after; ; ) {
      const filter = holdersOf({ source, id: { $gt: last } });
      const found = (await this.#companies.find(filter, options).toArray()).map((doc) => {
        const own = doc.contributions.filter((mark) => mark.source === source && mark.id > last);
        return { doc, ids: own.map(({ id }) => id).sort(compareTexts) };
      });
      // The index has the documents in the order of the first of these ids. A further one comes again after those of other documents.
      const isLast = found.length < SCAN_BATCH;
      const firsts = found.map(({ ids }) => (isLast ? ids.at(-1) : ids[0]) ?? '');
      const end = firsts.sort(compareTexts).at(-1) ?? last;
      yield { holders: found.map(({ doc, ids }) => ({ doc, ids: ids.filter((id) => id <= end) })), end };
      if (isLast) return;
      last = end;
    }
  }

  /** Removes the company that `readBrand` finds. Returns how many source records and overrides it had, if it was found. */
  async deleteBrand(
    id: string,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<{ contributions: number; overrides: number } | undefined> {
    const doc = await this.readBrand(id);
    if (doc === undefined) return undefined;
    const references = new Set(doc.contributions.map(referenceOf));
    const isRemoved = (record: SourceRecord) => references.has(referenceOf(record));
    const holders = { $or: doc.contributions.map(({ source, id }) => holdersOf({ source, id })) };
    const { removed } = await this.#makeChange({ puts: [], isRemoved }, holders, { signal });
    const gone = sourceRecordsFromDoc(doc).filter((record) => removed.has(referenceOf(record)));
    return {
      contributions: gone.filter(({ overrides }) => overrides === undefined).length,
      overrides: effectiveOverrides(gone).length,
    };
  }

  /**
   * Sets fields to the operator's values, and removes values that the operator has set. Returns the outcomes in the order of the
   * edits. If one edit of a company is refused, all edits of that company are. Idempotent. With `dryRun` it writes nothing.
   */
  async editFields(edits: readonly FieldEdit[], options: WriteOptions): Promise<FieldOutcome[]> {
    if (edits.length === 0) return [];
    const holders = holdersOfIds([...new Set(edits.map(({ id }) => id))]);
    return this.#decide((stored) => editOverrides(stored, edits), holders, options);
  }

  /**
   * Makes a decision about source records, or takes it back, and joins or separates companies accordingly. Idempotent. With `dryRun` it
   * writes nothing.
   */
  async decideLinks(request: LinkDecision, options: WriteOptions): Promise<FieldOutcome> {
    // "wikidata/q312" and "wikidata--q312" come from the id q312.
    const ids = request.names.flatMap((name) => [name, name.replace(/^.*?(?:\/|--)/, '')]);
    const contributions = { projection: { contributions: 1 }, maxTimeMS: READ_MS };
    const named = await this.#companies.find(holdersOfIds(ids), contributions).toArray();
    // Earlier decisions may name any source record of the companies.
    const all = named.flatMap(({ contributions }) => contributions.map(({ id }) => id));
    const holders = holdersOfIds([...new Set([...ids, ...all])]);
    const newId = new ObjectId().toHexString();
    const decided = (stored: readonly StoredCompany[]) => {
      const { change, outcome } = decide(stored, request, newId);
      return { change, outcomes: [outcome], references: change.puts.map(referenceOf) };
    };
    const [outcome = 'unchanged'] = await this.#decide(decided, holders, options);
    return outcome;
  }

  /** Makes what an operator decides about fields or source records. Returns the outcomes. */
  async #decide(
    edit: (stored: readonly StoredCompany[]) => Edited,
    holders: Filter<CatalogDoc>,
    options: WriteOptions,
  ): Promise<FieldOutcome[]> {
    if (!options.dryRun) await this.#known.register(OPERATOR);
    const outcomes: FieldOutcome[] = [];
    let references: Edited['references'] = [];
    const change = (stored: readonly StoredCompany[]) => {
      const edited = edit(stored);
      // What is "unchanged" in a later round was made in an earlier one.
      for (const [index, outcome] of edited.outcomes.entries())
        if (outcome !== 'unchanged' || outcomes[index] === undefined) outcomes[index] = outcome;
      references = edited.references;
      return edited.change;
    };
    const { outcomes: planned } = await this.#makeChange(change, holders, options);
    return outcomes.map((outcome, index) => {
      const put = planned.get(references[index] ?? '');
      return typeof put === 'object' ? put : outcome;
    });
  }

  /** Returns the documents with overrides, in the order of their `_id`s, from the first one after `after`. */
  listOverrides(after: string, limit: number): Promise<CatalogDoc[]> {
    const options = { limit, hint: 'contributions', sort: { _id: 1 }, maxTimeMS: SCAN_MS } as const;
    return this.#companies.find({ 'contributions.source': OPERATOR, _id: { $gt: after } }, options).toArray();
  }

  /**
   * Yields all documents, in the order of their `_id`s, from the first one after `after`. It may miss a company that is joined or
   * separated meanwhile. When the signal is aborted, it soon rejects with Fault `unavailable`.
   */
  async *scan(after: string, signal: AbortSignal): AsyncIterable<CatalogDoc> {
    const yieldIfLong = cooperativeYield(signal);
    const options = { sort: { _id: 1 }, limit: SCAN_BATCH, maxTimeMS: READ_MS } as const;
    // Pages, because a cursor would not survive an election.
    for (let page: CatalogDoc[] = [], last = after; ; last = page.at(-1)?._id ?? last) {
      page = await answerWithin(this.#companies.find({ _id: { $gt: last } }, options).toArray(), {
        withinMs: READ_MS,
        detail: "the catalogue's database did not answer in time: ask for the rest of the stream",
      });
      for (const doc of page) {
        await yieldIfLong();
        yield doc;
      }
      if (page.length < SCAN_BATCH) return;
    }
  }

  /** Notes that an import of the source has ended. Import ids sort by time, so the newest one stays. */
  async noteImport(source: string, importId: string): Promise<void> {
    await this.#sources.updateOne({ _id: source }, { $max: { newestImport: importId } });
  }

  /** Counts the records. `newestImport` is empty if no import of the source has ended. */
  async countBrands() {
    const known = await this.#sources.find({}, { maxTimeMS: READ_MS }).toArray();
    const count = (filter: object) => this.#companies.countDocuments(filter, { maxTimeMS: SCAN_MS });
    const securities = (source = '') => count({ _id: { $regex: `^${OTHER_SECURITY}${source}` } });
    const [documents, waiting, suppressed, otherSecurities, ...counts] = await Promise.all([
      count({}),
      count({ _id: WAITING_IDS }),
      count({ keys: SUPPRESSED_KEY }),
      securities(),
      ...known.map(
        async ({ _id }) => (await count({ 'contributions.source': _id })) - (await securities(`${_id}/`)),
      ),
    ]);
    const bySource = known.map(({ _id, newestImport = '' }, index) => {
      return { source: _id, brands: counts[index] ?? 0, newestImport };
    });
    return {
      brands: documents - waiting - suppressed - otherSecurities,
      otherSecurities,
      sources: bySource.filter(({ brands }) => brands > 0).sort((a, b) => compareTexts(a.source, b.source)),
    };
  }
}

/** Returns the filter of the companies, and of the overrides and decisions, that have or name a source record with one of the ids. */
function holdersOfIds(ids: readonly string[]) {
  const keys = ids.flatMap((id) => [`id:${id}`, `${LINK_ONLY}id:${id}`]);
  // An id that the catalogue has made (linkage/ids.ts) is not a key of its company.
  return { $or: [{ _id: { $in: [...ids] } }, { keys: { $in: keys } }] };
}
