/**
 * `node packages/site/build.ts [FOLDER]` builds the pages that the gateway serves, by default in packages/site/dist. With
 * `--if-changed` it does so only if a source has changed since the last time. Every npm script runs it like this.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BUILT } from './src/index.ts';

/** All that the pages are made of: the files of this package, the client, how HTML is written, and the versions of packages. */
const SOURCES = [
  'packages/site/{build.ts,build/**,docs/**,playground/**,shared/**,src/**,style/**}',
  'packages/client/{*.ts,*.json,README.md,src/**,released/**,python/pyproject.toml,python/brand_data/*.py}',
  'tsconfig.json',
  'packages/runtime/src/http/html.ts',
  'pnpm-lock.yaml',
];

const [argument] = process.argv.slice(2);
const ifChanged = argument === '--if-changed';
const folder = argument === undefined || ifChanged ? BUILT : resolve(argument);
const stamp = '.sources';
const sources = hashOfSources();

const builtFrom = join(folder, stamp);
if (!ifChanged || !existsSync(builtFrom) || readFileSync(builtFrom, 'utf8') !== sources) {
  const { buildSite } = await import('./build/site.ts');
  // Programs that start in the meantime find all old files or all new ones, and two builds at once do not mix.
  const [fresh, old] = [`${folder}.new-${process.pid}`, `${folder}.old-${process.pid}`];
  try {
    await buildSite(fresh);
    if (folder === BUILT) writeFileSync(join(fresh, stamp), sources);
    if (existsSync(folder)) renameSync(folder, old);
    renameSync(fresh, folder);
  } finally {
    for (const leftover of [fresh, old]) rmSync(leftover, { recursive: true, force: true });
  }
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  const entries = SOURCES.flatMap((pattern) =>
    globSync(pattern, { cwd: join(import.meta.dirname, '../..'), withFileTypes: true }),
  );
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
