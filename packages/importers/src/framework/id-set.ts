import { hash } from 'node:crypto';

const FIRST_SLOTS = 1 << 12;
/** 512 MiB, which is room for 50 million ids. */
const MOST_SLOTS = 1 << 26;

/**
 * Finds repeated ids. It stores 64 bits of each id's hash, which takes 16 to 32 bytes an id, whatever the id's length. Two
 * different ids may have the same 64 bits, and then the second is wrongly taken for a repetition. Among ten million ids
 * the probability of this is 1 in 370,000. At 50 million ids the set is full, and treats every further id as new.
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
