import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '../src/version.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('all packages of a release and its chart have one version, which is that of bds and of the services', () => {
  const manifests = globSync(
    ['package.json', '{packages,services,deploy}/*/package.json', 'test/package.json'],
    {
      cwd: ROOT,
    },
  );
  expect(manifests.length).toBeGreaterThan(10);
  for (const path of manifests) {
    const { version } = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
    expect({ path, version }).toEqual({ path, version: VERSION });
  }
  const chart = parse(readFileSync(join(ROOT, 'deploy/chart/Chart.yaml'), 'utf8'));
  expect([chart.version, chart.appVersion]).toEqual([VERSION, VERSION]);
});
