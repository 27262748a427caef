import { Brand, BrandType } from '@brand-data/contracts';
import { describe, expect, test } from 'vitest';
import {
  coreName,
  explainMiss,
  keysOfBrand,
  nameForms,
  orderListings,
  properName,
  readIdentifier,
  readSecurityName,
  spellingDistance,
} from '../src/index.ts';
import { withoutYears } from '../src/names/names-of-brand.ts';

/** Eight times the text takes eight times as long. Where the time grows with the square of the length, it takes 64 times. */
const LONGER = 8;
const MOST_GROWTH = 28;
const SHORT = 2_000;
/** The clock of processor time is coarse, so that the shorter text is read for at least this time. */
const LEAST_MS = 1;

/** Texts that `test/quality/costs` or a checker of regular expressions found to be costly, by what repeats in them. */
const COSTLY = [
  'The ',
  'Inc ',
  'Group ',
  'Holdings and ',
  'S. A. ',
  'class a ',
  'sponsored adr ',
  'PT ',
  'a ',
  '1 ',
  'ab. ',
  '株式会社',
  'グループ',
  '그룹',
  '가',
  '美 ',
  'ﷺ',
  'ä',
  '\u0300',
  '\u0344',
  'x\u0301\u0327',
  '\u200d',
  '(',
  ')',
  '(0000',
  '(2007) ',
  '( 1',
  ' ',
  '\t',
  ', ',
  ',',
  '-',
  ' -',
  '.',
  ':',
  '@',
  '/',
  '?',
  '%41',
  '%25',
  '=',
  'senior ',
  'c-senior ',
  'formerly known as ',
  'BSA0',
  'ADS ',
  '(hedge ',
  '5 % ',
  'due ',
  'common stock ',
  'xn--',
  '.com',
  'www.',
];

type Reading = readonly [name: string, read: (text: string) => unknown];
const READINGS: readonly Reading[] = [
  ['coreName', (text) => coreName(text)],
  ['nameForms', (text) => nameForms(text)],
  ['properName', (text) => properName(text)],
  ['readIdentifier', (text) => readIdentifier(text, { superinvestors: true })],
  ['explainMiss', (text) => explainMiss(text, { superinvestors: true })],
  ['readSecurityName', (text) => readSecurityName(text)],
  ['withoutYears', (text) => withoutYears(text)],
];

describe('the time to read a name or an identifier grows with its length', () => {
  test.each(READINGS)('%s', (_, read) => {
    const tooCostly = COSTLY.filter(
      (token) => growthOf((length) => read(`A${token.repeat(length / token.length)} Z`)) > MOST_GROWTH,
    );
    expect(tooCostly).toEqual([]);
  });

  test('spellingDistance, of two texts that differ in a few letters', () => {
    const text = 'acme corporation';
    const growth = growthOf((length) =>
      spellingDistance(`b${text.repeat(length / 16)}`, `${text.repeat(length / 16)}s`, 3),
    );
    expect(growth).toBeLessThan(MOST_GROWTH);
  });

  test('orderListings, with the number of listings', () => {
    const growth = growthOf((count) =>
      orderListings(
        Array.from({ length: count }, (_, number) => ({
          ticker: `A${number}`,
          mic: ['XNAS', 'XLON', 'XETR'][number % 3] ?? '',
          isin: ['US0378331005', 'DE0007164600', 'GB0002634946'][number % 3] ?? '',
        })),
        {},
      ),
    );
    expect(growth).toBeLessThan(MOST_GROWTH);
  });
});

describe('a record has a bounded number of keys', () => {
  const long = `${'Acme '.repeat(100)}Corporation`;
  test.each([
    ['many names', { names: many((number) => `Acme ${number} Group Holdings`) }],
    ['many former names', { history: { formerly: many((number) => `Acme ${number} (2007)`) } }],
    ['many long names', { names: many((number) => `${number} ${long}`.slice(0, 512)) }],
    ['names of group words', { names: many((number) => `Acme ${number}${' Group'.repeat(80)}`) }],
    ['names of many letters, written as few', { names: many((number) => `${number} ${'ﷺ'.repeat(28)}`) }],
    ['many websites', { links: { websites: many((number) => `https://a${number}.example.com`) } }],
  ])('%s', (_, fields) => {
    const keys = keysOfBrand(stock(fields));
    expect(keys.length).toBeLessThan(1_500);
    expect(keys.reduce((sum, { key }) => sum + key.length, 0)).toBeLessThan(150_000);
  });

  test('a name of more than 512 characters, which an earlier version accepted, finds nothing, and the others find it', () => {
    const keys = keysOfBrand(
      stock({ name: 'x'.repeat(4_096), names: ['Acme Inc.'], history: { formerly: ['y'.repeat(600)] } }),
    );
    expect(keys.map(({ key }) => key)).toEqual([
      'ticker:ACME',
      'ticker:ACME@XNAS',
      'name:acme inc',
      'name:acme',
    ]);
  });

  test('the first names find it, the displayed name before all', () => {
    const keys = new Set(
      keysOfBrand(stock({ name: 'Acme', names: many((number) => `Name ${number}`) })).map(({ key }) => key),
    );
    expect(keys.has('name:acme') && keys.has('name:name 0') && keys.has('name:name 90')).toBe(true);
    expect(keys.has('name:name 110')).toBe(false);
  });
});

test('a text that is too long for a name, in its compatibility form, is not read as one', () => {
  const kinds = (text: string) => readIdentifier(text, { superinvestors: true }).map(({ kind }) => kind);
  expect(kinds('ﷺ'.repeat(28))).toContain('name');
  expect(kinds('ﷺ'.repeat(29))).toEqual([]);
});

function many<Item>(item: (number: number) => Item): Item[] {
  return Array.from({ length: 1_000 }, (_, number) => item(number));
}

function stock(fields: Parameters<typeof Brand.fromPartial>[0]): Brand {
  return Brand.fromPartial({
    id: 'acme',
    type: BrandType.STOCK,
    name: 'Acme',
    listings: [{ ticker: 'ACME', mic: 'XNAS' }],
    ...fields,
  });
}

/** How many times as long the work takes for eight times the size. The best of three attempts, because of garbage collection. */
function growthOf(work: (size: number) => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && least > MOST_GROWTH; attempt += 1)
    least = Math.min(least, msOf(() => work(SHORT * LONGER)) / msOf(() => work(SHORT)));
  return least;
}

/** Returns the processor time of one run, over as many runs as the clock needs. */
function msOf(work: () => unknown): number {
  let runs = 0;
  const before = process.threadCpuUsage();
  for (;;) {
    work();
    runs += 1;
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= LEAST_MS) return ms / runs;
  }
}
