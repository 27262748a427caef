import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test } from 'vitest';
import { readSite } from '../src/index.ts';

test('a file is read under the path of its URL, a page without .html, and no hidden file is read', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'docs'));
  await writeFile(join(folder, 'docs/errors.html'), '<!doctype html>');
  await writeFile(join(folder, 'elements.js'), 'export {};');
  await writeFile(join(folder, '.sources'), 'hash');
  expect(readSite(folder).map(({ path, type }) => [path, type])).toEqual([
    ['/docs/errors', 'text/html; charset=utf-8'],
    ['/elements.js', 'text/javascript; charset=utf-8'],
  ]);
});

test('without built pages, the error says how to build them', async () => {
  const folder = join(await temporaryFolder(), 'none');
  expect(() => readSite(folder)).toThrow('build them with node packages/site/build.ts');
});

test('a file whose type browsers would not be told is refused', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'data.bin'), '');
  expect(() => readSite(folder)).toThrow('data.bin');
});
