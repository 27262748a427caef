import {
  type Brand,
  type FinishImportResponse,
  ImportOutcome,
  NoteImportRequest,
  type PutBrandsResponse,
  type Quote,
} from '@brand-data/contracts';
import { recordFromBrand } from '@brand-data/records';
import { Fault } from '@brand-data/runtime';
import { type CatalogPort, type ImagesPort, retryWhileUnavailable } from './admin-port.ts';
import { batchesOf, type IdSet } from './batches.ts';
import type { ImportCounts, ImportJournal } from './import-journal.ts';
import type { ReadItem, Skipped, SourceItem } from './source-items.ts';
import { PictureStore } from './store-picture.ts';

const BATCHES_IN_FLIGHT = 4;
const PUT_MS = 30_000;
const FINISH_MS = 120_000;
/** Catalog takes no longer ones. */
const LONGEST_REASON = 500;

export interface ImportSummary extends ImportCounts {
  source: string;
  importId: string;
  dryRun: boolean;
  /** Whether the import was aborted before it had sent everything. */
  stopped: boolean;
  /** How many records were removed because the source no longer has them. Absent if the import did not prune, as a dry run. */
  pruned?: number;
  /** Why the import did not prune, although `prune` was set. */
  unpruned?: string;
}

export interface ImportOptions {
  source: string;
  /** Remove records that the source no longer has, unless something was refused or nothing was read. */
  prune?: boolean;
  dryRun?: boolean;
  /** Skip records if no record of another source is in their company. */
  onlyJoining?: boolean | undefined;
  /** When it is aborted, the import finishes the batches in flight and sends no more. */
  signal?: AbortSignal | undefined;
  journal: ImportJournal;
  /** Takes the ids of the records that the import would keep, in a dry run. */
  kept?: IdSet | undefined;
}

/**
 * Sends a source's brands and their pictures in batches, and finishes the import. An import may be run again at any time, also
 * after a failure: records that the catalogue already has stay unchanged. Rejects at once if the catalogue does not answer at the
 * start, and after two minutes if it stops answering later. Memory grows by 16 to 32 bytes an id only.
 *
 * @param images called at the first picture, so that a source without pictures needs no address of the service images
 */
export function importBrands(
  { catalog, images }: { catalog: CatalogPort; images: () => ImagesPort },
  brands: AsyncIterable<ReadItem<Brand> | Skipped>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const pictures = new PictureStore(images, options);
  return new ImportRun<Brand>(catalog, options, {
    idOf: ({ id }) => id,
    addPictures: (sent) => pictures.addTo(sent),
    rawOf: (brand) => JSON.stringify(recordFromBrand(brand)),
    async put(batch, request) {
      const { onlyJoining = false } = options;
      const sent = { ...request, brands: batch, onlyJoining };
      const answer = await catalog.call((client) => client.putBrands, sent, PUT_MS);
      // A catalog of 0.1.0 does not know `onlyJoining`, and would make a company of each record.
      if (onlyJoining && answer.difference === undefined)
        throw new Error('catalog cannot skip companies that no other source has: upgrade it first');
      return answer;
    },
  }).run(brands);
}

/** As `importBrands`, but for market data. Quotes change companies that are in the catalogue, and create none. */
export function importQuotes(
  catalog: CatalogPort,
  quotes: AsyncIterable<ReadItem<Quote>>,
  options: ImportOptions,
): Promise<ImportSummary> {
  return new ImportRun<Quote>(catalog, options, {
    idOf: ({ symbol, mic, isin }) => [mic, symbol, isin].filter((part) => part !== '').join(':'),
    async put(batch, request) {
      const answer = await catalog.call((client) => client.putQuotes, { ...request, quotes: batch }, PUT_MS);
      return { created: 0, conflicts: [], refusedLinks: [], ...answer };
    },
  }).run(quotes);
}

export interface ImportReport {
  summary: ImportSummary;
  failure?: Error;
  journal: ImportJournal;
}

/**
 * Runs an import with these options and reports what it did. The files of an earlier run are removed. If the import fails after
 * reading something, the report has the `failure`. Other errors reject.
 */
export async function reportImport(
  options: ImportOptions,
  run: (options: ImportOptions) => Promise<ImportSummary>,
): Promise<ImportReport> {
  const { source, dryRun = false, journal } = options;
  await journal.begin();
  let summary: ImportReport['summary'];
  let failure: Error | undefined;
  try {
    summary = await run(options);
  } catch (error) {
    if (journal.counts.read === 0) throw error;
    failure = error as Error;
    summary = { source, importId: journal.importId, dryRun, stopped: false, ...journal.counts };
  } finally {
    await journal.close(failure !== undefined);
  }
  return { summary, ...(failure !== undefined && { failure }), journal };
}

interface ItemKind<T> {
  idOf: (item: T) => string;
  /** The text for the rejects file if the item's line is not known. */
  rawOf?: (item: T) => string;
  addPictures?: (sent: SourceItem<T>) => Promise<T>;
  put: (
    batch: T[],
    request: { source: string; importId: string; dryRun: boolean },
  ) => Promise<PutBrandsResponse>;
}

class ImportRun<T extends object> {
  readonly #catalog: CatalogPort;
  readonly #options: ImportOptions;
  readonly #kind: ItemKind<T>;
  #hasPut = false;

  constructor(catalog: CatalogPort, options: ImportOptions, kind: ItemKind<T>) {
    this.#catalog = catalog;
    this.#options = options;
    this.#kind = kind;
  }

  async run(items: AsyncIterable<ReadItem<T> | Skipped>): Promise<ImportSummary> {
    try {
      const summary = await this.#sendAll(items);
      if (summary.stopped) await this.#noteFailure('the import was stopped before its end');
      return summary;
    } catch (error) {
      await this.#noteFailure((error as Error).message);
      throw error;
    }
  }

