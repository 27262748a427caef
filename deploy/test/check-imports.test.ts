import { describe, expect, test } from 'vitest';
import { importsOf, undeclared, violations } from '../check-imports.ts';

test('finds imports of values, of types and at run time, and no package from outside', () => {
  const text = [
    "import { readFile } from 'node:fs/promises';",
    "import fastify from 'fastify';",
    "import type { Ledger } from './ledger.ts';",
    "export { Clock } from '../clock.ts';",
    "import './register.ts';",
    "const late = await import('@brand-data/runtime');",
    'export {',
    '  one,',
    '  type Two,',
    '} from "./quoted-otherwise.ts";',
    'const later = await import(`./later.mjs`);',
  ].join('\n');
  expect(importsOf('services/metering/src/usage/usage.ts', text).map(({ to }) => to)).toEqual([
    'services/metering/src/usage/ledger.ts',
    'services/metering/src/clock.ts',
    'services/metering/src/usage/register.ts',
    '@brand-data/runtime',
    'services/metering/src/usage/quoted-otherwise.ts',
    'services/metering/src/usage/later.mjs',
  ]);
});

describe('allows', () => {
  test.each([
    [
      'a folder that imports one below it',
      'services/metering/src/usage/a.ts',
      'services/metering/src/ledger/b.ts',
    ],
    ['a service that imports a package', 'services/metering/src/main.ts', '@brand-data/runtime'],
    [
      'a test that imports what a package does not export',
      'test/e2e/a.ts',
      '@brand-data/metering/src/ledger/b.ts',
    ],
    [
      "a test that imports its own package's files",
      'packages/records/test/a.ts',
      'packages/records/src/b.ts',
    ],
  ])('%s', (_, from, to) => {
    expect(violations([{ from, to }])).toEqual([]);
  });
});

describe('refuses', () => {
  test.each([
    ['a package that imports a service', 'packages/backup/src/a.ts', '@brand-data/metering/restoring'],
    ['a service that imports a service', 'services/gateway/src/a.ts', '@brand-data/metering/main'],
    ["another package's file by its path", 'test/e2e/a.ts', 'services/metering/src/ledger/b.ts'],
    ['a file of tests', 'services/catalog/src/a.ts', 'services/catalog/test/b.ts'],
    ['what a package does not export', 'services/catalog/src/a.ts', '@brand-data/identifiers/src/keys.ts'],
  ])('%s', (_, from, to) => {
    expect(violations([{ from, to }])).toEqual([expect.stringContaining(`${from} imports ${to}`)]);
  });

  test('files in a circle, and names each once', () => {
    const [a, b, c] = ['services/catalog/src/a.ts', 'services/catalog/src/b.ts', 'services/catalog/src/c.ts'];
    const circle = [
      { from: a, to: b },
      { from: b, to: c },
      { from: c, to: a },
    ];
    expect(violations(circle)).toEqual([`These files import each other in a circle: ${a}, ${b}, ${c}.`]);
  });

  test('files of tests in a circle', () => {
    const [a, b] = ['test/e2e/a.ts', 'test/stack/b.ts'];
    expect(
      violations([
        { from: a, to: b },
        { from: b, to: a },
      ]),
    ).toEqual([`These files import each other in a circle: ${a}, ${b}.`]);
  });

  test('folders in a circle although their files form none', () => {
    const found = violations([
      { from: 'services/catalog/src/records/a.ts', to: 'services/catalog/src/storage/b.ts' },
      { from: 'services/catalog/src/storage/c.ts', to: 'services/catalog/src/records/d.ts' },
    ]);
    expect(found).toEqual([
      'These folders import each other in a circle: services/catalog/src/records, services/catalog/src/storage.',
    ]);
  });
});

test('refuses a package that the importing package does not name, except in tests', () => {
  const dependenciesOf = (folder: string) => (folder === 'services/catalog' ? ['@brand-data/runtime'] : []);
  const imports = [
    { from: 'services/catalog/src/a.ts', to: '@brand-data/runtime/http' },
    { from: 'services/catalog/src/a.ts', to: '@brand-data/servers' },
    { from: 'services/catalog/test/a.ts', to: '@brand-data/testing/random' },
  ];
  expect(undeclared(imports, dependenciesOf)).toEqual([
    expect.stringContaining('services/catalog/src/a.ts imports @brand-data/servers'),
  ]);
});
