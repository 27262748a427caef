import { cp, glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test } from 'vitest';
import { spreadVersion } from '../versions.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FILES = [
  'package.json',
  '{packages,services,deploy}/*/package.json',
  'test/package.json',
  'deploy/chart/Chart.yaml',
  'deploy/images/Dockerfile',
];

/** Returns the text of each file that names the version, by path. */
async function texts(root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const path of glob(FILES, { cwd: root }))
    found.set(path, await readFile(join(root, path), 'utf8'));
  return found;
}

async function copy(): Promise<string> {
  const folder = await temporaryFolder();
  for (const path of (await texts(ROOT)).keys()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(ROOT, path), join(folder, path));
  }
  return folder;
}

const { version }: { version: string } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

test('the packages, the chart and the images have the version of package.json', async () => {
  const folder = await copy();
  await spreadVersion(folder);
  expect(await texts(folder)).toEqual(await texts(ROOT));
});

test('a new version in package.json reaches every package, the chart and the images, and nothing else changes', async () => {
  const folder = await copy();
  const before = await texts(folder);
  const manifest = before.get('package.json') ?? '';
  await writeFile(
    join(folder, 'package.json'),
    manifest.replace(`"version": "${version}"`, '"version": "12.34.56-rc.1"'),
  );
  await spreadVersion(folder);
  const after = await texts(folder);
  expect(after.size).toBeGreaterThan(15);
  for (const [path, text] of after) {
    expect(text.split('12.34.56-rc.1'), path).toHaveLength(path.endsWith('Chart.yaml') ? 3 : 2);
    expect(text.replaceAll('12.34.56-rc.1', version), path).toBe(before.get(path));
  }
});

test('the changelog begins with the version, and every version has a date', async () => {
  const changelog = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const headings = changelog.match(/^## .*$/gm) ?? [];
  const released = headings.filter((heading) => heading !== '## [Unreleased]');
  expect(released[0]).toContain(`## [${version}] - `);
  for (const heading of released) expect(heading).toMatch(/^## \[\d+\.\d+\.\d+[^\]]*\] - \d{4}-\d\d-\d\d$/);
});
