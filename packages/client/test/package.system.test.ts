import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { build } from 'rolldown';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildFiles, FILES } from '../files.ts';
import manifest from '../package.json' with { type: 'json' };
import { startScriptedServer } from './scripted-server.ts';

const CLIENT = join(import.meta.dirname, '..');
const TSC = join(CLIENT, '../../node_modules/.bin/tsc');

const run = (program: string, args: readonly string[], cwd: string) =>
  promisify(execFile)(program, args, { cwd, timeout: 100_000 });

/** A file of this version that is already released, and one of an earlier version. */
const withVersion = (name: string) => name.replace('.', `.${manifest.version}.`);
const RELEASED = [withVersion('elements.js'), 'elements.0.0.1.js'];

/** A program that is right only if the types tell the records and the errors apart. */
const TYPED = `
import '@brand-data/client/elements';
import { BrandData, BrandDataError, type GroupedRecord } from '@brand-data/client';

export function nameOf(record: GroupedRecord): string {
  switch (record.type) {
    case 'stock': return record.stock?.isin ?? record.name;
    case 'brand': return record.company?.ceo ?? record.name;
    case 'superinvestor': return record.firm ?? record.logo;
  }
}
export async function main(client: BrandData): Promise<string | null> {
  const { data } = await client.logo('AAPL', { signal: AbortSignal.timeout(1_000) });
  // @ts-expect-error: the flat record has no such field
  data.companny;
  // @ts-expect-error: the website may be null
  data.website.length;
  return data.website;
}
export const isMiss = (error: unknown): boolean => error instanceof BrandDataError && error.code === 'identifier_not_found';
export const logo: HTMLElement = document.createElement('brand-logo');
logo.addEventListener('brand-load', ({ detail }) => detail.headquarters?.city);
logo.addEventListener('brand-error', ({ detail }) => detail.code);
export const found = (client: BrandData, signal: AbortSignal | undefined) => client.brand('coke', { kind: 'ticker', signal });
`;

