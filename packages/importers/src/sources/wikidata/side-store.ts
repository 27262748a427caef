import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ItemNumber } from './entity.ts';
import type { CompanyFacts, NamedFacts } from './facts.ts';

/** Stores on disk what the first reading of a dump found. Its size depends on the number of companies and places. */
export interface SideStore extends Disposable {
  /** Returns false if the item was added before. */
  addCompany(facts: CompanyFacts): boolean;
  /** All companies, in the order of their items' numbers. */
  companies(): Iterable<CompanyFacts>;
  addNamed(item: ItemNumber, facts: NamedFacts): void;
  named(item: ItemNumber): NamedFacts | undefined;
  addParent(place: ItemNumber, parent: ItemNumber): void;
  parentOf(place: ItemNumber): ItemNumber | undefined;
}

const CACHE_KIB = 64 * 1024;

/** The names of the stores' folders. Each contains the id of the process that uses it. */
const FOLDER = /^bds-wikidata-(\d+)-/;

/**
 * Makes a store in a new folder below `workDir`. Disposing of the store removes the folder. If a process was killed before
 * that, its folder is removed when the next store is opened in the same `workDir`.
 */
export function openSideStore(workDir: string): SideStore {
  for (const name of readdirSync(workDir)) {
    const [, processId] = FOLDER.exec(name) ?? [];
    if (processId !== undefined && !isRunning(Number(processId)))
      rmSync(join(workDir, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(workDir, `bds-wikidata-${process.pid}-`));
  const database = new DatabaseSync(join(folder, 'side.sqlite'));
  // The data is not needed after the process ends, so the database needs no journal and no synchronous writes.
  database.exec(`
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -${CACHE_KIB};
    CREATE TABLE company (item INTEGER PRIMARY KEY, facts TEXT NOT NULL);
    CREATE TABLE named (item INTEGER PRIMARY KEY, facts TEXT NOT NULL);
    CREATE TABLE parent (item INTEGER PRIMARY KEY, parent INTEGER NOT NULL);
    BEGIN;
  `);
  const addCompany = database.prepare('INSERT OR IGNORE INTO company VALUES (?, ?)');
  const companies = database.prepare('SELECT facts FROM company ORDER BY item');
  const addNamed = database.prepare('INSERT OR REPLACE INTO named VALUES (?, ?)');
  const named = database.prepare('SELECT facts FROM named WHERE item = ?');
  const addParent = database.prepare('INSERT OR REPLACE INTO parent VALUES (?, ?)');
  const parentOf = database.prepare('SELECT parent FROM parent WHERE item = ?');
  const factsIn = (row: unknown) => {
    const { facts } = Object(row);
    return typeof facts === 'string' ? JSON.parse(facts) : undefined;
  };

  return {
    addCompany: (facts) => addCompany.run(facts.item, JSON.stringify(facts)).changes === 1,
    *companies() {
      for (const row of companies.iterate()) yield factsIn(row);
    },
    addNamed: (item, facts) => {
      addNamed.run(item, JSON.stringify(facts));
    },
    named: (item) => factsIn(named.get(item)),
    addParent: (place, parent) => {
      addParent.run(place, parent);
    },
    parentOf: (place) => {
      const { parent } = Object(parentOf.get(place));
      return typeof parent === 'number' ? parent : undefined;
    },
    [Symbol.dispose]: () => {
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // Any other error, such as EPERM for another user's process, means that the process exists.
    return Object(error).code !== 'ESRCH';
  }
}

/** A set of item numbers that takes one bit for each possible number. */
export function itemSet() {
  let bits = new Uint8Array(1 << 20);
  return {
    add(item: ItemNumber): void {
      if (item >> 3 >= bits.length) {
        const grown = new Uint8Array(2 ** Math.ceil(Math.log2((item >> 3) + 1)));
        grown.set(bits);
        bits = grown;
      }
      bits[item >> 3] = (bits[item >> 3] ?? 0) | (1 << (item & 7));
    },
    has: (item: ItemNumber): boolean => ((bits[item >> 3] ?? 0) & (1 << (item & 7))) !== 0,
  };
}
