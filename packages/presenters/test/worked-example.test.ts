import { readFileSync } from 'node:fs';
import { Brand, BrandType } from '@brand-data/contracts';
import { flatRecordSchema, groupedRecordSchema, presentFlat, presentGrouped } from '@brand-data/presenters';
import { expect, test } from 'vitest';
import { objectsWithSchemaKeys } from './walk.ts';

const options = { logoHost: 'https://logos.example.com', monogramKey: 'the key of the examples' };

const airline = Brand.fromPartial({
  id: 'larus-air',
  type: BrandType.STOCK,
  name: 'Larus Air',
  description: 'Larus Air flies passengers and mail between the towns of the northern coast.',
  category: 'airline',
  rank: 410,
  names: ['Larus Air ASA'],
  domains: ['larus.example'],
  listings: [
    { ticker: 'LARUS', mic: 'XOSL', primary: false },
    { ticker: 'L4R', mic: 'XETR', primary: false },
    { ticker: 'LARUSB', mic: 'XOSL', primary: true },
  ],
  company: {
    industry: 'Passenger Airlines',
    sector: 'Industrials',
    industries: ['Passenger Airlines', 'Air Freight'],
    companyType: ['Public'],
    founded: '1934-05-01',
    founders: ['Ingrid Moe', 'Olav Dahl'],
    ceo: 'Kari Lund',
    keyPeople: [
      { name: 'Kari Lund', role: 'Chief Executive Officer' },
      { name: 'Per Vik', role: '' },
    ],
    employees: '2,140 (2025)',
    numberOfLocations: '31 (2025)',
    headquarters: {
      city: 'Bodo',
      state: 'Nordland',
      country: 'Norway',
      countryCode: 'NO',
      latitude: 67.2804,
      longitude: 14.4049,
      cityNative: 'Bodø',
      stateNative: 'Nordland fylke',
      countryNative: 'Norge',
    },
    areaServed: ['Norway', 'Sweden'],
  },
  ownership: {
    owner: ['Nordland Pension Fund'],
    parentCompany: ['Larus Group'],
    subsidiaries: ['Larus Cargo'],
    divisions: ['Mainline', 'Charter'],
  },
  offerings: {
    products: ['Coast Pass'],
    services: ['Scheduled flights', 'Air mail'],
    brands: ['Larus Cargo', 'Larus Holidays'],
  },
  history: {
    formerly: ['Nordland Luftruter'],
    predecessor: ['Moe & Dahl Sjøfly'],
    successor: ['Larus Group'],
    defunct: ['2026'],
    fate: ['Merged into Larus Group', 'Flies on under its name'],
    ceasedOperations: ['2026-09-30'],
  },
  transport: {
    hubs: ['Bodø Airport'],
    focusCities: ['Tromsø', 'Luleå'],
    fleetSize: '24 (2025)',
  },
  links: {
    websites: ['https://www.larus.example/', 'https://WWW.larus.example', 'https://cargo.larus.example/'],
    wikipedia: 'https://en.wikipedia.org/wiki/Larus_Air',
    wikidataQid: 'Q999999999',
    socialMedia: [{ name: 'Mastodon', url: 'https://social.example/@larus' }],
  },
  images: {
    logo: {
      big: { path: 'logos/larus-air.svg', width: 512, height: 512, format: 'svg', sizeKb: 3.5 },
      small: { path: 'logos/larus-air-64.png', width: 64, height: 64, format: 'png', sizeKb: 1.2 },
    },
    bannerPath: 'banners/larus-air.svg',
    stockLogo: {
      big: { path: 'tickers/LARUS.svg', width: 256, height: 256, format: 'svg' },
      small: { path: 'tickers/LARUS-32.png', width: 32, height: 32, format: 'png' },
    },
  },
  stock: {
    exchange: 'OSE',
    exchangeFullName: 'Oslo Stock Exchange',
    exchangeLogoPath: 'exchanges/ose.svg',
    indexMemberships: ['OBX'],
    isin: 'NO0010000000',
    cusip: 'R00000000',
    ipoDate: '1987-03-02',
    currency: 'NOK',
    price: 52.5,
    priceUsd: 4.83,
    change: 0,
    changePercentage: 0,
    marketCapUsd: 402_000_000,
    range: '38.1-55',
    percentFrom52WeekLow: 37.8,
    isActivelyTrading: false,
  },
  sources: [],
});

const superinvestor = Brand.fromPartial({
  id: 'ada-fenwick',
  type: BrandType.SUPERINVESTOR,
  name: 'Ada Fenwick',
  description: 'Ada Fenwick manages the portfolio of Fenwick Partners.',
  category: 'superinvestor',
  rank: 120,
  names: [],
  domains: [],
  listings: [],
  manager: {
    portfolioManager: 'Ada Fenwick',
    firm: 'Fenwick Partners',
    portfolioManagerSource: 'https://filings.example/fenwick-partners',
    logoPath: 'managers/ada-fenwick.png',
  },
  sources: [],
});

const [groupedStock, groupedSuperinvestor, flatStock, flatMerchant] = Array.from(
  readFileSync(new URL('../README.md', import.meta.url), 'utf8').matchAll(/```json\n(.*?)\n```/gs),
  ([, json]) => json,
);

const merchant = { ...airline, type: BrandType.BRAND };

test.each([
  ['grouped record of a listed company', presentGrouped(airline, options), groupedStock],
  ['grouped record of a superinvestor', presentGrouped(superinvestor, options), groupedSuperinvestor],
  ['flat record of a listed company', presentFlat(airline, options), flatStock],
  ['flat record of a merchant', presentFlat(merchant, options), flatMerchant],
])('the %s in the documentation is the presented record', (_, record, documented) => {
  expect(JSON.stringify(record)).toBe(JSON.stringify(JSON.parse(documented ?? '')));
});

test('the documented records show every key of the schemas', () => {
  const documented = [
    ...objectsWithSchemaKeys(presentGrouped(airline, options), groupedRecordSchema),
    ...objectsWithSchemaKeys(presentGrouped(superinvestor, options), groupedRecordSchema),
    ...objectsWithSchemaKeys(presentFlat(airline, options), flatRecordSchema),
  ];
  for (const { schemaKeys } of documented)
    expect(documented.map(({ keys }) => keys)).toContainEqual(schemaKeys);
});
