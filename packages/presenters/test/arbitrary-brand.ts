import { type Brand, BrandType, type Image } from '@brand-data/contracts';
import * as fc from 'fast-check';

const fact = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');

/** Texts that are often blank and often equal. */
const text = fc.oneof(
  fc.constantFrom('', ' ', '\t\n'),
  fc.constantFrom('Acme', 'acme', 'Acme ', 'Ünïcode ✓'),
  fc.string(),
);
const texts = fc.array(text, { maxLength: 4 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const figure = maybe(
  fc.oneof(fc.constantFrom(0, -0, 1, Number.NaN, Number.POSITIVE_INFINITY, -1.5), fc.double()),
);
const website = fc.oneof(
  fc.constantFrom('https://acme.example', 'https://ACME.example/', 'https://acme.example/Shop/'),
  fc.webUrl(),
  text,
);
const path = fc.oneof(fc.constantFrom('', '/', ' ', 'logos/acme.svg', '//logos/acme.svg'), fc.string());

const image: fc.Arbitrary<Image> = fc.record({
  path,
  width: figure,
  height: figure,
  format: text,
  sizeKb: figure,
});
const variants = fc.record({ big: maybe(image), small: maybe(image) });

/** Any brand, also with values that the catalogue would refuse: blanks, zeros, repeated items, figures that are not finite. */
export const arbitraryBrand: fc.Arbitrary<Brand> = fc.record({
  id: fact,
  type: fc.constantFrom(BrandType.STOCK, BrandType.BRAND, BrandType.SUPERINVESTOR),
  name: fact,
  description: fact,
  category: fact,
  rank: fc.nat(1_000),
  derivedFields: texts,
  names: texts,
  domains: texts,
  listings: fc.array(
    fc.record({
      ticker: text,
      mic: fc.oneof(fc.constantFrom('XNAS', 'XNYS', 'XETR', 'ZZZZ'), text),
      primary: fc.boolean(),
      isin: text,
      cusip: text,
      figi: text,
      compositeFigi: text,
      shareClassFigi: text,
    }),
    { maxLength: 4 },
  ),
  company: maybe(
    fc.record({
      industry: text,
      sector: text,
      industries: texts,
      companyType: texts,
      founded: text,
      founders: texts,
      ceo: text,
      keyPeople: fc.array(fc.record({ name: text, role: text }), { maxLength: 4 }),
      employees: text,
      numberOfLocations: text,
      headquarters: maybe(
        fc.record({
          city: text,
          state: text,
          country: text,
          countryCode: text,
          latitude: figure,
          longitude: figure,
          cityNative: text,
          stateNative: text,
          countryNative: text,
        }),
      ),
      areaServed: texts,
    }),
  ),
  ownership: maybe(fc.record({ owner: texts, parentCompany: texts, subsidiaries: texts, divisions: texts })),
  offerings: maybe(fc.record({ products: texts, services: texts, brands: texts })),
  history: maybe(
    fc.record({
      formerly: texts,
      predecessor: texts,
      successor: texts,
      defunct: texts,
      fate: texts,
      ceasedOperations: texts,
      formerTickers: texts,
    }),
  ),
  transport: maybe(fc.record({ hubs: texts, focusCities: texts, fleetSize: text })),
  links: maybe(
    fc.record({
      websites: fc.array(website, { maxLength: 4 }),
      wikipedia: text,
      wikidataQid: text,
      socialMedia: fc.array(fc.record({ name: text, url: text }), { maxLength: 4 }),
    }),
  ),
  images: maybe(
    fc.record({ logo: maybe(variants), bannerPath: path, stockLogo: maybe(variants), logoFile: text }),
  ),
  stock: maybe(
    fc.record({
      exchange: text,
      exchangeFullName: text,
      exchangeLogoPath: path,
      indexMemberships: texts,
      isin: text,
      cusip: text,
      ipoDate: text,
      currency: text,
      price: figure,
      priceUsd: figure,
      change: figure,
      changePercentage: figure,
      marketCapUsd: figure,
      range: text,
      percentFrom52WeekLow: figure,
      isActivelyTrading: maybe(fc.boolean()),
    }),
  ),
  manager: maybe(
    fc.record({ portfolioManager: text, firm: text, portfolioManagerSource: text, logoPath: path }),
  ),
  sources: fc.array(fc.record({ name: text, url: text, licence: text, date: text, fields: texts }), {
    maxLength: 2,
  }),
  lei: text,
});
