import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { openSideDatabase } from '../../formats/side-database.ts';
import type { EntityFacts } from './entity.ts';

/** Whether the parent is the direct or the ultimate one. */
export type Level = 'direct' | 'ultimate';

const MOST_SUBSIDIARIES = 100;

/** Stores on disk what the files of an import state, until the last one is read. */
export class SideStore implements Disposable {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(workDir: string) {
    this.#database = openSideDatabase(workDir);
    this.#database.exec(`
      CREATE TABLE entity (lei TEXT PRIMARY KEY, name TEXT NOT NULL, name_key INTEGER, is_active INTEGER, facts TEXT NOT NULL);
      CREATE TABLE parent (child TEXT, level TEXT, parent TEXT, PRIMARY KEY (child, level)) WITHOUT ROWID;
      CREATE TABLE known (isin TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE TABLE isin (lei TEXT PRIMARY KEY, isin TEXT NOT NULL) WITHOUT ROWID;
    `);
  }

  /** Replaces an earlier record of the entity. `nameKey` is equal for names that may be those of one company. */
  addEntity(facts: EntityFacts, nameKey: string | undefined): void {
    const key = nameKey === undefined ? null : hash('sha1', nameKey, 'buffer').readBigInt64LE(0);
    this.#run(
      'INSERT OR REPLACE INTO entity VALUES (?, ?, ?, ?, ?)',
      facts.lei,
      facts.name,
      key,
      Number(facts.isActive),
      JSON.stringify(facts),
    );
  }

  /** Removes an entity that a later file states to be no company. */
  removeEntity(lei: string): void {
    this.#run('DELETE FROM entity WHERE lei = ?', lei);
  }

  addParent(child: string, level: Level, parent: string): void {
    this.#run('INSERT OR REPLACE INTO parent VALUES (?, ?, ?)', child, level, parent);
  }

  removeParent(child: string, level: Level): void {
    this.#run('DELETE FROM parent WHERE child = ? AND level = ?', child, level);
  }

  addKnownIsin(isin: string): void {
    this.#run('INSERT OR IGNORE INTO known VALUES (?)', isin);
  }

  /** Keeps the first of an entity's ISINs that are known. */
  addIsin(lei: string, isin: string): void {
    this.#run('INSERT OR IGNORE INTO isin SELECT ?, isin FROM known WHERE isin = ?', lei, isin);
  }

  /** Ends the writing: indexes what was written. */
  index(): void {
    this.#database.exec(`
      CREATE INDEX entity_by_name ON entity (name_key, is_active);
      CREATE INDEX parent_by_parent ON parent (parent, level);
    `);
  }

  *entities(): Generator<EntityFacts & { nameKey: bigint | null }> {
    const all = this.#database.prepare('SELECT name_key, facts FROM entity');
    all.setReadBigInts(true);
    for (const { name_key, facts } of all.iterate())
      yield { ...JSON.parse(String(facts)), nameKey: name_key as bigint | null };
  }

  /** Counts the active entities with this name, up to two. */
  activeOfName(nameKey: bigint): number {
    const sql =
      'SELECT count(*) AS count FROM (SELECT 1 FROM entity WHERE name_key = ? AND is_active = 1 LIMIT 2)';
    return Number(this.#prepared(sql).get(nameKey)?.count);
  }

  nameOf(lei: string): string | undefined {
    return this.#texts('SELECT name AS text FROM entity WHERE lei = ?', lei)[0];
  }

  /** The direct parent comes first. */
  parentsOf(lei: string): string[] {
    return this.#texts(
      'SELECT name AS text FROM parent JOIN entity ON lei = parent WHERE child = ? ORDER BY level',
      lei,
    );
  }

  /** The names of active entities, at most a hundred, in order. */
  subsidiariesOf(lei: string): string[] {
    return this.#texts(
      `SELECT name AS text FROM parent JOIN entity ON lei = child
       WHERE parent = ? AND level = 'direct' AND is_active = 1 ORDER BY name LIMIT ${MOST_SUBSIDIARIES}`,
      lei,
    );
  }

  knownIsinOf(lei: string): string | undefined {
    return this.#texts('SELECT isin AS text FROM isin WHERE lei = ?', lei)[0];
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #texts(sql: string, lei: string): string[] {
    return this.#prepared(sql)
      .all(lei)
      .map(({ text }) => String(text));
  }

  #run(sql: string, ...values: (string | number | bigint | null)[]): void {
    this.#prepared(sql).run(...values);
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}
