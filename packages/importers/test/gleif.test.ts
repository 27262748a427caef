import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Brand } from '@brand-data/contracts';
import { recordFromBrand } from '@brand-data/records';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test } from 'vitest';
import { type GleifOptions, haveDeltasOnly, readGleif } from '../src/sources/gleif/read-gleif.ts';
import { allOf } from './all-of.ts';
import {
  entitiesInCsv,
  entitiesInJson,
  type MadeUpEntity,
  parentsInCsv,
  parentsInJson,
} from './gleif/files.ts';
import { zipOf } from './zip-of.ts';

const [A = '', B = '', C = '', D = ''] = leis(4);
const GOLDEN = '20261102-0800-gleif-goldencopy-lei2-golden-copy.json';
const DELTA = '20261102-0800-gleif-goldencopy-lei2-intra-day.json';

/** Returns invented LEIs with their check digits. */
function leis(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const body = `529900TEST${String(index).padStart(8, '0')}`;
    const digits = `${body}00`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
    return body + String(98n - (BigInt(digits) % 97n)).padStart(2, '0');
  });
}

async function read(files: Readonly<Record<string, string | Buffer>>, options: GleifOptions = {}) {
  const folder = await temporaryFolder();
  const paths = Object.keys(files).map((name) => join(folder, name));
  for (const [index, content] of Object.values(files).entries()) await writeFile(paths[index] ?? '', content);
  const items = await allOf(readGleif(paths, { workDir: folder, ...options }));
  const brands: Brand[] = [];
  const reasons: string[] = [];
  for (const item of items)
    if ('item' in item) brands.push(item.item);
    else reasons.push('skipped' in item ? item.skipped : item.problem);
  return { records: brands.map(recordFromBrand), reasons };
}

const ENTITIES: readonly MadeUpEntity[] = [
  {
    lei: A,
    name: 'Möwe Werke Aktiengesellschaft',
    otherNames: [
      { name: 'Möwe', language: 'de', type: 'TRADING_OR_OPERATING_NAME' },
      { name: 'Seagull Works', type: 'ALTERNATIVE_LANGUAGE_LEGAL_NAME' },
      { name: 'Strandmöwe GmbH', language: 'de', type: 'PREVIOUS_LEGAL_NAME' },
    ],
    transliterated: [{ name: 'MOEWE WERKE AG', type: 'AUTO_ASCII_TRANSLITERATED_LEGAL_NAME' }],
    city: 'FRANKFURT AM MAIN',
  },
  {
    lei: B,
    name: 'ООО «Чайка»',
    transliterated: [{ name: 'OOO Chaika', type: 'AUTO_ASCII_TRANSLITERATED_LEGAL_NAME' }],
    city: 'Тверь',
    cities: [{ city: 'Tver', type: 'ALTERNATIVE_LANGUAGE_HEADQUARTERS_ADDRESS' }],
    country: 'RU',
  },
  {
    lei: C,
    name: 'GULL ROCK, INC.',
    city: 'Palo Alto',
    region: 'US-CA',
    country: 'US',
    status: 'INACTIVE',
    ended: '2025-12-31T00:00:00Z',
    successors: [{ lei: A }, { name: 'Rock Fund LLC' }],
    registration: 'MERGED',
  },
  { lei: D, name: 'Möwe Fonds', category: 'FUND' },
];

