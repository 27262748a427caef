import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Brand, CatalogAdminServiceClient, Conflict, Quote, RefusedBrand } from '@brand-data/contracts';
import { type callUnary, Fault } from '@brand-data/runtime';
import { recordFromBrand } from '../formats/brand-from-record.ts';
import { IdSet } from './id-set.ts';
import { weightOf } from './message-size.ts';
import type { ReadBrand, ReadQuote, Skipped, Unreadable } from './source-items.ts';

export type { ReadBrand, ReadQuote } from './source-items.ts';

/** Also the most that the catalogue takes at once. */
const BATCH = 500;
/** Far below the 16 MiB of one message; a record that is heavier than all of this goes alone. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Nothing that the catalogue would take is as heavy. */
const RECORD_BYTES = 8 * 1024 * 1024;
const IN_FLIGHT = 4;
const PUT_MS = 30_000;
const FINISH_MS = 120_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** A catalogue that does not answer in mid-import is waited for this long. */
const PATIENCE_MS = 120_000;

type Method<Request, Response> = Parameters<typeof callUnary<Request, Response>>[1];

/** The catalogue's admin port, with the operator's credential. */
export interface CatalogPort {
  /** Rejects with a Fault. */
  call<Request, Response>(
    method: (client: CatalogAdminServiceClient) => Method<Request, Response>,
    request: Request,
    deadlineMs?: number,
  ): Promise<Response>;
}

export interface ImportCounts {
  read: number;
  created: number;
  changed: number;
  unchanged: number;
  refused: number;
  /** What is no company's, and quotes of no main listing. */
  skipped: number;
  /** Identifiers that another record, which is another company, has too. */
  conflicts: number;
  /** Those of them that lead to the other record. */
  lost: number;
}

export interface ImportSummary extends ImportCounts {
  source: string;
  importId: string;
  dryRun: boolean;
  /** It was told to stop, and did before its end. */
  stopped: boolean;
  /** Records that the source no longer has, and so were taken back; absent: it was not asked for, or not done. */
  pruned?: number;
  /** Why nothing was pruned, though it was asked for. */
  unpruned?: string;
}

export interface Refusal {
  from: string;
  reason: string;
  /** The line as it came, or else the record as it was read. */
  raw?: string | undefined;
}

/** What was left out with nothing to correct. */
interface Omission {
  from: string;
  skipped: string;
}

export interface IdentifierConflict {
  from: string;
  /** The record's own id in its source, or a quote's security. */
  id: string;
  identifier: string;
  otherId: string;
  otherName: string;
  /** The identifier leads to the other record. */
  lost: boolean;
}

export interface ImportOptions {
  source: string;
  /** Take back what the source contributed before and no longer has; not done when anything is refused, or nothing read. */
  prune?: boolean;
  /** Write nothing, and say what would be written. */
  dryRun?: boolean;
  /** Aborted: batches that are under way end, and no more are sent. */
  signal?: AbortSignal | undefined;
  /** First when the catalogue has answered. The counts go on changing. */
  onProgress?: (counts: Readonly<ImportCounts>) => void;
  /** Awaited: they may write to files. */
  onRefused?: (refusal: Refusal) => void | Promise<void>;
  onSkipped?: (omission: Omission) => void | Promise<void>;
  onConflict?: (conflict: IdentifierConflict) => void | Promise<void>;
}

/**
 * Puts a source's brands, in batches, and finishes the import. May be run again at any time, and after a failure: what
 * is there already stays unchanged. A catalogue that does not answer fails it at once, and in the middle after two minutes.
 * Memory does not grow with the source, but for 16 to 32 bytes an id, by which those given twice are told.
 */
export function importBrands(
  catalog: CatalogPort,
  brands: AsyncIterable<ReadBrand | Skipped>,
  options: ImportOptions,
): Promise<ImportSummary> {
  return runImport(catalog, brandItems(brands), options, {
    idOf: ({ id }: Brand) => id,
    rawOf: (brand) => JSON.stringify(recordFromBrand(brand)),
    put: (batch, request) =>
      catalog.call((client) => client.putBrands, { ...request, brands: batch }, PUT_MS),
  });
}

