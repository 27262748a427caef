import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const CACHE_KIB = 64 * 1024;

/** Opens an empty database in the folder for what a reader keeps on disk until its source is read. Its size has no bound. */
export function openSideDatabase(workDir: string): DatabaseSync {
  const file = join(workDir, `bds-import-${randomUUID()}`);
  const database = new DatabaseSync(file);
  // The data is not needed after the process ends, so the database needs no journal on disk and no synchronous writes.
  database.exec(`
    PRAGMA journal_mode = MEMORY;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -${CACHE_KIB};
    BEGIN;
  `);
  // The open file needs no name. Without it, the system frees the file when the process ends, even if it is killed.
  rmSync(file);
  return database;
}
