import { hash } from 'node:crypto';

const FIRST_SLOTS = 1 << 12;
/** 512 MiB: room for 50 million ids. */
const MOST_SLOTS = 1 << 26;

/**
 * Tells which ids were there before, at 16 to 32 bytes an id whatever its length: of each it keeps 64 bits of a hash.
 * That two of ten million ids share them, and the second is taken for the first, has a chance of 1 to 370,000. Full at
 * 50 million, it takes every further id for new.
 */
export class IdSet {
  #slots = new BigUint64Array(FIRST_SLOTS);
  #size = 0;

  /** False: it was there before. */
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

  #grow(): void {
    const larger = new BigUint64Array(this.#slots.length * 2);
    for (const kept of this.#slots) if (kept !== 0n) larger[placeOf(larger, kept)] = kept;
    this.#slots = larger;
  }
}

/** Where the hash is, or the free slot where it belongs. */
function placeOf(slots: BigUint64Array, wanted: bigint): number {
  const mask = slots.length - 1;
  let place = Number(wanted & 0xffff_ffffn) & mask;
  while (slots[place] !== 0n && slots[place] !== wanted) place = (place + 1) & mask;
  return place;
}

/** Never 0, which marks a free slot. */
function hashOf(id: string): bigint {
  return hash('sha1', id, 'buffer').readBigUInt64LE(0) || 1n;
}
