/**
 * `node packages/site/build.ts [FOLDER]` builds the pages that the gateway serves, by default in packages/site/dist. With
 * `--if-changed` it does so only if a source has changed since the last time. Every npm script runs it like this.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hashOfSources } from './build/sources.ts';
import { BUILT } from './src/index.ts';

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
