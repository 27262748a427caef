/**
 * `node deploy/images/assemble.ts OUT [NODE]` collects everything in the images except Node: OUT/gateway, OUT/accounts,
 * OUT/catalog, OUT/metering, OUT/images and OUT/bds. Each folder is copied to the root of an image. NODE is a folder with dpkg's
 * records of the libraries that Node needs, and os-release; they get into the images' SBOMs. Needs `pnpm` on the PATH and an
 * installed workspace. Two runs give the same files with the same times and modes.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, glob, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { compiledManifest, IMAGES, isNeeded } from './rules.ts';
import { packageUrl, sbomOfImage, sbomOfPackages } from './sbom.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SCOPE = '@brand-data';
/** A program on the image's PATH. It replaces packages/operator/bds.mjs, which needs `env`, and the image has no `env`. */
const BDS = 'usr/local/bin/bds';

const [out, nodeFolder] = process.argv.slice(2);
if (out === undefined) throw new Error('usage: node deploy/images/assemble.ts OUT [NODE]');
await assemble(resolve(out));

async function assemble(folder: string): Promise<void> {
  const system = await readSystem(nodeFolder);
  await rm(folder, { recursive: true, force: true });
  const work = join(folder, '.work');
  const compiled = join(work, 'compiled');
  const site = join(work, 'site');
  const images = Object.entries(IMAGES).map(([image, name]) => {
    return { name, deployed: join(work, image), app: join(folder, image, 'app') };
  });
  await Promise.all([
    // Compiles all packages to JavaScript, in the same folders as their sources.
    run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', import.meta.dirname, '--outDir', compiled]),
    run(process.execPath, [join(ROOT, 'packages/site/build.ts'), site]),
    ...images.map(({ name, deployed }) => deploy(name, deployed)),
  ]);
  const sources = await sourceFolders();
  for (const { name, deployed, app } of images) {
    const modules = join(app, 'node_modules');
    await copyNeeded(join(deployed, 'node_modules'), modules);
    const own = await readdir(join(deployed, 'node_modules', SCOPE));
    await placeCompiled(name, sources, compiled, app);
    for (const each of own) await placeCompiled(each, sources, compiled, join(modules, SCOPE, each));
    if (own.includes('site')) await cp(site, join(modules, SCOPE, 'site/dist'), { recursive: true });
    await copyFile(join(ROOT, 'LICENSE'), join(app, 'LICENSE'));
    const packages = await packagesIn(modules);
    const sbom = sbomOfImage(await sbomOfPackages([name]), { ...system, packages });
    await writeFile(join(app, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 1)}\n`);
  }
  await rm(work, { recursive: true });
  const bds = join(folder, 'bds');
  await cp(join(ROOT, 'deploy/local/catalogue'), join(bds, 'sample/catalogue'), { recursive: true });
  await mkdir(dirname(join(bds, BDS)), { recursive: true });
  await writeFile(join(bds, BDS), "#!/usr/local/bin/node\nimport('/app/bds.mjs');\n");
  await settle(folder);
  await chmod(join(bds, BDS), 0o755);
}

/**
 * Puts a package and all packages that it needs in production into plain folders, in the versions of the lockfile. Their files
 * are links to pnpm's store. The lockfile was verified when the workspace was installed.
 */
async function deploy(name: string, folder: string): Promise<void> {
  const options = ['--prod', '--offline', '--trust-lockfile', '--ignore-scripts'];
  const config = ['--config.inject-workspace-packages=true', '--config.node-linker=hoisted'];
  await run('pnpm', [`--filter=${SCOPE}/${name}`, 'deploy', ...options, ...config, folder]);
}

/** Copies the needed files of third-party packages. */
async function copyNeeded(modules: string, target: string): Promise<void> {
  const ours = new RegExp(`^${SCOPE}/[^/]+/(?!node_modules/)`);
  for (const path of await filesIn(modules)) {
    if (ours.test(path) || !isNeeded(path)) continue;
    await mkdir(dirname(join(target, path)), { recursive: true });
    await copyFile(join(modules, path), join(target, path));
  }
}

/** Returns the npm packages in this folder and in those below, as an SBOM names them. */
async function packagesIn(modules: string): Promise<Set<string>> {
  const found = new Set<string>();
  for (const path of await filesIn(modules)) {
    if (!/(^|\/node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(path)) continue;
    const { name, version } = JSON.parse(await readFile(join(modules, path), 'utf8'));
    found.add(packageUrl(name, version));
  }
  return found;
}

/** Returns the paths of all files in this folder and in those below, from this folder on. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** What the images have besides packages: this Node, and the libraries in the folder NODE. */
async function readSystem(records: string | undefined) {
  const names = records === undefined ? [] : (await readdir(records)).toSorted();
  const read = (name: string) => readFile(join(records ?? '', name), 'utf8');
  return {
    node: process.versions.node,
    libraries: await Promise.all(names.filter((name) => name !== 'os-release').map(read)),
    system: names.includes('os-release') ? await read('os-release') : '',
  };
}

/** Returns the folders of our own packages by their names: `packages/runtime` by `runtime`. */
async function sourceFolders(): Promise<Map<string, string>> {
  const folders = new Map<string, string>();
  for await (const path of glob('{packages,services}/*/package.json', { cwd: ROOT })) {
    const { name } = JSON.parse(await readFile(join(ROOT, path), 'utf8'));
    folders.set(basename(name), dirname(path));
  }
  return folders;
}

/** Copies one of our own packages: the compiled files, its folder `assets`, and the fields of package.json that Node reads. */
async function placeCompiled(
  name: string,
  sources: ReadonlyMap<string, string>,
  compiled: string,
  target: string,
): Promise<void> {
  const source = sources.get(name);
  if (source === undefined) throw new Error(`${SCOPE}/${name} is not a package of this workspace`);
  await cp(join(compiled, source), target, { recursive: true });
  const assets = join(ROOT, source, 'assets');
  if (existsSync(assets)) await cp(assets, join(target, 'assets'), { recursive: true });
  const manifest = JSON.parse(await readFile(join(ROOT, source, 'package.json'), 'utf8'));
  const text = JSON.stringify(compiledManifest(manifest), null, 2);
  await writeFile(join(target, 'package.json'), `${text}\n`);
}

/**
 * Gives all files fixed modes and times, wherever and whenever the image is built. They are dated 1970 and not by the commit, so
 * that an unchanged layer stays the same in the next release.
 */
async function settle(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    await chmod(path, entry.isDirectory() ? 0o755 : 0o644);
    await utimes(path, 0, 0);
  }
}

/** Runs a tool of the build to its end. If it fails, throws an error with the tool's output. */
async function run(program: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, { cwd: ROOT, env: { ...process.env, CI: 'true' } }).catch(
    ({ message, stdout = '', stderr = '' }) => {
      throw new Error(`${message}\n${stdout}${stderr}`);
    },
  );
}
