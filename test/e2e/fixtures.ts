import { type Brand, BrandType } from '@brand-data/contracts';

type Fixture = Parameters<typeof Brand.fromPartial>[0];

/** An invented listed company with every field of the grouped record (packages/presenters/README.md). */
export const fullStock: Fixture = {
  id: 'zephyr-air',
  type: BrandType.STOCK,
  name: "Zéphyr & Sons' Air-Lines",
  description: 'A made-up carrier.',
  category: 'airline',
  rank: 500,
  names: ['Zephyr Airlines AG', 'ゼファー航空'],
  domains: ['zephyr.example.com'],
  listings: [
    { ticker: 'ZPHX', mic: 'XETR' },
    { ticker: 'ZP1', mic: 'XBER' },
    { ticker: 'ZPHY', mic: 'XNYS', primary: true },
  ],
  company: {
    industry: 'Airlines',
    sector: 'Industrials',
    industries: ['Airlines', 'Freight'],
    companyType: ['Public'],
    founded: '1971-02-03',
    founders: ['Ada Z.', 'Bo Z.'],
    ceo: 'Cy Z.',
    keyPeople: [{ name: 'Cy Z.', role: 'CEO' }],
    employees: '1,234 (2025)',
    numberOfLocations: '12',
    headquarters: {
      city: 'Munich',
      state: 'Bavaria',
      country: 'Germany',
      countryCode: 'DE',
      latitude: 48.137,
      longitude: 0,
      cityNative: 'München',
      stateNative: 'Bayern',
      countryNative: 'Deutschland',
    },
    areaServed: ['Europe'],
  },
  ownership: {
    owner: ['Z Trust'],
    parentCompany: ['Z Group'],
    subsidiaries: ['Z Cargo'],
    divisions: ['Z Tech'],
  },
  offerings: { products: ['Flights'], services: ['Charter'], brands: ['Zeph'] },
  history: {
    formerly: ['Breeze Air'],
    predecessor: ['Gust'],
    successor: ['Gale'],
    defunct: ['2025', '2026'],
    fate: ['Merged'],
    ceasedOperations: ['2026-01-31'],
  },
  transport: { hubs: ['MUC'], focusCities: ['NUE'], fleetSize: '7' },
  links: {
    websites: ['https://www.zephyr-air.com/', 'https://careers.zephyr-air.com/'],
    wikipedia: 'https://en.wikipedia.org/wiki/Zephyr',
    wikidataQid: 'Q999999999',
    socialMedia: [{ name: 'X', url: 'https://x.com/zephyr' }],
  },
  images: {
    logo: {
      big: { path: 'logos/z/big.svg', width: 512, height: 512, format: 'svg', sizeKb: 1.5 },
      small: { path: 'logos/z/small.svg', width: 64, height: 64, format: 'svg', sizeKb: 0.5 },
    },
    bannerPath: 'banners/z.svg',
    stockLogo: {
      big: { path: 'stocks/z/big.svg', width: 512, height: 512, format: 'svg' },
      small: { path: 'stocks/z/small.svg', width: 64, height: 64, format: 'svg' },
    },
  },
  stock: {
    exchange: 'XETRA',
    exchangeFullName: 'Deutsche Börse Xetra',
    exchangeLogoPath: 'exchanges/xetra.svg',
    indexMemberships: ['MDAX'],
    isin: 'DE0007164600',
    cusip: '037833100',
    ipoDate: '1999-01-04',
    currency: 'EUR',
    price: 10.5,
    priceUsd: 12.25,
    change: 0,
    changePercentage: 0,
    marketCapUsd: 1_000_000,
    range: '5.25-21',
    percentFrom52WeekLow: 100,
    isActivelyTrading: false,
  },
  sources: [{ name: 'made up', date: '2026' }],
};

