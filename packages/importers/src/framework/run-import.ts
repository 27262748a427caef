import { randomUUID } from 'node:crypto';
import type {
  Brand,
  Conflict,
  Quote,
  RefusedBrand,
  RefusedLink as RefusedLinkProto,
} from '@brand-data/contracts';
import { recordFromBrand } from '@brand-data/records';
import { Fault } from '@brand-data/runtime';
import { pictureAdder } from '../pictures/add-pictures.ts';
import type { CatalogPort, ImagesPort } from './admin-port.ts';
import { batchesOf } from './batches.ts';
import { retryWhileUnavailable } from './retry.ts';
import type {
  ReadBrand,
  ReadQuote,
  Refusal,
  RefusedPicture,
  Skipped,
  SourceItem,
  Unreadable,
} from './source-items.ts';

const BATCHES_IN_FLIGHT = 4;
const PUT_MS = 30_000;
const FINISH_MS = 120_000;

export interface ImportCounts {
  read: number;
  created: number;
  changed: number;
  unchanged: number;
  refused: number;
  /** Such as bonds, and quotes of securities that are not the main listing of any company. */
  skipped: number;
  /** How many identifiers a record of another company has too. */
  conflicts: number;
  /** How many of these identifiers lead to the other record. */
  lost: number;
  /** How many links with other sources' records the catalogue refused. */
  refusedLinks: number;
  /** How many pictures images has stored for the records, and how many were refused. */
  pictures: number;
  refusedPictures: number;
}

export interface ImportSummary extends ImportCounts {
  source: string;
  importId: string;
  dryRun: boolean;
  /** Whether the import was aborted before it had sent everything. */
  stopped: boolean;
  /** How many records were removed because the source no longer has them. Absent if the import did not prune. */
  pruned?: number;
  /** Why the import did not prune, although `prune` was set. */
  unpruned?: string;
}

export interface IdentifierConflict {
  from: string;
  /** The record's id in its source, or the security of a quote. */
  id: string;
  identifier: string;
  otherId: string;
  otherName: string;
  /** Whether the identifier leads to the other record. */
  lost: boolean;
}

/** A record shares an identifier or its name with another source's record, but the catalogue keeps them two companies. */
export interface RefusedLink extends Omit<RefusedLinkProto, 'index'> {
  from: string;
  /** The record's id in its source. */
  id: string;
}

export interface ImportOptions {
  source: string;
  /** Remove records that the source no longer has, unless something was refused or nothing was read. */
  prune?: boolean;
  /** Write nothing, and report what would be written. */
  dryRun?: boolean;
  /** When it is aborted, the import finishes the batches in flight and sends no more. */
  signal?: AbortSignal | undefined;
  /** First called when the catalogue has answered. Always called with the same object, whose counts grow. */
  onProgress?: (counts: Readonly<ImportCounts>) => void;
  /** The import awaits this callback and the next four, because they may write to files. */
  onRefused?: (refusal: Refusal) => void | Promise<void>;
  onSkipped?: (skipped: Skipped) => void | Promise<void>;
  onConflict?: (conflict: IdentifierConflict) => void | Promise<void>;
  onRefusedLink?: (link: RefusedLink) => void | Promise<void>;
  onRefusedPicture?: (refused: RefusedPicture) => void | Promise<void>;
}

/** The admin ports that an import uses. */
export interface ImportPorts {
  catalog: CatalogPort;
  /** Called at the first picture, so that a source without pictures needs no address of images. */
  images: () => ImagesPort;
}

/**
 * Sends a source's brands to the catalogue in batches, and finishes the import. Before it sends a batch, it stores the pictures of
 * its brands, and the brands then name them. A picture that is refused is left out of its brand. An import may be run again at any
 * time, also after a failure: records that the catalogue already has stay unchanged. Rejects at once if the catalogue does not
 * answer at the start, and after two minutes if it stops answering later. Memory does not grow with the source, except by
 * 16 to 32 bytes an id, which are needed to find repeated ids.
 */
export function importBrands(
  { catalog, images }: ImportPorts,
  brands: AsyncIterable<ReadBrand | Skipped>,
  options: ImportOptions,
): Promise<ImportSummary> {
  return runImport(catalog, brandItems(brands), options, {
    idOf: ({ id }: Brand) => id,
    addPictures: pictureAdder(images, { dryRun: options.dryRun ?? false, signal: options.signal }),
    rawOf: (brand) => JSON.stringify(recordFromBrand(brand)),
    put: (batch, request) =>
      catalog.call((client) => client.putBrands, { ...request, brands: batch }, PUT_MS),
  });
}

/** As `importBrands`, but for market data. Quotes change companies that are in the catalogue, and create none. */
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
      return { created: 0, conflicts: [], refusedLinks: [], ...answer };
    },
  });
}

interface PutAnswer {
  created: number;
  changed: number;
  unchanged: number;
  refused: RefusedBrand[];
  skipped?: RefusedBrand[];
  conflicts: Conflict[];
  refusedLinks: RefusedLinkProto[];
}

/** How one kind of item is sent. */
interface ItemKind<T> {
  idOf: (item: T) => string;
  /** The text for the rejects file if the item's line is not known. */
  rawOf: (item: T) => string | undefined;
  /** The item with its pictures, and the pictures that were refused. */
  addPictures?: (sent: SourceItem<T>) => Promise<{ item: T; added: number; refused: RefusedPicture[] }>;
  put: (batch: T[], request: { source: string; importId: string; dryRun: boolean }) => Promise<PutAnswer>;
}

