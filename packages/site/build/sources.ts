import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** All that the pages are made of: the files of this package, the client, how HTML is written, and the versions of packages. */
const SOURCES = [
  'packages/site/{build.ts,build/**,docs/**,playground/**,src/**,style/**}',
  'packages/client/{bundle.ts,src/**}',
  'packages/runtime/src/http/html.ts',
  'pnpm-lock.yaml',
];

export function hashOfSources(): string {
  const hash = createHash('sha256');
  const entries = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT, withFileTypes: true }));
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
