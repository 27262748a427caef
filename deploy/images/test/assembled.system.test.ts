import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { beforeAll, describe, expect, test } from 'vitest';
import { packageUrl, type Sbom } from '../sbom.ts';
import {
  expectCommandLine,
  expectToLive,
  expectToRefuseNothing,
  IMAGES,
  type Launch,
  SERVICES,
} from './programs.ts';
import { pnpmVersion, ROOT } from './versions.ts';

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  const assemble = [process.execPath, join(ROOT, 'deploy/images/assemble.ts'), folder];
  const options = ['--yes', '--prefer-offline', '--package', `pnpm@${pnpmVersion}`, '--'];
  await run('npx', [...options, ...assemble], { cwd: ROOT });
  return () => rm(folder, { recursive: true, force: true });
});

const launch: Launch = (image, args, environment) => ({
  program: process.execPath,
  args: [join(folder, image, image === 'bds' ? 'app/bds.mjs' : 'app/src/main.js'), ...args],
  environment,
});

/** Paths below the image's root, folders too. */
async function contents(image: string) {
  const entries = await readdir(join(folder, image), { recursive: true, withFileTypes: true });
  return entries.map((entry) => ({
    path: join(entry.parentPath, entry.name),
    isFile: entry.isFile(),
    isFolder: entry.isDirectory(),
  }));
}

describe.each(SERVICES)('what the image of %s holds', (service) => {
  test('refuses to run without its settings, and names them all', () =>
    expectToRefuseNothing(launch, service));

  test('is alive before anything that it needs is there, not ready, and stops when told to', () =>
    expectToLive(launch, service));
});

test('what the image of bds holds is a command line that works', () => expectCommandLine(launch));

test('what native packages are linked with is in the image: Node has it too, or it lies beside, or take-node.sh adds it', async () => {
  const takeNode = await readFile(join(ROOT, 'deploy/images/take-node.sh'), 'utf8');
  const [, added] = /^more=(.*)$/m.exec(takeNode) ?? [];
  const ofNode = new Set(librariesOf((await run('ldd', [process.execPath])).stdout).keys());
  const native = (await contents('images')).filter(({ path }) => /\.(node|so(\.\d+)*)$/.test(path));
  expect(native.length).toBeGreaterThanOrEqual(2);
  for (const { path } of native) {
    const libraries = librariesOf((await run('ldd', [path])).stdout);
    const missing = [...libraries].filter(
      ([name, found]) => !ofNode.has(name) && name !== added && !resolve(found).startsWith(folder),
    );
    expect(missing, path).toEqual([]);
  }
});

/** Returns the libraries in the output of `ldd`, by name, each with the path at which it was found. */
function librariesOf(output: string): Map<string, string> {
  const lines = output.matchAll(/^\s*(\S+)(?: => (\S+))? \(0x\w+\)$/gm);
  return new Map([...lines].map(([, name = '', path = name]) => [basename(name), path]));
}

test('the image of images holds the fonts that its settings do not reject, and a worker draws text with them', async () => {
  const app = join(folder, 'images/app');
  const settings = await readFile(join(app, 'assets/fonts.conf'), 'utf8');
  const rejected = [...settings.matchAll(/<rejectfont><glob>\*(\w+)\*<\/glob>/g)].map(
    ([, part = '']) => part,
  );
  expect(rejected.length).toBeGreaterThan(0);
  const all = await readdir(join(ROOT, 'services/images/node_modules/dejavu-fonts-ttf/ttf'));
  const named = all.filter((name) => !rejected.some((part) => name.includes(part)));
  const fonts = (await contents('images')).filter(({ path }) => path.endsWith('.ttf'));
  expect(fonts.map(({ path }) => basename(path)).toSorted()).toEqual(named.toSorted());
  const script = `
    import { startWorker } from './src/workers/worker-process.js';
    const worker = await startWorker();
    const svg = (text) => \`<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><text y="50">\${text}</text></svg>\`;
    const draw = (text, format) => {
      const form = { format: 'svg', width: 64, height: 64, bytes: Buffer.from(svg(text)) };
      return worker.run({ name: 'render', form, longer: 64, format });
    };
    const drawn = [];
    for (const format of ['png', 'webp', 'avif']) drawn.push(await draw('Aa', format), await draw(' ', format));
    const sizes = drawn.map(({ outcome, result }) => (outcome === 'done' ? result.bytes.length : outcome));
    await worker.end();
    console.log(sizes.join());
  `;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await run(process.execPath, args, { cwd: app, env: {} });
  const [png = 0, emptyPng = 0, webp = 0, emptyWebp = 0, avif = 0, emptyAvif = 0] = stdout
    .split(',')
    .map(Number);
  expect(png, stdout).toBeGreaterThan(emptyPng);
  expect(webp, stdout).toBeGreaterThan(emptyWebp);
  expect(avif, stdout).toBeGreaterThan(emptyAvif);
});

describe.each(IMAGES)('what the image of %s holds', (image) => {
  test('is listed in its SBOM, which has the format of CycloneDX: each package in its version, and Node', async () => {
    const text = await readFile(join(folder, image, 'app/sbom.cdx.json'), 'utf8');
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot7).validate(text)).toBeNull();
    const manifests = (await contents(image)).filter(({ path }) =>
      /\/node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path),
    );
    const held = manifests.map(async ({ path }) => {
      const { name, version } = JSON.parse(await readFile(path, 'utf8'));
      return packageUrl(name, version);
    });
    const listed = (JSON.parse(text) as Sbom).components.map(({ purl }) => purl);
    const expected = new Set([...(await Promise.all(held)), `pkg:generic/node@${process.versions.node}`]);
    expect(new Set(listed)).toEqual(expected);
    expect(listed).toContain('pkg:npm/%40brand-data/runtime@0.1.0');
  });

  test('is neither TypeScript nor tests nor tools', async () => {
    const found = (await contents(image)).filter(({ path }) =>
      /\.([cm]?ts|map|tsbuildinfo)$|\/(test|tests|@types|\.bin|\.pnpm|typescript|vitest|esbuild|npm|pnpm|yarn)$/.test(
        path,
      ),
    );
    expect(found).toEqual([]);
  });

  test('names no file of TypeScript that it would load, and holds each file that it loads', async () => {
    const own = (await contents(image)).filter(
      ({ path }) =>
        /\.m?js$/.test(path) && (!path.includes('/node_modules/') || path.includes('/@brand-data/')),
    );
    expect(own.length).toBeGreaterThan(5);
    for (const { path } of own) {
      const text = await readFile(path, 'utf8');
      expect(text, path).not.toMatch(/['"`]\.{1,2}\/[^'"`\s]*\.ts['"`]/);
      const loaded = /(?:\bfrom |\bimport[ (]|new URL\()'(\.{1,2}\/[^']+)'/g;
      for (const [, url = ''] of text.matchAll(loaded)) {
        expect(existsSync(join(dirname(path), url)), `${path}: ${url}`).toBe(true);
      }
    }
  });

  test('is the same whenever and wherever it is made: real files, of one age, readable by all', async () => {
    for (const { path, isFile, isFolder } of await contents(image)) {
      expect(isFile || isFolder, path).toBe(true);
      const { mtimeMs, mode } = await stat(path);
      const isProgram = isFolder || path.endsWith('/usr/local/bin/bds');
      expect({ mtimeMs, mode: (mode & 0o7777).toString(8) }, path).toEqual({
        mtimeMs: 0,
        mode: isProgram ? '755' : '644',
      });
    }
  });
});