test('entities have their names, headquarters, status and successors, the same from JSON and CSV, in a zip or not', async () => {
  const fromJson = await read({ [GOLDEN]: entitiesInJson(...ENTITIES) });
  expect(fromJson).toEqual({
    records: [
      expect.objectContaining({
        id: `lei-${A.toLowerCase()}`,
        name: 'Möwe Werke Aktiengesellschaft',
        names: ['Möwe', 'Seagull Works'],
        company: { headquarters: { city: 'Frankfurt am Main', country: 'Germany', country_code: 'DE' } },
        history: { formerly: ['Strandmöwe GmbH'] },
        lei: A,
        sources: [
          {
            name: 'GLEIF',
            url: `https://search.gleif.org/#/record/${A}`,
            licence: 'CC0-1.0',
            date: '2026-11-02',
          },
        ],
      }),
      expect.objectContaining({
        name: 'OOO Chaika',
        names: ['ООО «Чайка»'],
        company: {
          headquarters: { city: 'Tver', country: 'Russia', country_code: 'RU', city_native: 'Тверь' },
        },
      }),
      expect.objectContaining({
        name: 'GULL ROCK, INC.',
        company: {
          headquarters: {
            city: 'Palo Alto',
            state: 'California',
            country: 'United States',
            country_code: 'US',
          },
        },
        history: {
          successor: ['Möwe Werke Aktiengesellschaft', 'Rock Fund LLC'],
          ceased_operations: ['2025-12-31'],
        },
      }),
    ],
    reasons: ['it is no company: its category is "FUND"'],
  });
  const csv = entitiesInCsv(...ENTITIES);
  expect(await read({ 'lei2.csv': csv })).toEqual(fromJson);
  expect(await read({ 'lei2.csv.zip': zipOf({ 'lei2.csv': csv }) })).toEqual(fromJson);
  expect(await read({ 'lei2.zip': zipOf({ [GOLDEN]: entitiesInJson(...ENTITIES) }) })).toEqual(fromJson);
});

test('direct and ultimate parents and direct subsidiaries have the names that a person would write, from JSON and CSV', async () => {
  const entities = entitiesInJson(
    { lei: A, name: 'GULL HOLDINGS PLC' },
    { lei: B, name: 'Gull Europe GmbH' },
    { lei: C, name: 'Gull Italia S.p.A.' },
    { lei: D, name: 'Gull Iberia S.A.', status: 'INACTIVE' },
  );
  const parents = [
    { child: B, parent: A },
    { child: B, parent: A, type: 'IS_ULTIMATELY_CONSOLIDATED_BY' },
    { child: C, parent: B },
    { child: C, parent: A, type: 'IS_ULTIMATELY_CONSOLIDATED_BY' },
    { child: D, parent: B },
    { child: A, parent: D, status: 'INACTIVE' },
    { child: A, parent: C, type: 'IS_FUND-MANAGED_BY' },
  ];
  for (const relations of [
    { 'rr.json': parentsInJson(...parents) },
    { 'rr.csv': parentsInCsv(...parents) },
  ]) {
    const { records, reasons } = await read({ ...relations, 'lei2.json': entities });
    expect(reasons).toEqual([]);
    expect(records.map(({ ownership }) => ownership)).toEqual([
      { subsidiaries: ['Gull Europe GmbH'] },
      { parent_company: ['Gull Holdings'], subsidiaries: ['Gull Italia S.p.A.'] },
      { parent_company: ['Gull Europe GmbH', 'Gull Holdings'] },
      { parent_company: ['Gull Europe GmbH'] },
    ]);
  }
});

test('of the securities of an issuer, only one that the catalogue has is stated', async () => {
  async function* known() {
    yield* ['XNAS:GULL', 'US0378331005'];
  }
  const files = {
    'lei2.json': entitiesInJson({ lei: A, name: 'Gull Inc.' }, { lei: B, name: 'Tern Inc.' }),
    'isin-lei.csv': `LEI,ISIN\n${A},XS0104440986\n${A},US0378331005\n${B},GB0002634946\n`,
  };
  const { records } = await read(files, { known: known() });
  expect(records.map(({ stock }) => stock)).toEqual([{ isin: 'US0378331005' }, undefined]);
});

test('where only known companies are wanted, an entity with an active namesake in its country says so, and an inactive one is skipped', async () => {
  const entities = [
    { lei: A, name: 'Gull GmbH' },
    { lei: B, name: 'Gull AG', city: 'Bonn' },
    { lei: C, name: 'GULL AG', status: 'INACTIVE' },
    { lei: D, name: 'Gull GmbH', country: 'AT' },
  ];
  const { records, reasons } = await read({ [GOLDEN]: entitiesInJson(...entities) }, { onlyJoining: true });
  expect(records.map(({ has_namesakes }) => has_namesakes)).toEqual([true, true, undefined]);
  expect(reasons).toEqual(['it is inactive, and an active entity has its name']);
  const all = await read({ [GOLDEN]: entitiesInJson(...entities) });
  expect(all.records.map(({ has_namesakes }) => has_namesakes)).toEqual([undefined, undefined, undefined]);
});