/** As `importBrands`, of market data: it joins the companies that are there, and creates none. */
export function importQuotes(
  catalog: CatalogPort,
  quotes: AsyncIterable<ReadQuote>,
  options: ImportOptions,
): Promise<ImportSummary> {
  return runImport(catalog, quoteItems(quotes), options, {
    idOf: ({ symbol, mic, isin }: Quote) => [mic, symbol, isin].filter((part) => part !== '').join(':'),
    rawOf: () => undefined,
    async put(batch, request) {
      const answer = await catalog.call((client) => client.putQuotes, { ...request, quotes: batch }, PUT_MS);
      return { created: 0, conflicts: [], ...answer };
    },
  });
}

type Item<T> = { from: string; item: T; raw?: string | undefined };

interface PutAnswer {
  created: number;
  changed: number;
  unchanged: number;
  refused: RefusedBrand[];
  skipped?: RefusedBrand[];
  conflicts: Conflict[];
}

/** What an import puts. */
interface Puts<T> {
  idOf: (item: T) => string;
  /** For the rejects file, where the line as it came is not known. */
  rawOf: (item: T) => string | undefined;
  put: (batch: T[], request: { source: string; importId: string; dryRun: boolean }) => Promise<PutAnswer>;
}

async function runImport<T extends object>(
  catalog: CatalogPort,
  items: AsyncIterable<Item<T> | Unreadable | Skipped>,
  options: ImportOptions,
  { idOf, rawOf, put }: Puts<T>,
): Promise<ImportSummary> {
  const {
    source,
    prune = false,
    dryRun = false,
    signal,
    onProgress,
    onRefused,
    onSkipped,
    onConflict,
  } = options;
  const importId = `${new Date().toISOString()}-${randomUUID().slice(0, 8)}`;
  const counts: ImportCounts = {
    read: 0,
    created: 0,
    changed: 0,
    unchanged: 0,
    refused: 0,
    skipped: 0,
    conflicts: 0,
    lost: 0,
  };
  await requireAnswer(catalog);
  onProgress?.(counts);

  async function refuse(refusal: Refusal): Promise<void> {
    counts.refused++;
    await onRefused?.(refusal);
  }

  async function skip(omission: Omission): Promise<void> {
    counts.skipped++;
    await onSkipped?.(omission);
  }

  async function putBatch(batch: Item<T>[]): Promise<void> {
    const answer = await patiently(() =>
      put(
        batch.map(({ item }) => item),
        { source, importId, dryRun },
      ),
    );
    counts.created += answer.created;
    counts.changed += answer.changed;
    counts.unchanged += answer.unchanged;
    for (const { index, reason } of answer.refused) {
      const entry = batch[index];
      if (entry !== undefined)
        await refuse({ from: entry.from, reason, raw: entry.raw ?? rawOf(entry.item) });
    }
    for (const { index, reason } of answer.skipped ?? []) {
      const entry = batch[index];
      if (entry !== undefined) await skip({ from: entry.from, skipped: reason });
    }
    for (const { index, identifier, otherId, otherName, lost } of answer.conflicts) {
      const entry = batch[index];
      if (entry === undefined) continue;
      counts.conflicts++;
      if (lost) counts.lost++;
      await onConflict?.({ from: entry.from, id: idOf(entry.item), identifier, otherId, otherName, lost });
    }
    onProgress?.(counts);
  }

  const batches = batchesOf(items, {
    idOf,
    signal,
    onRead: () => {
      counts.read++;
    },
    onProblem: refuse,
    onSkipped: skip,
  });
  const senders = Array.from({ length: IN_FLIGHT }, async () => {
    for await (const batch of batches) await putBatch(batch);
  });
  const ended = await Promise.allSettled(senders);
  const failure = ended.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;

  const stopped = signal?.aborted ?? false;
  const summary: ImportSummary = { source, importId, dryRun, stopped, ...counts };
  // A dry run has put nothing: to prune by its import id would take back everything.
  if (dryRun) return prune ? { ...summary, unpruned: 'nothing is written' } : summary;
  const unpruned = prune ? whyUnpruned(summary) : undefined;
  const isPruned = prune && unpruned === undefined;
  let pruned = 0;
  let more = true;
  while (more) {
    const answer = await patiently(() =>
      catalog.call((client) => client.finishImport, { source, importId, prune: isPruned }, FINISH_MS),
    );
    pruned += answer.pruned;
    more = isPruned && answer.more && !signal?.aborted;
  }
  if (isPruned) return { ...summary, pruned, stopped: signal?.aborted ?? false };
  return unpruned === undefined ? summary : { ...summary, unpruned };
}

