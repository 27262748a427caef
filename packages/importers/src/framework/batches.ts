import { IdSet } from './id-set.ts';
import type { ImportJournal } from './import-journal.ts';
import type { BrandPicture } from './picture.ts';
import type { ReadItem, Skipped, SourceItem } from './source-items.ts';

/** The most items that the catalogue takes at once. */
const BATCH_ITEMS = 500;
/** The most bytes of a batch with its pictures, far below the 16 MiB of one message. A larger record is sent alone. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** The importer refuses larger records itself. The limit of the catalogue is far lower. */
const RECORD_BYTES = 8 * 1024 * 1024;

/** A file of another kind, or a small one that becomes lines without end, would fill the disk with refused lines. */
const MOST_UNREADABLE = 100_000;
/** The most characters of an item that could not be read that its refusal repeats. */
const LONGEST_RAW = 64 * 1024;

/**
 * Batches that are small enough for the catalogue. The ids of their items are unique in the import. The journal counts all items, and
 * takes those that are in no batch.
 *
 * @param signal when it is aborted, the items that wait for a batch are dropped
 */
export async function* batchesOf<T extends object>(
  items: AsyncIterable<ReadItem<T> | Skipped>,
  idOf: (item: T) => string,
  journal: ImportJournal,
  signal: AbortSignal | undefined,
): AsyncGenerator<SourceItem<T>[]> {
  const seen = new IdSet();
  let batch: SourceItem<T>[] = [];
  let bytes = 0;
  let unreadable = 0;
  for await (const read of items) {
    if (signal?.aborted) break;
    journal.counts.read++;
    if ('problem' in read) {
      await journal.refuse({ from: read.from, reason: read.problem, raw: shortened(read.raw) });
      unreadable += 1;
      if (unreadable < MOST_UNREADABLE) continue;
      if (batch.length > 0) yield batch;
      throw new Error(
        `${read.from}: ${MOST_UNREADABLE.toLocaleString('en-US')} items in a row could not be read: the file is of another kind than the command expects, or damaged`,
      );
    }
    if ('skipped' in read) {
      await journal.skip(read);
      continue;
    }
    unreadable = 0;
    const { from, item, raw, pictures } = read;
    const recordSize = messageSizeOf(item);
    if (recordSize > RECORD_BYTES) {
      await journal.refuse({ from, reason: `the record has ${recordSize} bytes: shorten it to 64 KiB` });
      continue;
    }
    const size = recordSize + heldBy(pictures, raw);
    const id = idOf(item);
    if (!seen.add(id)) {
      await journal.refuse({
        from,
        reason: `the id "${id}" occurs twice in this import: give each record its own id`,
        raw,
      });
      continue;
    }
    if (batch.length === BATCH_ITEMS || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(read);
    bytes += size;
  }
  if (batch.length > 0 && !signal?.aborted) yield batch;
}

/**
 * Returns the bytes of pictures that are part of the record's line. The line is kept too, for the case that the record is
 * refused.
 */
function heldBy(pictures: readonly BrandPicture[] = [], raw: string | undefined): number {
  const held = pictures.reduce((sum, { light, dark }) => sum + light.held + (dark?.held ?? 0), 0);
  return held === 0 ? 0 : held + (raw?.length ?? 0);
}

/** Copies the beginning of a text. A part that is not copied would keep the whole text in memory. */
function shortened(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= LONGEST_RAW) return text;
  return `${Buffer.from(text.slice(0, LONGEST_RAW)).toString()}…`;
}

/** Estimates how many bytes a message takes when encoded, rather too many than too few. Cheaper than encoding it. */
function messageSizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 4;
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 12;
  let size = 8;
  if (Array.isArray(value)) for (const item of value) size += messageSizeOf(item);
  else for (const name in value) size += messageSizeOf((value as Record<string, unknown>)[name]);
  return size;
}