describe('the package, installed offline in an empty folder', () => {
  let folder: string;
  let files: string;
  let packed: string[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    files = await temporaryFolder();
    const released = await temporaryFolder();
    for (const name of RELEASED) await writeFile(join(released, name), 'released');
    await buildFiles(files, released);
    const { stdout } = await run('tar', ['-tzf', join(files, 'client.tgz')], folder);
    packed = stdout
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, ''));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(files, 'client.tgz')], folder);
  });

  const bundle = async (name: string, source: string, format: 'esm' | 'iife' = 'esm') => {
    await mkdir(join(folder, 'bundles'), { recursive: true });
    const input = join(folder, 'bundles', `${name}.js`);
    await writeFile(input, source);
    const { output } = await build({ input, write: false, output: { minify: true, format } });
    return output[0].code;
  };

  test('holds what is built, its page and its licence, and no sources', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'README.md',
        'dist/LICENSE',
        'dist/elements.js',
        'dist/index.d.ts',
        'dist/index.js',
      ]),
    );
    expect(packed.filter((path) => !/^(dist\/|README\.md$|package\.json$)/.test(path))).toEqual([]);
  });

  test('is the same, to the byte, whenever it is built', async () => {
    const again = await temporaryFolder();
    await buildFiles(again, join(again, 'none'));
    for (const name of FILES)
      expect([name, await readFile(join(again, name))]).toEqual([name, await readFile(join(files, name))]);
  });

  test('is there under its version too, and no file of a release ever changes', async () => {
    const textOf = (name: string) => readFile(join(files, name), 'latin1');
    for (const name of RELEASED) expect([name, await textOf(name)]).toEqual([name, 'released']);
    for (const name of FILES.filter((each) => each !== 'elements.js'))
      expect([name, await textOf(withVersion(name))]).toEqual([name, await textOf(name)]);
  });

  test('has no name for ever before its version is released, but is there as "next"', async () => {
    const early = await temporaryFolder();
    await buildFiles(early, join(early, 'none'));
    const next = FILES.map((name) => name.replace('.', '.next.'));
    expect((await readdir(early)).toSorted()).toEqual([...FILES, ...next].toSorted());
  });

  test('exports only what it holds', async () => {
    const text = await readFile(join(folder, 'node_modules/@brand-data/client/package.json'), 'utf8');
    const targets: Record<string, string>[] = Object.values(JSON.parse(text).exports);
    const paths = targets.flatMap((target) => Object.values(target)).map((path) => path.replace(/^\.\//, ''));
    expect(packed).toEqual(expect.arrayContaining(paths));
  });

  test('makes a call from plain Node, imported and required', async () => {
    const server = await startScriptedServer({ status: 200, body: { name: 'Apple' } });
    try {
      const program = `import { BrandData } from '@brand-data/client';
const client = new BrandData({ api: '${server.url}', token: 'pk_1' });
process.stdout.write((await client.brand('AAPL')).data.name);`;
      await writeFile(join(folder, 'main.mjs'), program);
      expect((await run(process.execPath, ['main.mjs'], folder)).stdout).toBe('Apple');
      const required = `const { BrandData } = require('@brand-data/client');
new BrandData({ api: '${server.url}', token: 'pk_1' }).logo('AAPL').then(({ data }) => process.stdout.write(data.name));`;
      await writeFile(join(folder, 'main.cjs'), required);
      expect((await run(process.execPath, ['main.cjs'], folder)).stdout).toBe('Apple');
    } finally {
      await server.stop();
    }
  });

  test.each(['elements', 'react', 'preact', 'solid', 'vue'])(
    'does nothing on a server that imports %s',
    async (name) => {
      const program = `import '@brand-data/client/${name}'; process.stdout.write('rendered');`;
      await writeFile(join(folder, 'server.mjs'), program);
      expect((await run(process.execPath, ['server.mjs'], folder)).stdout).toBe('rendered');
    },
  );

  test('defines the elements from a script that is no module', async () => {
    const code = await bundle('script', `import '@brand-data/client/elements';`, 'iife');
    const program = `const defined = [];
globalThis.customElements = { get: () => undefined, define: (name) => defined.push(name) };
${code}
process.stdout.write(defined.join());`;
    await writeFile(join(folder, 'script.cjs'), program);
    expect((await run(process.execPath, ['script.cjs'], folder)).stdout).toBe('brand-logo,brand-card');
  });

  test.each(['nodenext', 'bundler'])(
    'has types for a strict program with module resolution %s',
    async (kind) => {
      await writeFile(join(folder, 'main.ts'), TYPED);
      const options = [
        '--strict',
        '--exactOptionalPropertyTypes',
        '--noEmit',
        '--target',
        'es2022',
        '--lib',
        'es2022,dom',
        '--types',
        '',
      ];
      const module = kind === 'bundler' ? 'esnext' : kind;
      const args = [...options, '--module', module, '--moduleResolution', kind, 'main.ts'];
      await run(TSC, args, folder).catch(({ stdout }) => expect.fail(stdout));
    },
  );

  test('gives a bundle only what a program imports: the client without the elements, an error without the client', async () => {
    const client = await bundle(
      'client',
      `import { BrandData } from '@brand-data/client'; console.log(BrandData);`,
    );
    expect(client).toContain('/v1/usage');
    expect(client).not.toMatch(/attachShadow|brand-logo|customElements/);
    const error = await bundle(
      'error',
      `import { BrandDataError as E } from '@brand-data/client'; console.log(E);`,
    );
    expect(error).not.toContain('/v1/usage');
    const elements = await bundle('elements', `import '@brand-data/client/elements';`);
    expect(elements).toContain('attachShadow');
  });

  test('is as small as its page says', async () => {
    const page = await readFile(join(CLIENT, 'README.md'), 'utf8');
    const said = [...page.matchAll(/\| ([\d.]+) kB +\| ([\d.]+) kB +\|/g)].map(([, ...sizes]) =>
      sizes.map(Number),
    );
    const client = await bundle('size', `export * from '@brand-data/client';`);
    const elements = await readFile(join(folder, 'node_modules/@brand-data/client/dist/elements.js'), 'utf8');
    const kB = (bytes: number) => Math.round(bytes / 100) / 10;
    const sizes = [client, elements].map((code) => [kB(Buffer.byteLength(code)), kB(gzipSync(code).length)]);
    expect(sizes).toEqual(said);
  });

  test('has one script for pages, which imports nothing', async () => {
    const elements = await readFile(join(folder, 'node_modules/@brand-data/client/dist/elements.js'), 'utf8');
    expect(elements).not.toMatch(/\bimport\s*[{"'(*]|\bfrom\s*["']/);
  });
});
