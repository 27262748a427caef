import type { Brand } from '@brand-data/contracts';
import { readWebHost } from '@brand-data/identifiers';
import { readRecord, recordFromBrand } from '@brand-data/records';
import { beforeAll, expect, test } from 'vitest';
import { loadIcons, readSimpleIcons } from '../src/index.ts';

const brands = new Map<string, Brand>();
const logos = new Map<string, Buffer>();

beforeAll(async () => {
  for await (const read of readSimpleIcons()) {
    if (!('item' in read)) continue;
    brands.set(read.item.id, read.item);
    for (const { field, light } of read.pictures ?? []) {
      expect(field).toBe('images.logo');
      logos.set(read.item.id, await light.read());
    }
  }
});

const websiteOf = (id: string) => brands.get(id)?.links?.websites[0];

test('every icon becomes a brand of its own that is a record', async () => {
  expect(brands.size).toBe((await loadIcons()).size);
  expect(brands.size).toBeGreaterThan(3_000);
  for (const brand of brands.values()) expect(readRecord(recordFromBrand(brand))).toHaveProperty('record');
});

test('an icon states only what it shows: no type, description, category or rank', () => {
  for (const brand of brands.values())
    expect(brand).toMatchObject({ type: 'BRAND_TYPE_UNSPECIFIED', description: '', category: '', rank: 0 });
});

test('every brand has its icon as an SVG logo in its colour', async () => {
  expect(logos.size).toBe(brands.size);
  for (const svg of logos.values())
    expect(svg.toString()).toMatch(
      /^<svg [^>]*viewBox="0 0 24 24"[^>]*><title>[^<]+<\/title><path fill="#[0-9A-F]{6}" d="[^"]+"\/><\/svg>\n$/i,
    );
});

test.each([
  ['1password', 'https://1password.com/'],
  ['accenture', 'https://www.accenture.com/'],
  ['bootstrap', 'https://getbootstrap.com/'],
  ['github', 'https://github.com/'],
])('a brand gets its site if its icon was found there: %s', (id, website) => {
  expect(websiteOf(id)).toBe(website);
});

test.each([
  ['google', 'https://www.google.com/'],
  ['wikipedia', 'https://www.wikipedia.org/'],
  ['deutschetelekom', 'https://www.telekom.com/'],
  ['tata', 'https://www.tata.com/'],
  ['rollsroyce', 'https://www.rolls-roycemotorcars.com/'],
  ['stryker', 'https://stryker-mutator.io/'],
])(
  'a known brand gets its site although its icon was found elsewhere or the domain does not show it: %s',
  (id, website) => {
    expect(websiteOf(id)).toBe(website);
  },
);

test.each(['dotenv', 'dotnet', '1and1', 'googlechrome', 'applemusic', 'linux', 'zapier', 'sky', 'hdfcbank'])(
  'a site of another or of many is not taken for the brand’s: %s',
  (id) => {
    expect(brands.get(id)).toBeDefined();
    expect(websiteOf(id)).toBeUndefined();
  },
);

test('hardly any two brands share a domain', () => {
  const withSite = [...brands.keys()].flatMap((id) => readWebHost(websiteOf(id) ?? '')?.domain ?? []);
  expect(withSite.length - new Set(withSite).size).toBeLessThan(withSite.length / 500);
});

test('former names are history, not current names', () => {
  expect(brands.get('biome')).toMatchObject({ names: [], history: { formerly: ['Rome'] } });
});