/** Returns the answer of the grouped route for this company. */
export const fullStockGrouped = (logoHost: string) => ({
  type: 'stock',
  name: "Zéphyr & Sons' Air-Lines",
  symbol: 'ZPHX',
  description: 'A made-up carrier.',
  category: 'airline',
  company: {
    industry: 'Airlines',
    sector: 'Industrials',
    industries: ['Airlines', 'Freight'],
    company_type: ['Public'],
    founded: '1971-02-03',
    founders: ['Ada Z.', 'Bo Z.'],
    ceo: 'Cy Z.',
    key_people: [{ name: 'Cy Z.', role: 'CEO' }],
    employees: '1,234 (2025)',
    number_of_locations: '12',
    headquarters: {
      city: 'Munich',
      state: 'Bavaria',
      country: 'Germany',
      countryCode: 'DE',
      latitude: 48.137,
      longitude: 0,
      cityNative: 'München',
      stateNative: 'Bayern',
      countryNative: 'Deutschland',
    },
    area_served: ['Europe'],
  },
  ownership: {
    owner: ['Z Trust'],
    parent_company: ['Z Group'],
    subsidiaries: ['Z Cargo'],
    divisions: ['Z Tech'],
  },
  offerings: { products: ['Flights'], services: ['Charter'], brands: ['Zeph'] },
  history: {
    formerly: ['Breeze Air'],
    predecessor: ['Gust'],
    successor: ['Gale'],
    defunct: ['2025', '2026'],
    fate: 'Merged',
    ceased_operations: '2026-01-31',
  },
  transport: { hubs: ['MUC'], focus_cities: ['NUE'], fleet_size: '7' },
  links: {
    websites: ['https://www.zephyr-air.com/', 'https://careers.zephyr-air.com/'],
    wikipedia: 'https://en.wikipedia.org/wiki/Zephyr',
    wikidata_qid: 'Q999999999',
    social_media: [{ name: 'X', url: 'https://x.com/zephyr' }],
  },
  images: {
    logo: {
      big: { url: `${logoHost}/logos/z/big.svg`, width: 512, height: 512, format: 'svg', sizeKb: 1.5 },
      small: { url: `${logoHost}/logos/z/small.svg`, width: 64, height: 64, format: 'svg', sizeKb: 0.5 },
    },
    banner: { url: `${logoHost}/banners/z.svg` },
    stock_logo: {
      big: { url: `${logoHost}/stocks/z/big.svg`, width: 512, height: 512, format: 'svg' },
      small: { url: `${logoHost}/stocks/z/small.svg`, width: 64, height: 64, format: 'svg' },
    },
  },
  stock: {
    exchange: 'XETRA',
    exchange_full_name: 'Deutsche Börse Xetra',
    exchange_logo: `${logoHost}/exchanges/xetra.svg`,
    listings: ['XETRA', 'BER', 'NYSE'],
    index_memberships: ['MDAX'],
    isin: 'DE0007164600',
    cusip: '037833100',
    ipo_date: '1999-01-04',
    currency: 'EUR',
    price: 10.5,
    price_usd: 12.25,
    change: 0,
    change_percentage: 0,
    market_cap_usd: 1_000_000,
    range: '5.25-21',
    percent_from_52_week_low: 100,
    is_actively_trading: false,
  },
});

/** Returns the answer of the flat route for this company. */
export const fullStockFlat = (logoHost: string) => ({
  name: "Zéphyr & Sons' Air-Lines",
  type: 'stock',
  logo: `${logoHost}/logos/z/big.svg`,
  description: 'A made-up carrier.',
  website: 'https://www.zephyr-air.com/',
  headquarters: { city: 'Munich', state: 'Bavaria', country: 'Germany' },
  employees: '1,234 (2025)',
  industry: 'Airlines',
  sector: 'Industrials',
  ceo: 'Cy Z.',
  exchange: 'XETRA',
  isin: 'DE0007164600',
  currency: 'EUR',
  market_cap: 1_000_000,
  price: 10.5,
  is_actively_trading: false,
  symbol: 'ZPHX',
  founded: '1971-02-03',
  founders: null,
  key_people: null,
  social_media: null,
  wikipedia: null,
});

/** An invented merchant with few fields. */
export const bareMerchant: Fixture = {
  id: 'corner-shop',
  type: BrandType.BRAND,
  name: "O'Brien's Corner-Shop",
  description: 'A made-up shop.',
  category: 'retail',
  rank: 300,
  company: { founders: ['O. Brien'] },
};

/** Its logo is a monogram. */
const BARE_LOGO = 'monograms/OC-027b8a-656c139f1c55b1a8.svg';

export const bareMerchantGrouped = (logoHost: string) => ({
  type: 'brand',
  name: "O'Brien's Corner-Shop",
  description: 'A made-up shop.',
  category: 'retail',
  company: { founders: ['O. Brien'] },
  images: {
    logo: {
      big: { url: `${logoHost}/${BARE_LOGO}`, width: 512, height: 512, format: 'svg', sizeKb: 0.95 },
      small: { url: `${logoHost}/${BARE_LOGO}?size=64`, width: 64, height: 64, format: 'svg', sizeKb: 0.95 },
    },
  },
});

export const bareMerchantFlat = (logoHost: string) => ({
  name: "O'Brien's Corner-Shop",
  type: 'merchant',
  logo: `${logoHost}/${BARE_LOGO}`,
  description: 'A made-up shop.',
  website: null,
  headquarters: null,
  employees: null,
  industry: null,
  sector: null,
  ceo: null,
  exchange: null,
  isin: null,
  currency: null,
  market_cap: null,
  price: null,
  is_actively_trading: null,
  symbol: null,
  founded: null,
  founders: ['O. Brien'],
  key_people: null,
  social_media: null,
  wikipedia: null,
});

/** An invented portfolio manager with every field of a superinvestor. */
export const fullManager: Fixture = {
  id: 'jean-luc-dupre',
  type: BrandType.SUPERINVESTOR,
  name: 'Jean-Luc Dupré',
  description: 'A made-up manager.',
  category: 'superinvestor',
  rank: 500,
  manager: {
    portfolioManager: 'Jean-Luc Dupré',
    firm: 'Dupré Capital',
    portfolioManagerSource: 'https://example.com/dupre',
    logoPath: 'managers/dupre.svg',
  },
};

export const fullManagerGrouped = (logoHost: string) => ({
  type: 'superinvestor',
  name: 'Jean-Luc Dupré',
  description: 'A made-up manager.',
  category: 'superinvestor',
  portfolio_manager: 'Jean-Luc Dupré',
  firm: 'Dupré Capital',
  portfolio_manager_source: 'https://example.com/dupre',
  logo: `${logoHost}/managers/dupre.svg`,
});
