import { Brand, BrandType, Quote } from '@brand-data/contracts';
import { brandOf } from '@brand-data/testing/brand-of';
import { expect, test } from 'vitest';
import { problemsOf, problemsOfQuote } from '../src/index.ts';

const stock = (fields: Parameters<typeof Brand.fromPartial>[0]) =>
  brandOf('acme', { type: BrandType.STOCK, listings: [{ ticker: 'ACME', mic: 'XNAS' }], ...fields });

test('a record within the rules has no problems', () => {
  const full = stock({
    lei: '529900T8BM49AURSDO55',
    listings: [
      {
        ticker: 'ACME',
        mic: 'XNAS',
        isin: 'US0378331005',
        cusip: '037833100',
        figi: 'BBG000B9XRY4',
        compositeFigi: 'BBG000B9XRY4',
        shareClassFigi: 'BBG001S5N8V8',
      },
    ],
    stock: { isin: 'US0378331005', cusip: '037833100', ipoDate: '1980-12-12', currency: 'USD', price: 0 },
    company: { headquarters: { countryCode: 'US', latitude: 0, longitude: -122 } },
    links: {
      websites: ['https://www.acme.com/'],
      wikidataQid: 'Q312',
      socialMedia: [{ name: 'X', url: 'https://x.com/a' }],
    },
    images: {
      logo: { big: { path: 'logos/acme.svg' }, small: { path: 'logos/acme.svg?size=64' } },
      bannerPath: 'banners/acme.svg',
    },
    domains: ['acme.org', 'müller.de'],
    sources: [{ name: 'sample', date: '2026-08', url: 'https://example.com/' }],
  });
  expect(problemsOf(full)).toEqual([]);
});

test.each<[string, Brand]>([
  ['name', brandOf('acme', { name: 'x'.repeat(513) })],
  ['names[1]', brandOf('acme', { names: ['Acme', 'x'.repeat(513)] })],
  ['history.formerly[0]', brandOf('acme', { history: { formerly: ['ﷺ'.repeat(29)] } })],
  ['manager.firm', brandOf('acme', { type: BrandType.SUPERINVESTOR, manager: { firm: 'x'.repeat(4_097) } })],
])('%s has at most 512 characters, counted in the compatibility form', (field, brand) => {
  expect(problemsOf(brand)).toEqual([`${field} is longer than 512 characters: shorten it`]);
});

test('a name of 512 characters is accepted in any script', () => {
  const names = ['x'.repeat(512), '각'.repeat(512), 'ﷺ'.repeat(28)];
  expect(problemsOf(brandOf('acme', { names }))).toEqual([]);
});

test('a record has at most 250 listings', () => {
  const listed = (count: number) =>
    brandOf('acme', {
      type: BrandType.STOCK,
      listings: Array.from({ length: count }, (_, index) => ({ ticker: `A${index}`, mic: 'XNAS' })),
    });
  expect(problemsOf(listed(250))).toEqual([]);
  expect(problemsOf(listed(251))).toEqual(['listings has 251 entries: leave the 250 best known']);
});

test('a source states only what it knows: an id and a name are enough', () => {
  expect(problemsOf(Brand.fromPartial({ id: 'acme', name: 'Acme' }))).toEqual([]);
});

test.each<[string, Brand]>([
  ['id', brandOf('Acme Inc.')],
  ['name', brandOf('acme', { name: '' })],
  ['category', brandOf('acme', { category: 'Fast Food' })],
  ['rank', brandOf('acme', { rank: 1_001 })],
  ['listings', brandOf('acme', { type: BrandType.STOCK })],
  ['listings', brandOf('acme', { listings: [{ ticker: 'ACME', mic: 'XNAS' }] })],
  ['listings[0].ticker', stock({ listings: [{ ticker: 'acme.us', mic: 'XNAS' }] })],
  ['listings[0].mic', stock({ listings: [{ ticker: 'ACME', mic: 'NASDAQ' }] })],
  ['listings[0].isin', stock({ listings: [{ ticker: 'ACME', mic: 'XNAS', isin: 'US0378331006' }] })],
  ['listings[0].cusip', stock({ listings: [{ ticker: 'ACME', mic: 'XNAS', cusip: '037833101' }] })],
  ['listings[0].figi', stock({ listings: [{ ticker: 'ACME', mic: 'XNAS', figi: 'BBG000B9XRY5' }] })],
  [
    'listings[0].composite_figi',
    stock({ listings: [{ ticker: 'ACME', mic: 'XNAS', compositeFigi: 'BBG000B9XRY5' }] }),
  ],
  [
    'listings[0].share_class_figi',
    stock({ listings: [{ ticker: 'ACME', mic: 'XNAS', shareClassFigi: 'BBG001S5N8V9' }] }),
  ],
  ['lei', brandOf('acme', { lei: '529900T8BM49AURSDO56' })],
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
  ['images.logo.small.path', brandOf('acme', { images: { logo: { small: { path: 'a.svg?size=65' } } } })],
  ['images.logo.small.path', brandOf('acme', { images: { logo: { small: { path: 'a.svg?theme=dark' } } } })],
  ['images.banner', brandOf('acme', { images: { bannerPath: 'https://elsewhere.example/a.svg' } })],
  ['sources[0].date', brandOf('acme', { sources: [{ name: 'sample', date: 'yesterday' }] })],
  ['company.ceo', brandOf('acme', { company: { ceo: 'x'.repeat(4_097) } })],
  ['offerings.products', brandOf('acme', { offerings: { products: Array(1_001).fill('x') } })],
  ['names[0]', brandOf('acme', { names: ['Ac\u0000me'] })],
  ['the record', brandOf('acme', { offerings: { products: Array(20).fill('x'.repeat(4_000)) } })],
])('a violated rule is reported with the name of its field: %s', (field, brand) => {
  const problems = problemsOf(brand);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.startsWith(`${field} `)).toBe(true);
});

test('a quote within the rules has no problems', () => {
  const quote = {
    symbol: 'ACME',
    mic: 'XNAS',
    stock: { price: 0, currency: 'USD', isActivelyTrading: false },
  };
  expect(problemsOfQuote(Quote.fromPartial(quote))).toEqual([]);
  expect(problemsOfQuote(Quote.fromPartial({ isin: 'US0378331005', stock: { price: 1 } }))).toEqual([]);
});

test.each<[string, Parameters<typeof Quote.fromPartial>[0]]>([
  ['symbol', { stock: { price: 1 } }],
  ['mic', { symbol: 'ACME', mic: 'NASDAQ', stock: { price: 1 } }],
  ['isin', { isin: 'US0378331006', stock: { price: 1 } }],
  ['stock', { symbol: 'ACME' }],
  ['stock.exchange', { symbol: 'ACME', stock: { price: 1, exchange: 'NASDAQ' } }],
  ['stock.currency', { symbol: 'ACME', stock: { price: 1, currency: '$' } }],
  ['stock.price', { symbol: 'ACME', stock: { price: Number.POSITIVE_INFINITY } }],
  ['source.name', { symbol: 'ACME', stock: { price: 1 }, source: { date: '2026-08-21' } }],
  ['source.date', { symbol: 'ACME', stock: { price: 1 }, source: { name: 'feed', date: '2026-13' } }],
])('a violated rule of a quote is reported with the name of its field: %s', (field, quote) => {
  const problems = problemsOfQuote(Quote.fromPartial(quote));
  expect(problems).toHaveLength(1);
  expect(problems[0]?.startsWith(`${field} `)).toBe(true);
});
