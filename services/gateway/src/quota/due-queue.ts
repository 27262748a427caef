/** Due times are rounded down to steps of this. */
const SLOT_MS = 100;

/**
 * Items by their due time, in milliseconds of a clock that never goes back. The cost of adding and taking does not grow with the
 * number of items.
 */
export class DueQueue<Item> {
  readonly #slots = new Map<number, Set<Item>>();
  readonly #slotOf = new Map<Item, number>();
  #first = 0;

  /** Keeps the earlier of two due times of an item. Infinity adds nothing. */
  add(item: Item, atMs: number): void {
    if (atMs === Number.POSITIVE_INFINITY) return;
    const slot = Math.max(this.#first, Math.floor(atMs / SLOT_MS));
    const before = this.#slotOf.get(item);
    if (before !== undefined && before <= slot) return;
    this.delete(item);
    this.#slotOf.set(item, slot);
    const items = this.#slots.get(slot);
    if (items) items.add(item);
    else this.#slots.set(slot, new Set([item]));
  }

  delete(item: Item): void {
    const slot = this.#slotOf.get(item);
    if (slot === undefined) return;
    this.#slotOf.delete(item);
    const items = this.#slots.get(slot);
    items?.delete(item);
    if (items?.size === 0) this.#slots.delete(slot);
  }

  /** Removes and returns the items that are due by now, or in less than one step. */
  take(nowMs: number): Item[] {
    const last = Math.floor(nowMs / SLOT_MS);
    const due: Item[] = [];
    for (const slot of this.#slotsUpTo(last)) {
      for (const item of this.#slots.get(slot) ?? []) {
        this.#slotOf.delete(item);
        due.push(item);
      }
      this.#slots.delete(slot);
    }
    this.#first = Math.max(this.#first, last);
    return due;
  }

  /** Looks through the slots that time has passed, or through the slots in use, whichever are fewer. */
  #slotsUpTo(last: number): number[] {
    const passed = last - this.#first + 1;
    if (passed > this.#slots.size) return [...this.#slots.keys()].filter((slot) => slot <= last);
    return Array.from({ length: Math.max(0, passed) }, (_, index) => this.#first + index);
  }
}
