import { hash } from 'node:crypto';
import type { ImportJournal } from './import-journal.ts';
import { heapSizeOf } from './kept-memory.ts';
import type { BrandPicture, ReadItem, Skipped, SourceItem } from './source-items.ts';

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
 * Yields batches that are small enough for the catalogue. The ids of their items are unique in the import. The journal counts all
 * items, and takes those that are in no batch. If the signal is aborted, the items that wait for a batch are dropped.
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
    const recordSize = heapSizeOf(item);
    if (recordSize > RECORD_BYTES) {
      await journal.refuse({ from, reason: `the record has ${recordSize} bytes: shorten it to 64 KiB` });
      continue;
    }
    const size = recordSize + heldBy(pictures, raw);
    const id = idOf(item);
    if (!seen.add(id)) {
      await journal.refuse({
        from,
        reason: `the id "${id}" occurs twice in this import: give each record its own id${read.ifTwice ?? ''}`,
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

/** Returns the bytes of pictures that are part of the record's line, and of the line, which is kept in case of a refusal. */
function heldBy(pictures: readonly BrandPicture[] = [], raw: string | undefined): number {
  const held = pictures.reduce((sum, { light, dark }) => sum + light.held + (dark?.held ?? 0), 0);
  return held === 0 ? 0 : held + (raw?.length ?? 0);
}

/** Copies the beginning of a text. A part that is not copied would keep the whole text in memory. */
function shortened(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= LONGEST_RAW) return text;
  return `${Buffer.from(text.slice(0, LONGEST_RAW)).toString()}…`;
}

const FIRST_SLOTS = 1 << 12;
/** 512 MiB, which is room for 50 million ids. */
const MOST_SLOTS = 1 << 26;

/**
 * Finds repeated ids. It stores 64 bits of each id's hash, which takes 16 to 32 bytes an id. Among ten million ids, the
 * probability that a new id is taken for a repetition is 1 in 370,000. At 50 million ids the set is full, and treats every
 * further id as new.
 */
export class IdSet {
  #slots = new BigUint64Array(FIRST_SLOTS);
  #size = 0;

  /** Returns false if the id was added before. */
  add(id: string): boolean {
    const wanted = hashOf(id);
    const place = placeOf(this.#slots, wanted);
    if (this.#slots[place] === wanted) return false;
    if (this.#size >= MOST_SLOTS * 0.75) return true;
    this.#slots[place] = wanted;
    this.#size++;
    if (this.#size > this.#slots.length / 2 && this.#slots.length < MOST_SLOTS) this.#grow();
    return true;
  }

  has(id: string): boolean {
    return this.#slots[placeOf(this.#slots, hashOf(id))] !== 0n;
  }

  #grow(): void {
    const larger = new BigUint64Array(this.#slots.length * 2);
    for (const kept of this.#slots) if (kept !== 0n) larger[placeOf(larger, kept)] = kept;
    this.#slots = larger;
  }
}

/** Returns the slot that holds the hash, or the free slot where it belongs. */
function placeOf(slots: BigUint64Array, wanted: bigint): number {
  const mask = slots.length - 1;
  let place = Number(wanted & 0xffff_ffffn) & mask;
  while (slots[place] !== 0n && slots[place] !== wanted) place = (place + 1) & mask;
  return place;
}

/** Returns 64 bits of the id's hash, but never 0, because 0 marks a free slot. */
function hashOf(id: string): bigint {
  return hash('sha1', id, 'buffer').readBigUInt64LE(0) || 1n;
}