  /** Tells catalog that the run has not come to its end. If catalog does not take it, the run counts as running there. */
  async #noteFailure(reason: string): Promise<void> {
    const { source, dryRun = false, journal } = this.#options;
    if (dryRun || !this.#hasPut) return;
    const run = { source, importId: journal.importId, outcome: ImportOutcome.FAILED, reasons: [reason] };
    await noteRun(this.#catalog, run).catch(() => undefined);
  }

  async #sendAll(items: AsyncIterable<ReadItem<T> | Skipped>): Promise<ImportSummary> {
    const { source, prune = false, dryRun = false, signal, journal } = this.#options;
    await requireAnswer(this.#catalog);
    const batches = batchesOf(items, this.#kind.idOf, journal, signal);
    const senders = Array.from({ length: BATCHES_IN_FLIGHT }, async () => {
      for await (const batch of batches) await this.#putBatch(batch);
    });
    const ended = await Promise.allSettled(senders);
    const failure = ended.find((end) => end.status === 'rejected');
    if (failure !== undefined) throw failure.reason;

    const { counts } = journal;
    const stopped = signal?.aborted ?? false;
    const summary: ImportSummary = { source, importId: journal.importId, dryRun, stopped, ...counts };
    const unpruned = prune ? whyUnpruned(summary) : undefined;
    // A dry run has put no records under its import id, so pruning by that id would remove every record of the source.
    if (dryRun) return unpruned === undefined ? summary : { ...summary, unpruned };
    const isPruned = prune && unpruned === undefined;
    const pruned = await this.#finish(isPruned);
    if (isPruned) return { ...summary, pruned, stopped: signal?.aborted ?? false };
    return unpruned === undefined ? summary : { ...summary, unpruned };
  }

  async #putBatch(batch: SourceItem<T>[]): Promise<void> {
    const { source, dryRun = false, onlyJoining = false, signal, journal, kept } = this.#options;
    const { idOf, rawOf, addPictures, put } = this.#kind;
    const hasPictures = batch.some(({ pictures }) => pictures?.length);
    const items = await Promise.all(
      batch.map((sent) => (addPictures && sent.pictures?.length ? addPictures(sent) : sent.item)),
    );
    // Some of the records may lack pictures that were not stored.
    if (hasPictures && signal?.aborted) return;
    this.#hasPut = true;
    const answer = await retryWhileUnavailable(() =>
      put(items, { source, importId: journal.importId, dryRun }),
    );
    if (kept && answer.keptIds.length === 0 && answer.created + answer.changed + answer.unchanged > 0)
      throw new Fault('unavailable', 'this catalog does not tell yet what an import keeps: upgrade it first');
    for (const id of answer.keptIds) kept?.add(id);
    journal.counts.created += answer.created;
    journal.counts.changed += answer.changed;
    journal.counts.unchanged += answer.unchanged;
    if (answer.difference) journal.addDifference(answer.difference);
    for (const [{ from, item, raw }, { reason }] of sentWith(batch, answer.refused))
      await journal.refuse({ from, reason, raw: raw ?? rawOf?.(item) });
    for (const [{ from }, { reason }] of sentWith(batch, answer.skipped))
      await journal.skip({ from, skipped: reason }, { isListed: !onlyJoining });
    for (const [{ from, item }, { index, ...conflict }] of sentWith(batch, answer.conflicts))
      await journal.addConflict({ from, id: idOf(item), ...conflict });
    for (const [{ from, item }, { index, ...link }] of sentWith(batch, answer.refusedLinks))
      await journal.refuseLink({ from, id: idOf(item), ...link });
  }

  /** Ends the import. Prunes in steps until nothing is left or the import is aborted. Returns how many records it removed. */
  async #finish(prune: boolean): Promise<number> {
    const { source, signal, journal } = this.#options;
    const request = { source, importId: journal.importId, prune };
    let pruned = 0;
    let answer: FinishImportResponse;
    do {
      answer = await retryWhileUnavailable(() =>
        this.#catalog.call((client) => client.finishImport, request, FINISH_MS),
      );
      pruned += answer.pruned;
    } while (prune && answer.more && !signal?.aborted);
    return pruned;
  }
}

/** Returns each part of an answer with the sent item that it is about. */
function sentWith<T, A extends { index: number }>(batch: readonly T[], answers: readonly A[]): [T, A][] {
  return answers.flatMap((answer): [T, A][] => {
    const sent = batch[answer.index];
    return sent === undefined ? [] : [[sent, answer]];
  });
}

/** Returns why the import must not prune. An empty source is one reason, because it is more likely to be the wrong file. */
function whyUnpruned({ stopped, refused, read, skipped }: ImportSummary): string | undefined {
  if (stopped) return 'the import was stopped';
  if (refused > 0) return 'some records were refused';
  return read === skipped ? 'nothing was read' : undefined;
}

/** Tells catalog how a run ended, or when its source is due again. Rejects with a Fault. */
export async function noteRun(
  catalog: CatalogPort,
  { reasons = [], ...run }: Partial<NoteImportRequest>,
): Promise<void> {
  const shortened = reasons.map((reason) => reason.slice(0, LONGEST_REASON));
  const request = NoteImportRequest.fromPartial({ ...run, reasons: shortened });
  await catalog.call((client) => client.noteImport, request);
}

/** Checks the address and the credential before the import reads anything. Rejects with a Fault if one of them is wrong. */
async function requireAnswer(catalog: CatalogPort): Promise<void> {
  try {
    await catalog.call((client) => client.getBrand, { id: 'none', refusedLinks: false });
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'not_found') throw error;
  }
}
