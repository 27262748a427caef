import type { DatabaseSync } from 'node:sqlite';
import type { ItemNumber } from './entity.ts';
import type { CompanyFacts, NamedFacts } from './facts.ts';

/** Returns a table of values by item number on disk. The values are plain JSON. */
function tableIn<T>(database: DatabaseSync, name: string) {
  database.exec(`CREATE TABLE ${name} (item INTEGER PRIMARY KEY, value TEXT NOT NULL)`);
  const set = database.prepare(`INSERT OR REPLACE INTO ${name} VALUES (?, ?)`);
  const get = database.prepare(`SELECT value FROM ${name} WHERE item = ?`);
  const all = database.prepare(`SELECT value FROM ${name} ORDER BY item`);
  return {
    set(item: ItemNumber, value: T): void {
      set.run(item, JSON.stringify(value));
    },
    get(item: ItemNumber): T | undefined {
      const row = get.get(item);
      return row && JSON.parse(String(row.value));
    },
    /** All values, in the order of their items' numbers. */
    *values(): Generator<T> {
      for (const { value } of all.iterate()) yield JSON.parse(String(value));
    },
  };
}

/** Returns the tables that store on disk what the first reading of a dump found. Their size depends on the number of companies and places. */
export function sideStoreIn(database: DatabaseSync) {
  return {
    companies: tableIn<CompanyFacts>(database, 'company'),
    named: tableIn<NamedFacts>(database, 'named'),
    /** The place that a place is directly part of. */
    parents: tableIn<ItemNumber>(database, 'parent'),
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
