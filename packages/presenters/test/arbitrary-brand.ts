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

/** The same arbitrary for each of these fields. */
const each = <Name extends string, T>(arbitrary: fc.Arbitrary<T>, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, arbitrary])) as Record<Name, fc.Arbitrary<T>>;
const several = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 4 });

const image: fc.Arbitrary<Image> = fc.record({
  path,
  format: text,
  ...each(figure, 'width', 'height', 'sizeKb'),
});
const variants = fc.record({ big: maybe(image), small: maybe(image) });

/** Any brand, also with values that the catalogue would refuse: blanks, zeros, repeated items, figures that are not finite. */
export const arbitraryBrand: fc.Arbitrary<Brand> = fc.record({
  ...each(fact, 'id', 'name', 'description', 'category'),
  type: fc.constantFrom(BrandType.STOCK, BrandType.BRAND, BrandType.SUPERINVESTOR),
  rank: fc.nat(1_000),
  ...each(texts, 'derivedFields', 'names', 'domains'),
  listings: several(
    fc.record({
      mic: fc.oneof(fc.constantFrom('XNAS', 'XNYS', 'XETR', 'ZZZZ'), text),
      primary: fc.boolean(),
      ...each(text, 'ticker', 'isin', 'cusip', 'figi', 'compositeFigi', 'shareClassFigi'),
    }),
  ),
  company: maybe(
    fc.record({
      ...each(text, 'industry', 'sector', 'founded', 'ceo', 'employees', 'numberOfLocations'),
      ...each(texts, 'industries', 'companyType', 'founders', 'areaServed'),
      keyPeople: several(fc.record(each(text, 'name', 'role'))),
      headquarters: maybe(
        fc.record({
          ...each(
            text,
            'city',
            'state',
            'country',
            'countryCode',
            'cityNative',
            'stateNative',
            'countryNative',
          ),
          ...each(figure, 'latitude', 'longitude'),
        }),
      ),
    }),
  ),
  ownership: maybe(fc.record(each(texts, 'owner', 'parentCompany', 'subsidiaries', 'divisions'))),
  offerings: maybe(fc.record(each(texts, 'products', 'services', 'brands'))),
  history: maybe(
    fc.record({
      ...each(texts, 'formerly', 'predecessor', 'successor', 'defunct', 'fate'),
      ...each(texts, 'ceasedOperations', 'formerTickers'),
    }),
  ),
  transport: maybe(fc.record({ ...each(texts, 'hubs', 'focusCities'), fleetSize: text })),
  links: maybe(
    fc.record({
      websites: several(website),
      ...each(text, 'wikipedia', 'wikidataQid'),
      socialMedia: several(fc.record(each(text, 'name', 'url'))),
    }),
  ),
  images: maybe(
    fc.record({ ...each(maybe(variants), 'logo', 'stockLogo'), bannerPath: path, logoFile: text }),
  ),
  stock: maybe(
    fc.record({
      ...each(text, 'exchange', 'exchangeFullName', 'isin', 'cusip', 'ipoDate', 'currency', 'range'),
      ...each(figure, 'price', 'priceUsd', 'change', 'changePercentage', 'marketCapUsd'),
      percentFrom52WeekLow: figure,
      exchangeLogoPath: path,
      indexMemberships: texts,
      isActivelyTrading: maybe(fc.boolean()),
    }),
  ),
  manager: maybe(
    fc.record({ ...each(text, 'portfolioManager', 'firm', 'portfolioManagerSource'), logoPath: path }),
  ),
  sources: fc.array(fc.record({ ...each(text, 'name', 'url', 'licence', 'date'), fields: texts }), {
    maxLength: 2,
  }),
  lei: text,
});
