/**
 * `node packages/client/build.ts [FOLDER]` builds the package that callers install, by default in packages/client/dist: its manifest
 * and its page, and in the folder `dist` the client as modules with their types, and elements.js, one minified module with the
 * elements and all that they need.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundle } from './bundle.ts';
import manifest from './package.json' with { type: 'json' };

if (import.meta.main) await buildPackage(resolve(process.argv[2] ?? join(import.meta.dirname, 'dist')));

export async function buildPackage(folder: string): Promise<void> {
  const root = join(import.meta.dirname, '../..');
  const dist = join(folder, 'dist');
  const elements = join(import.meta.dirname, 'src/elements');

  rmSync(folder, { recursive: true, force: true });
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-p', import.meta.dirname, '--outDir', dist], { stdio: 'inherit' });
  // elements.js has the code of these modules. Their types stay.
  for (const file of globSync('elements/*.js', { cwd: dist })) rmSync(join(dist, file));
  await bundle(join(elements, 'index.ts'), join(dist, 'elements.js'));
  // The compiler leaves out declarations that stand among the sources.
  for (const file of globSync('*.d.ts', { cwd: elements }))
    copyFileSync(join(elements, file), join(dist, 'elements', file));
  copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));
  copyFileSync(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));

  // The other exports are sources, which only the packages of this repository import.
  const { private: _, scripts: __, devDependencies: ___, exports, ...published } = manifest;
  const exported = Object.fromEntries(
    Object.entries(exports).filter(([, target]) => typeof target === 'object'),
  );
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ ...published, exports: exported }, null, 2)}\n`,
  );
}