/** A source that has nothing at all is a wrong file more often than an empty source. */
function whyUnpruned({ stopped, refused, read }: ImportSummary): string | undefined {
  if (stopped) return 'it was stopped';
  if (refused > 0) return 'some were refused';
  return read === 0 ? 'nothing was read' : undefined;
}

async function* brandItems(
  reads: AsyncIterable<ReadBrand | Skipped>,
): AsyncGenerator<Item<Brand> | Unreadable | Skipped> {
  for await (const read of reads) yield 'brand' in read ? { ...read, item: read.brand } : read;
}

async function* quoteItems(reads: AsyncIterable<ReadQuote>): AsyncGenerator<Item<Quote> | Unreadable> {
  for await (const read of reads) yield 'quote' in read ? { ...read, item: read.quote } : read;
}

async function* batchesOf<T extends object>(
  items: AsyncIterable<Item<T> | Unreadable | Skipped>,
  {
    idOf,
    signal,
    onRead,
    onProblem,
    onSkipped,
  }: {
    idOf: (item: T) => string;
    signal: AbortSignal | undefined;
    onRead: () => void;
    onProblem: (refusal: Refusal) => Promise<void>;
    onSkipped: (omission: Omission) => Promise<void>;
  },
): AsyncGenerator<Item<T>[]> {
  const seen = new IdSet();
  let batch: Item<T>[] = [];
  let bytes = 0;
  for await (const read of items) {
    if (signal?.aborted) break;
    onRead();
    if ('problem' in read) {
      await onProblem({ from: read.from, reason: read.problem, raw: read.raw });
      continue;
    }
    if ('skipped' in read) {
      await onSkipped({ from: read.from, skipped: read.skipped });
      continue;
    }
    const { from, item, raw } = read;
    const weight = weightOf(item);
    if (weight > RECORD_BYTES) {
      await onProblem({ from, reason: `it has ${weight} bytes: shorten it to 64 KiB` });
      continue;
    }
    const id = idOf(item);
    if (!seen.add(id)) {
      await onProblem({ from, reason: `"${id}" was there before in this import: give each its own id`, raw });
      continue;
    }
    if (batch.length === BATCH || (batch.length > 0 && bytes + weight > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(read);
    bytes += weight;
  }
  if (batch.length > 0 && !signal?.aborted) yield batch;
}

/** An address or a credential that is wrong is told before anything is read. Rejects with the Fault. */
async function requireAnswer(catalog: CatalogPort): Promise<void> {
  try {
    await catalog.call((client) => client.getBrand, { id: 'none' });
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'not_found') throw error;
  }
}

/** Tries again, with growing pauses, what failed as `unavailable`: puts may be repeated. */
async function patiently<R>(attempt: () => Promise<R>): Promise<R> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      const isPassing = error instanceof Fault && error.kind === 'unavailable';
      if (!isPassing || Date.now() + pauseMs > deadline) throw error;
    }
    await delay(pauseMs);
  }
}
