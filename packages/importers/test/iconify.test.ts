import { readWebHost } from '@brand-data/identifiers';
import { readRecord, recordFromBrand } from '@brand-data/records';
import { beforeAll, expect, test } from 'vitest';
import { readIconify, takePictures } from '../src/index.ts';
import { allOf } from './all-of.ts';

let read: Awaited<ReturnType<typeof items>>;
const items = async () => (await allOf(readIconify())).filter((each) => 'item' in each);

beforeAll(async () => {
  read = await items();
});

test('each company of the list is a record of its own, with its name, its site and a drawing of a set', async () => {
  expect(read.length).toBeGreaterThan(80);
  for (const { item, pictures = [] } of read) {
    expect(readRecord(recordFromBrand(item))).toHaveProperty('record');
    expect(pictures.map(({ field }) => field)).toEqual(['images.logo']);
    const svg = (await pictures[0]?.light.read())?.toString();
    expect(svg).toMatch(/^<svg [^>]*viewBox="[\d. -]+">.+<\/svg>\n$/s);
  }
});

test('no two companies share an id or a site', () => {
  const ids = read.map(({ item }) => item.id);
  const hosts = read.map(({ item }) => readWebHost(item.links?.websites[0] ?? '')?.host);
  expect(new Set(ids).size).toBe(read.length);
  expect(new Set(hosts).size).toBe(read.length);
});

test('a company states only its name, its site and its logo, and where the logo comes from, with a free licence', () => {
  for (const { item } of read) {
    expect(item).toMatchObject({ type: 'BRAND_TYPE_UNSPECIFIED', description: '', category: '', rank: 0 });
    expect(item.sources).toEqual([
      expect.objectContaining({
        licence: 'CC0-1.0',
        url: expect.stringMatching(/^https:/),
        fields: ['images.logo'],
      }),
    ]);
  }
});

test('an icon of a product or a program is no company’s logo', () => {
  const icons = read.map(({ from }) => from);
  for (const product of [
    'logos/aws-ec2',
    'logos/microsoft-windows',
    'logos/hermes',
    'logos/apple-pay',
    'cib/nintendo',
  ])
    expect(icons).not.toContain(product);
});

test('a record names an icon of a set as its logo, which then states its own source', async () => {
  const { pictures } = takePictures({ images: { logo: 'iconify:logos/microsoft-icon' } }, '');
  expect(pictures).toMatchObject([
    { field: 'images.logo', light: { source: { name: 'SVG Logos', licence: 'CC0-1.0' } } },
  ]);
});
