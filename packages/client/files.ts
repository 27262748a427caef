import { copyFileSync, cpSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archiveOf } from './archive.ts';
import { buildPackage } from './build.ts';
import { bundle } from './bundle.ts';
import manifest from './package.json' with { type: 'json' };

const { version } = manifest;

/** The files of earlier releases, which the release script puts here. */
export const RELEASED = join(import.meta.dirname, 'released');

/** What callers load and install from a gateway. */
export const FILES = ['elements.js', 'client.js', 'client.tgz', 'client-python.tar.gz'] as const;

/** Returns the name under which a file of this version is served for ever, from its release on: `elements.1.2.3.js`. */
const ofVersion = (name: string): string => name.replace('.', `.${version}.`);

/** Returns the name of a file of this version with the version, or `elements.next.js` as long as the version has no released files. */
export const versioned = (name: string, released: string = RELEASED): string =>
  existsSync(join(released, ofVersion(FILES[0]))) ? ofVersion(name) : name.replace('.', '.next.');

/**
 * Builds the files that callers load and install into a folder. Each has its name, and one by its version. The bytes at a name with a
 * version never change: pages name them by their hash, and so do the lockfiles of package managers. The files of all releases are
 * therefore there too, and a file of this version that is released is not built anew. Before its release it is called "next".
 */
export async function buildFiles(folder: string, released: string = RELEASED): Promise<void> {
  const here = import.meta.dirname;
  const work = join(folder, '.package');
  await bundle(join(here, 'src/elements/index.ts'), join(folder, 'elements.js'));
  await bundle(join(here, 'src/index.ts'), join(folder, 'client.js'));
  await buildPackage(work);
  const files = globSync('**', { cwd: work, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(work.length + 1));
  writeFileSync(join(folder, 'client.tgz'), archiveOf(work, 'package', paths));
  rmSync(work, { recursive: true });
  const python = join(here, 'python');
  const sources = globSync('{pyproject.toml,brand_data/{*.py,py.typed}}', { cwd: python });
  const top = `brand_data-${version}`;
  writeFileSync(join(folder, 'client-python.tar.gz'), archiveOf(python, top, sources));
  for (const name of FILES) copyFileSync(join(folder, name), join(folder, versioned(name, released)));
  if (existsSync(released)) cpSync(released, folder, { recursive: true });
}

// `node packages/client/files.ts` keeps the files of this version. The release script does so.
if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'brand-data-files-'));
  await buildFiles(folder);
  for (const name of FILES) cpSync(join(folder, name), join(RELEASED, ofVersion(name)));
  rmSync(folder, { recursive: true });
}