async function runImport<T extends object>(
  catalog: CatalogPort,
  items: AsyncIterable<SourceItem<T> | Unreadable | Skipped>,
  options: ImportOptions,
  { idOf, rawOf, addPictures, put }: ItemKind<T>,
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
    onRefusedLink,
    onRefusedPicture,
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
    refusedLinks: 0,
    pictures: 0,
    refusedPictures: 0,
  };
  await requireAnswer(catalog);
  onProgress?.(counts);

  async function refuse(refusal: Refusal): Promise<void> {
    counts.refused++;
    await onRefused?.(refusal);
  }

  async function skip(skipped: Skipped): Promise<void> {
    counts.skipped++;
    await onSkipped?.(skipped);
  }

  /** The items of a batch with their pictures. Stores no more pictures once the import is aborted. */
  async function itemsOf(batch: readonly SourceItem<T>[]): Promise<T[]> {
    return Promise.all(
      batch.map(async (sent) => {
        if (addPictures === undefined || !sent.pictures?.length) return sent.item;
        const { item, added, refused } = await addPictures(sent);
        counts.pictures += added;
        counts.refusedPictures += refused.length;
        for (const each of refused) await onRefusedPicture?.(each);
        return item;
      }),
    );
  }

  async function putBatch(batch: SourceItem<T>[]): Promise<void> {
    const hasPictures = batch.some(({ pictures }) => pictures?.length);
    const items = await itemsOf(batch);
    // Some of the records may lack pictures that were not stored.
    if (hasPictures && signal?.aborted) return;
    const answer = await retryWhileUnavailable(() => put(items, { source, importId, dryRun }));
    counts.created += answer.created;
    counts.changed += answer.changed;
    counts.unchanged += answer.unchanged;
    for (const { index, reason } of answer.refused) {
      const sent = batch[index];
      if (sent !== undefined) await refuse({ from: sent.from, reason, raw: sent.raw ?? rawOf(sent.item) });
    }
    for (const { index, reason } of answer.skipped ?? []) {
      const sent = batch[index];
      if (sent !== undefined) await skip({ from: sent.from, skipped: reason });
    }
    for (const { index, identifier, otherId, otherName, lost } of answer.conflicts) {
      const sent = batch[index];
      if (sent === undefined) continue;
      counts.conflicts++;
      if (lost) counts.lost++;
      await onConflict?.({ from: sent.from, id: idOf(sent.item), identifier, otherId, otherName, lost });
    }
    for (const { index, ...link } of answer.refusedLinks) {
      const sent = batch[index];
      if (sent === undefined) continue;
      counts.refusedLinks++;
      await onRefusedLink?.({ from: sent.from, id: idOf(sent.item), ...link });
    }
    onProgress?.(counts);
  }

  const batches = batchesOf(items, {
    idOf,
    signal,
    onRead: () => {
      counts.read++;
    },
    onRefused: refuse,
    onSkipped: skip,
  });
  const senders = Array.from({ length: BATCHES_IN_FLIGHT }, async () => {
    for await (const batch of batches) await putBatch(batch);
  });
  const ended = await Promise.allSettled(senders);
  const failure = ended.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;

  const stopped = signal?.aborted ?? false;
  const summary: ImportSummary = { source, importId, dryRun, stopped, ...counts };
  // A dry run has put no records under its import id, so pruning by that id would remove every record of the source.
  if (dryRun) return prune ? { ...summary, unpruned: 'this is a dry run' } : summary;
  const unpruned = prune ? whyUnpruned(summary) : undefined;
  const isPruned = prune && unpruned === undefined;
  const pruned = await finishImport(catalog, { source, importId, prune: isPruned }, signal);
  if (isPruned) return { ...summary, pruned, stopped: signal?.aborted ?? false };
  return unpruned === undefined ? summary : { ...summary, unpruned };
}

/** Ends the import. Prunes in steps until nothing is left or the import is aborted. Returns how many records it removed. */
async function finishImport(
  catalog: CatalogPort,
  request: { source: string; importId: string; prune: boolean },
  signal: AbortSignal | undefined,
): Promise<number> {
  let pruned = 0;
  let more = true;
  while (more) {
    const answer = await retryWhileUnavailable(() =>
      catalog.call((client) => client.finishImport, request, FINISH_MS),
    );
    pruned += answer.pruned;
    more = request.prune && answer.more && !signal?.aborted;
  }
  return pruned;
}

/** Why the import must not prune. An empty source is one reason, because it is more likely to be the wrong file. */
function whyUnpruned({ stopped, refused, read }: ImportSummary): string | undefined {
  if (stopped) return 'the import was stopped';
  if (refused > 0) return 'some records were refused';
  return read === 0 ? 'nothing was read' : undefined;
}

async function* brandItems(
  reads: AsyncIterable<ReadBrand | Skipped>,
): AsyncGenerator<SourceItem<Brand> | Unreadable | Skipped> {
  for await (const read of reads) yield 'brand' in read ? { ...read, item: read.brand } : read;
}

async function* quoteItems(reads: AsyncIterable<ReadQuote>): AsyncGenerator<SourceItem<Quote> | Unreadable> {
  for await (const read of reads) yield 'quote' in read ? { ...read, item: read.quote } : read;
}

/** Rejects with a Fault if the address or the credential is wrong, before the import reads anything. */
async function requireAnswer(catalog: CatalogPort): Promise<void> {
  try {
    await catalog.call((client) => client.getBrand, { id: 'none', refusedLinks: false });
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'not_found') throw error;
  }
}
