import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem } from '@brand-data/servers';
import type { Bds } from './bds.ts';
import { readJson, writeSecret } from './data-folder.ts';

const RECORDS = join(import.meta.dirname, '..', 'catalogue');
/**
 * The code of the importers and of images. The fingerprint includes it, because another version of them may make different
 * records or different forms of an image.
 */
const CODE = ['@brand-data/importers', '@brand-data/images/main'].map((name) =>
  dirname(fileURLToPath(import.meta.resolve(name))),
);

interface Imported {
  /** The hash of the imported files and of the code. */
  fingerprint: string;
  /** How catalog described its contents after the import. */
  holds: string;
}

/**
 * Imports the sample catalogue with its images. Does nothing if the same sample is already imported, which `dataDir` remembers.
 * Prints the records that the import refuses, and continues without them. Resolves to catalog's description of its contents.
 */
export async function importCatalogue(
  dataDir: string,
  bds: Bds,
  say: (line: string) => void,
): Promise<string> {
  const stamp = join(dataDir, 'imported.json');
  const fingerprint = await fingerprintOf(RECORDS, ...CODE);
  const before = await readJson<Imported>(stamp);
  const present = await whatCatalogueHolds(bds);
  if (before?.fingerprint === fingerprint && before.holds === present) return present;
  let complete = true;
  // The sample comes first, so that a company that both have is founded by its record here and has the id of that record.
  for (const source of [['records', RECORDS, '--source', 'sample'], ['simple-icons'], ['iconify']]) {
    await bds('import', ...source, '--prune').catch((error) => {
      if (!(error instanceof Problem)) throw error;
      complete = false;
      say(`  ${error.message}`);
    });
  }
  const holds = await whatCatalogueHolds(bds);
  if (complete) await writeSecret(stamp, { fingerprint, holds } satisfies Imported);
  return holds;
}

async function whatCatalogueHolds(bds: Bds): Promise<string> {
  const { services } = (await bds('status')) as { services: { service: string; detail: string }[] };
  return services.find(({ service }) => service === 'catalog')?.detail ?? '';
}

/** Hashes the paths and contents of all files below the folders. */
async function fingerprintOf(...folders: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    for (const file of files.sort())
      hash.update(`${file.slice(folder.length)}\0`).update(await readFile(file));
  }
  return hash.digest('hex');
}
