/** Items are found when a time is over, in steps of this. */
const SLOT_MS = 100;

/**
 * Items by when they are to be looked at, on one clock that never goes back, in milliseconds. What adding and taking cost
 * does not grow with the number of items.
 */
export class DueQueue<Item> {
  readonly #slots = new Map<number, Set<Item>>();
  readonly #slotOf = new Map<Item, number>();
  #first = 0;

  /** Due then, or sooner if that was said before; Infinity: nothing is said. */
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

  /** Takes out all that are due by now, and those that are within less than a slot. */
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

  /** Whichever are fewer: those that time has passed through, or those that hold anything. */
  #slotsUpTo(last: number): number[] {
    const passed = last - this.#first + 1;
    if (passed > this.#slots.size) return [...this.#slots.keys()].filter((slot) => slot <= last);
    return Array.from({ length: Math.max(0, passed) }, (_, index) => this.#first + index);
  }
}
