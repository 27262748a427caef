import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXCHANGES, resolve } from '../src/index.ts';
import { brand, candidate } from './brands.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

/** Returns the rows of the table with this heading, as lists of cells without padding. */
function rowsOfTable(firstHeading: string): string[][] {
  const lines = PAGE.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${firstHeading} `));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Returns the texts in backquotes. */
function codesIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** Whether the text finds the listing "MIC:TICKER", although a better known company has the ticker as its main listing elsewhere. */
function finds(text: string, listing: string): boolean {
  const [mic = '', ticker = ''] = listing.split(':');
  const { country } = EXCHANGES.find((exchange) => exchange.mic === mic) ?? {};
  const elsewhere = EXCHANGES.find((exchange) => exchange.country !== country && exchange.country !== 'CA');
  const meant = brand({ id: 'meant', name: 'Meant', rank: 1, listings: ['X@ZZZZ', `${ticker}@${mic}`] });
  const other = brand({ id: 'other', name: 'Other', rank: 900, listings: [`${ticker}@${elsewhere?.mic}`] });
  return resolve(text, [meant, other].map(candidate), { superinvestors: true })?.id === 'meant';
}

const examples = rowsOfTable('notation').flatMap(([, texts, meaning]) =>
  codesIn(texts).map((text) => [text, codesIn(meaning)[0] ?? ''] as const),
);

test('the page has examples of eight notations', () => {
  expect(rowsOfTable('notation').filter(([notation]) => notation !== '')).toHaveLength(8);
  expect(examples.length).toBeGreaterThan(40);
});

test.each(examples)('the page says that %j means %s, and it finds this listing', (text, meaning) => {
  expect({ text, found: finds(text, meaning) }).toEqual({ text, found: true });
});

const venues = rowsOfTable('venue');

test('the page lists the codes of all venues, and no others', () => {
  expect(
    venues.map(([name, mic, prefixes, yahoo, reuters, bloomberg]) => ({
      name,
      mic: codesIn(mic)[0],
      prefixes: codesIn(prefixes),
      yahoo: codesIn(yahoo),
      reuters: codesIn(reuters),
      bloomberg: codesIn(bloomberg),
    })),
  ).toEqual(
    EXCHANGES.map(({ name, mic, code, prefixes = [], yahoo, reuters = [], bloomberg }) => ({
      name,
      mic,
      prefixes: [code, ...prefixes],
      yahoo: yahoo.map((suffix) => `.${suffix}`),
      reuters: reuters.map((suffix) => `.${suffix}`),
      bloomberg: [...bloomberg],
    })),
  );
});

describe('each code on the page finds a listing on its venue', () => {
  test.each(venues)('%s', (_name, mic, prefixes, yahoo, reuters, bloomberg) => {
    const [venue = ''] = codesIn(mic);
    const listing = `${venue}:1301`;
    const texts = [
      ...[venue, ...codesIn(prefixes)].flatMap((prefix) => [`${prefix}:1301`, `${prefix}: 1301`]),
      ...[...codesIn(yahoo), ...codesIn(reuters)].map((suffix) => `1301${suffix}`),
      ...codesIn(bloomberg).flatMap((code) => [`1301 ${code}`, `1301:${code}`, `1301 ${code} Equity`]),
    ];
    expect(texts.filter((text) => !finds(text, listing))).toEqual([]);
  });
});

test.each([
  ['a Yahoo suffix of Frankfurt is never Fukuoka', '1301.F', 'XFKA:1301'],
  ['a class letter is not a Reuters code', 'BRK.A', 'XASE:BRK'],
  ['a series of preference shares is not a country', 'BAC-PL', 'XWAR:BAC'],
  ['a root that only Reuters has', 'BMWG.DE', 'XETR:BMW'],
  ['a share class on another venue', 'VOLVB SS', 'XCSE:VOLV-B'],
])('%s', (_, text, listing) => {
  expect(finds(text, listing)).toBe(false);
});
