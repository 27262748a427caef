/**
 * `node packages/client/build.ts [FOLDER]` builds the package, by default in packages/client/dist: the client as modules with
 * their types, and elements.js, one minified module with the elements and all that they need.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundle } from './bundle.ts';

const root = join(import.meta.dirname, '../..');
const folder = resolve(process.argv[2] ?? join(import.meta.dirname, 'dist'));

rmSync(folder, { recursive: true, force: true });
const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', import.meta.dirname, '--outDir', folder], {
  stdio: 'inherit',
});
if (tsc.status !== 0) process.exit(1);
// elements.js has the code of these modules. Their types stay.
for (const file of globSync('elements/*.js', { cwd: folder })) rmSync(join(folder, file));
await bundle(join(import.meta.dirname, 'src/elements/index.ts'), join(folder, 'elements.js'));
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
