import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ItemNumber } from './entity.ts';
import type { CompanyFacts, NamedFacts } from './facts.ts';

/** Values by item number on disk. The values are plain JSON. */
class ItemTable<T> {
  readonly #set: StatementSync;
  readonly #get: StatementSync;
  readonly #all: StatementSync;

  constructor(database: DatabaseSync, name: string) {
    database.exec(`CREATE TABLE ${name} (item INTEGER PRIMARY KEY, value TEXT NOT NULL)`);
    this.#set = database.prepare(`INSERT OR REPLACE INTO ${name} VALUES (?, ?)`);
    this.#get = database.prepare(`SELECT value FROM ${name} WHERE item = ?`);
    this.#all = database.prepare(`SELECT value FROM ${name} ORDER BY item`);
  }

  set(item: ItemNumber, value: T): void {
    this.#set.run(item, JSON.stringify(value));
  }

  get(item: ItemNumber): T | undefined {
    const row = this.#get.get(item);
    return row && JSON.parse(String(row.value));
  }

  /** All values, in the order of their items' numbers. */
  *values(): Generator<T> {
    for (const { value } of this.#all.iterate()) yield JSON.parse(String(value));
  }
}

/** Stores on disk what the first reading of a dump found. Its size depends on the number of companies and places. */
export function sideStoreIn(database: DatabaseSync) {
  return {
    companies: new ItemTable<CompanyFacts>(database, 'company'),
    named: new ItemTable<NamedFacts>(database, 'named'),
    /** The place that a place is directly part of. */
    parents: new ItemTable<ItemNumber>(database, 'parent'),
  };
}

export type SideStore = ReturnType<typeof sideStoreIn>;

const PAGE = 1 << 19;

/** A set of item numbers that takes one bit for each number of the pages that it needs. */
export class ItemSet {
  readonly #pages = new Map<number, Uint8Array>();

  add(item: ItemNumber): void {
    const number = Math.floor(item / PAGE);
    const page = this.#pages.get(number) ?? new Uint8Array(PAGE / 8);
    const at = (item % PAGE) >> 3;
    page[at] = (page[at] ?? 0) | (1 << (item & 7));
    this.#pages.set(number, page);
  }

  has(item: ItemNumber): boolean {
    const page = this.#pages.get(Math.floor(item / PAGE));
    return ((page?.[(item % PAGE) >> 3] ?? 0) & (1 << (item & 7))) !== 0;
  }
}