test('a delta replaces the records of a golden copy before it, and alone does not know whether a name is unique', async () => {
  const golden = entitiesInJson(
    { lei: A, name: 'Gull GmbH' },
    { lei: B, name: 'Tern GmbH' },
    { lei: C, name: 'Auk GmbH' },
  );
  const delta = entitiesInJson(
    { lei: A, name: 'Gull AG' },
    { lei: B, name: 'Tern GmbH', registration: 'DUPLICATE' },
  );
  const both = await read({ [GOLDEN]: golden, [DELTA]: delta }, { onlyJoining: true });
  expect(both.records.map(({ name, has_namesakes }) => [name, has_namesakes])).toEqual([
    ['Auk GmbH', undefined],
    ['Gull AG', undefined],
  ]);
  const alone = await read({ [DELTA]: delta }, { onlyJoining: true });
  expect(alone.records.map(({ has_namesakes }) => has_namesakes)).toEqual([true]);
  const folder = await temporaryFolder();
  const zip = join(folder, 'delta.zip');
  await writeFile(zip, zipOf({ [DELTA]: delta }));
  expect(await haveDeltasOnly([zip])).toBe(true);
  await writeFile(join(folder, GOLDEN), golden);
  expect(await haveDeltasOnly([join(folder, GOLDEN), zip])).toBe(false);
});

test('a record that cannot be read is refused with its place and reason, and the others are read', async () => {
  const { records, reasons } = await read({
    'lei2.json': entitiesInJson(
      { lei: A, name: 'Gull GmbH' },
      { lei: `${B.slice(0, -1)}x`, name: 'Tern' },
      { lei: C, name: '-' },
    ),
    'other.csv': 'a,b\n1,2\n',
    'empty.csv': '',
  });
  expect(records).toHaveLength(1);
  expect(reasons).toEqual([
    expect.stringContaining('is no LEI'),
    'the entity has no legal name',
    expect.stringContaining('neither an entity nor a relationship'),
    expect.stringContaining('the file is empty'),
  ]);
});

test('headquarters at the address of an agent have no city, and cities are written as people write them', async () => {
  const cases: [Partial<MadeUpEntity>, object][] = [
    [
      { city: 'WILMINGTON', country: 'US', region: 'US-DE', line: 'C/O The Corporation Trust Company' },
      { country_code: 'US' },
    ],
    [{ city: 'PARIS CEDEX 08', country: 'FR' }, { city: 'Paris' }],
    [{ city: '75008 PARIS', country: 'FR' }, { city: 'Paris' }],
    [{ city: 'Dublin 2', country: 'IE' }, { city: 'Dublin' }],
    [{ city: 'København V', country: 'DK' }, { city: 'København' }],
    [{ city: "SAINT-DIDIER-AU-MONT-D'OR", country: 'FR' }, { city: "Saint-Didier-au-Mont-d'Or" }],
    [{ city: 'Kent', country: 'GB' }, { country_code: 'GB' }],
    [{ city: '251 LITTLE FALLS DRIVE', country: 'US' }, { country_code: 'US' }],
    [{ city: 'KHARI BAOLI, DELHI', country: 'IN' }, { city: 'Khari Baoli' }],
  ];
  for (const [entity, expected] of cases) {
    const { records } = await read({ [GOLDEN]: entitiesInJson({ lei: A, name: 'Gull Ltd', ...entity }) });
    const { headquarters } = Object(records[0]?.company);
    expect(headquarters).toMatchObject(expected);
    if (!('city' in expected)) expect(headquarters).not.toHaveProperty('city');
  }
});
