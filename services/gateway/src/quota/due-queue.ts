/** Due times are rounded down to multiples of this. */
const SLOT_MS = 100;

/** Items by their due time, in milliseconds of a monotonic clock. Adding and taking cost the same however many items there are. */
export class DueQueue<Item> {
  readonly #slots = new Map<number, Set<Item>>();
  readonly #slotOf = new Map<Item, number>();
  #first = 0;

  /** Adds an item. If the queue already has the item, the earlier due time is kept. A due time of Infinity adds nothing. */
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

  /** Removes and returns the items that are due now or in less than SLOT_MS. */
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

  /** Returns the slots up to `last`, from those since the last call or from those in use, whichever are fewer. */
  #slotsUpTo(last: number): number[] {
    const passed = last - this.#first + 1;
    if (passed > this.#slots.size) return [...this.#slots.keys()].filter((slot) => slot <= last);
    return Array.from({ length: Math.max(0, passed) }, (_, index) => this.#first + index);
  }
}
