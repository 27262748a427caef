import { type Brand, BrandType } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCusip, isIsin } from '../src/check-digits.ts';
import { problemsOf } from '../src/validation.ts';
import { brandOf } from './running-catalog.ts';

const stock = (fields: Parameters<typeof Brand.fromPartial>[0]) =>
  brandOf('acme', { type: BrandType.STOCK, listings: [{ ticker: 'ACME', mic: 'XNAS' }], ...fields });

test('ISINs and CUSIPs in use pass, and no other last digit does', () => {
  const inUse: [string, (value: string) => boolean][] = [
    ...['US0378331005', 'US0846707026', 'GB0002634946', 'CH0038863350', 'JP3633400001'].map(
      (isin): [string, typeof isIsin] => [isin, isIsin],
    ),
    ...['037833100', '084670702', '02079K305', '68389X105'].map((cusip): [string, typeof isCusip] => [
      cusip,
      isCusip,
    ]),
  ];
  for (const [value, holds] of inUse) {
    const passing = [...'0123456789'].filter((digit) => holds(value.slice(0, -1) + digit));
    expect(passing).toEqual([value.at(-1)]);
  }
});

test('a changed digit of an ISIN is always seen', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 11 }), fc.integer({ min: 1, max: 9 }), (place, shift) => {
      const isin = 'US0378331005';
      const digit = (Number(isin[place]) + shift) % 10;
      expect(isIsin(isin.slice(0, place) + digit + isin.slice(place + 1))).toBe(false);
    }),
  );
});

test('a record within the rules has no problems', () => {
  const full = stock({
    stock: { isin: 'US0378331005', cusip: '037833100', ipoDate: '1980-12-12', currency: 'USD', price: 0 },
    company: { headquarters: { countryCode: 'US', latitude: 0, longitude: -122 } },
    links: {
      websites: ['https://www.acme.com/'],
      wikidataQid: 'Q312',
      socialMedia: [{ name: 'X', url: 'https://x.com/a' }],
    },
    images: { logo: { big: { path: 'logos/acme/big.svg' } }, bannerPath: 'banners/acme.svg' },
    domains: ['acme.org', 'müller.de'],
    sources: [{ name: 'sample', date: '2026-08', url: 'https://example.com/' }],
  });
  expect(problemsOf(full)).toEqual([]);
});

test.each<[string, Brand]>([
  ['id', brandOf('Acme Inc.')],
  ['type', brandOf('acme', { type: BrandType.UNSPECIFIED })],
  ['name', brandOf('acme', { name: '' })],
  ['description', brandOf('acme', { description: '' })],
  ['category', brandOf('acme', { category: 'Fast Food' })],
  ['rank', brandOf('acme', { rank: 1_001 })],
  ['listings', brandOf('acme', { type: BrandType.STOCK })],
  ['listings', brandOf('acme', { listings: [{ ticker: 'ACME', mic: 'XNAS' }] })],
  ['listings[0].ticker', stock({ listings: [{ ticker: 'acme.us', mic: 'XNAS' }] })],
  ['listings[0].mic', stock({ listings: [{ ticker: 'ACME', mic: 'NASDAQ' }] })],
  ['manager', brandOf('acme', { manager: { firm: 'Acme' } })],
  ['domains[0]', brandOf('acme', { domains: ['https://acme.com/'] })],
  ['stock.isin', stock({ stock: { isin: 'US0378331006' } })],
  ['stock.cusip', stock({ stock: { cusip: '037833101' } })],
  ['stock.ipo_date', stock({ stock: { ipoDate: '1980-02-30' } })],
  ['stock.currency', stock({ stock: { currency: '$' } })],
  ['stock.price', stock({ stock: { price: Number.NaN } })],
  ['links.websites[0]', brandOf('acme', { links: { websites: ['javascript:alert(1)'] } })],
  ['links.wikidata_qid', brandOf('acme', { links: { wikidataQid: '312' } })],
  ['company.headquarters', brandOf('acme', { company: { headquarters: { latitude: 1 } } })],
  ['images.logo.big.path', brandOf('acme', { images: { logo: { big: { path: '../secret.svg' } } } })],
  ['images.banner_path', brandOf('acme', { images: { bannerPath: 'https://elsewhere.example/a.svg' } })],
  ['sources[0].date', brandOf('acme', { sources: [{ name: 'sample', date: 'yesterday' }] })],
  ['company.ceo', brandOf('acme', { company: { ceo: 'x'.repeat(4_097) } })],
  ['offerings.products', brandOf('acme', { offerings: { products: Array(1_001).fill('x') } })],
  ['names[0]', brandOf('acme', { names: ['Ac\u0000me'] })],
  ['the record', brandOf('acme', { offerings: { products: Array(20).fill('x'.repeat(4_000)) } })],
])('a broken rule is told by the name of its field: %s', (field, brand) => {
  const problems = problemsOf(brand);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.startsWith(`${field} `)).toBe(true);
});
