import { Brand, BrandType, Override } from '@brand-data/contracts';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutDerivedFields } from '../src/records/derive.ts';
import {
  mergeBrands,
  priceDateOf,
  recordOfOne,
  type SourcedBrand,
  withListingsInOrder,
} from '../src/records/merge.ts';
import { companyOfListings } from '../src/records/merge-listings.ts';
import { statesListings } from '../src/records/precedence.ts';

type Partial = Parameters<typeof Brand.fromPartial>[0];

const word = fc.constantFrom('Acme', 'Acme Inc.', 'Globex', 'Initech', '');
const words = fc.array(
  word.filter((text) => text !== ''),
  { maxLength: 3 },
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const picture = fc.record({ path: fc.constantFrom('a.svg', 'b.svg'), width: maybe(fc.nat(9)) });
const isin = fc.constantFrom('', 'US0378331005', 'GB0002634946');

const stock = fc
  .record({
    name: word.filter((text) => text !== ''),
    description: word,
    rank: fc.nat(1_000),
    names: words,
    domains: fc.uniqueArray(fc.constantFrom('acme.com', 'acme.org'), { maxLength: 2 }),
    listings: fc.uniqueArray(
      fc.record({
        ticker: fc.constantFrom('ACME', 'ACM'),
        mic: fc.constantFrom('XNAS', 'XETR', 'XLON'),
        isin,
      }),
      { minLength: 1, maxLength: 4, selector: ({ ticker, mic }) => `${mic}:${ticker}` },
    ),
    company: maybe(
      fc.record({
        ceo: word,
        sector: word,
        founders: words,
        headquarters: maybe(
          fc.record({
            city: word,
            countryCode: fc.constantFrom('US', 'DE'),
            latitude: maybe(fc.constant(1)),
          }),
        ),
      }),
    ),
    links: maybe(fc.record({ websites: fc.subarray(['https://acme.com/', 'https://www.acme.net/']) })),
    images: maybe(fc.record({ logo: maybe(fc.record({ big: maybe(picture), small: maybe(picture) })) })),
    stock: maybe(fc.record({ isin, exchange: word, currency: word, price: maybe(fc.nat(9)) })),
    sources: fc.array(fc.record({ name: word }), { maxLength: 2 }),
  })
  .map((fields): Partial => ({ type: BrandType.STOCK, ...fields }));

const SOURCES = ['hand-written', 'sample', 'archive', 'feed', 'wikidata', 'financedatabase', 'simple-icons'];
const statement = (source: string, fields: Partial, isQuote = false): SourcedBrand => ({
  source,
  brand: withListingsInOrder(source, isQuote ? Brand.fromPartial(fields) : brandOf(`of-${source}`, fields)),
  isQuote,
});
const statements = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...SOURCES), stock), { minLength: 1, selector: ([source]) => source })
  .map((entries) => entries.map(([source, fields]) => statement(source, fields)));

const inOrder = (all: readonly SourcedBrand[], order = SOURCES) =>
  order.flatMap((source) => all.filter((one) => one.source === source));
const firstWithData = <T>(all: readonly SourcedBrand[], read: (brand: Brand) => T | undefined) =>
  all.map(({ brand }) => read(brand)).find((value) => value !== undefined && value !== '');

/** Removes empty fields, and messages that have only empty fields. */
function dataOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? value.map(dataOf) : undefined;
  if (typeof value !== 'object' || value === null) return value === '' ? undefined : value;
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const data = dataOf(field);
    return data === undefined ? [] : [[name, data]];
  });
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

test('the order of the sources has no influence on a record', () => {
  fc.assert(
    fc.property(statements, fc.infiniteStream(fc.nat()), (all, numbers) => {
      const shuffled = all
        .map((one) => ({ one, place: numbers.next().value }))
        .sort((a, b) => a.place - b.place)
        .map(({ one }) => one);
      expect(mergeBrands(shuffled)).toEqual(mergeBrands(all));
    }),
  );
});

test('the order of the listings of a company has no influence on its record', () => {
  const listing = fc.tuple(stock, fc.boolean()).map(([fields, isListed]): Partial => {
    return { ...fields, listings: isListed ? (fields.listings ?? []).slice(0, 1) : [] };
  });
  const listings = fc
    .array(listing, { minLength: 2, maxLength: 5 })
    .map((all) => all.map((fields, index) => brandOf(`of-${index}`, fields)));
  fc.assert(
    fc.property(
      listings.chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
      ),
      ([all, shuffled]) => {
        expect(companyOfListings(shuffled)).toEqual(companyOfListings(all));
      },
    ),
  );
});

test('a listing whose record has no website does not describe the company before the main one', () => {
  const rows = ['a', 'b'].map((id) =>
    brandOf(id, { name: 'Acme', description: `The description of ${id}.` }),
  );
  const [main = brandOf('a'), further = brandOf('b')] = rows;
  // A file may state links without a website, which an export leaves out.
  const withEmptyLinks = Brand.fromPartial({ ...further, links: {} });
  expect(companyOfListings([main, withEmptyLinks]).description).toBe('The description of a.');
});

test('the record of a single source is the source record itself, with what every record has', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SOURCES), stock, (source, fields) => {
      // An American company's ISIN is never that of a receipt.
      const company = {
        headquarters: { countryCode: 'US' },
        ...(fields.company?.ceo && { ceo: fields.company.ceo }),
      };
      const alone = statement(source, { ...fields, company, names: [], sources: [] });
      const { brand } = mergeBrands([alone]);
      expect(dataOf(withoutDerivedFields(brand))).toEqual(dataOf(alone.brand));
      expect(dataOf(recordOfOne(alone))).toEqual(dataOf(brand));
    }),
  );
});

test('the record of a single listing is the one that merging makes, with only the spellings of its own name', () => {
  fc.assert(
    fc.property(stock, (fields) => {
      const names = [...new Set(fields.names)].filter((name) => name !== fields.name);
      const listings = fields.listings?.slice(0, 1) ?? [];
      const alone = statement('financedatabase', { ...fields, names, listings, sources: [] });
      const { brand } = mergeBrands([alone]);
      expect(dataOf(recordOfOne(alone))).toEqual(dataOf(brand));
      const isAcme = (name: string) => name.startsWith('Acme');
      expect(brand.names.filter((name) => isAcme(name) !== isAcme(brand.name))).toEqual([]);
    }),
  );
});

test('each field has the value of the strongest source with data', () => {
  fc.assert(
    fc.property(statements, (all) => {
      const { brand, fieldSources } = mergeBrands(all);
      const strongest = inOrder(all);
      expect(brand.id).toBe(strongest[0]?.brand.id);
      expect(brand.name).toBe(strongest[0]?.brand.name);
      expect(brand.company?.ceo ?? '').toBe(firstWithData(strongest, ({ company }) => company?.ceo) ?? '');
      expect(fieldSources.get('name')).toBe(strongest[0]?.source);
      expect(fieldSources.get('company.ceo')).toBe(strongest.find(({ brand }) => brand.company?.ceo)?.source);
    }),
  );
});

test('sectors, descriptions and logos follow their own order of sources', () => {
  const known = ['hand-written', 'sample', 'archive', 'feed', 'financedatabase', 'wikidata', 'simple-icons'];
  const drawn = ['hand-written', 'archive', 'feed', 'sample', 'simple-icons', 'wikidata', 'financedatabase'];
  fc.assert(
    fc.property(statements, (all) => {
      const { brand, fieldSources } = mergeBrands(all);
      expect(brand.company?.sector ?? '').toBe(
        firstWithData(inOrder(all, known), ({ company }) => company?.sector) ?? '',
      );
      expect(withoutDerivedFields(brand).description).toBe(
        firstWithData(inOrder(all, known), ({ description }) => description) ?? '',
      );
      const hasLogo = ({ brand: { images } }: SourcedBrand) =>
        Boolean(images?.logo?.big ?? images?.logo?.small);
      expect(fieldSources.get('images.logo')).toBe(inOrder(all, drawn).find(hasLogo)?.source);
    }),
  );
});

test('a curated rank and order of listings are kept; otherwise the highest rank and the home exchange come first', () => {
  fc.assert(
    fc.property(statements, (all) => {
      const { brand } = mergeBrands(all);
      const considered = inOrder(all).filter(({ source }) => ['hand-written', 'sample'].includes(source));
      expect(withoutDerivedFields(brand).rank).toBe(
        considered.find(({ brand }) => brand.rank > 0)?.brand.rank ??
          Math.max(...all.map(({ brand }) => brand.rank)),
      );
      const [first] = considered;
      if (first !== undefined) {
        const name = ({ ticker, mic }: Brand['listings'][number]) => `${mic}:${ticker}`;
        expect(brand.listings.map(name).slice(0, first.brand.listings.length)).toEqual(
          first.brand.listings.map(name),
        );
      }
    }),
  );
});

test('all fields of a picture come from one source', () => {
  fc.assert(
    fc.property(statements, (all) => {
      const { brand, fieldSources } = mergeBrands(all);
      const of = (field: string) => all.find(({ source }) => source === fieldSources.get(field))?.brand;
      expect(brand.images?.logo).toEqual(of('images.logo')?.images?.logo);
    }),
  );
});

test('figures are those of the main listing, and a price and its currency come from one source', () => {
  fc.assert(
    fc.property(statements, (all) => {
      const { brand } = mergeBrands(all);
      const name = ({ listings: [main] }: Brand) => `${main?.mic}:${main?.ticker}`;
      const describing = inOrder(all).filter((one) => name(one.brand) === name(brand));
      const quoting = describing.find((one) => one.brand.stock?.price !== undefined);
      expect(brand.stock?.price).toBe(quoting?.brand.stock?.price);
      if (quoting?.brand.stock?.currency) expect(brand.stock?.currency).toBe(quoting.brand.stock.currency);
      expect(brand.stock?.exchange ?? '').toBe(
        firstWithData(describing, ({ stock }) => stock?.exchange) ?? '',
      );
    }),
  );
});

test('a quote changes the figures of its own main listing only', () => {
  const company = statement('wikidata', {
    type: BrandType.STOCK,
    listings: [{ ticker: 'ACME', mic: 'XNAS' }],
    stock: { isin: 'US0378331005', exchange: 'NASDAQ', currency: 'EUR', price: 1, range: '1-2' },
  });
  const quote = (mic: string, price: number, date: string) =>
    statement(
      'market-data',
      {
        listings: [{ ticker: 'ACME', mic }],
        stock: { price, currency: 'USD' },
        sources: [{ name: 'A', date }],
      },
      true,
    );
  const quoted = mergeBrands([company, quote('XNAS', 7, '2026-01-02')]);
  expect(quoted.brand.stock).toMatchObject({
    isin: 'US0378331005',
    exchange: 'NASDAQ',
    currency: 'USD',
    price: 7,
    range: '',
  });
  expect(quoted.fieldSources.get('stock.price')).toBe('market-data');
  expect(mergeBrands([company, quote('XETR', 7, '2026-01-02')]).brand.stock).toMatchObject({ price: 1 });
  const twice = [quote('XNAS', 7, '2026-01-02'), company, quote('XNAS', 8, '2026-01-03')];
  expect(mergeBrands(twice).brand.stock?.price).toBe(8);
});

test('the day of a price is that of the source that gives the price, and of no other', () => {
  const listings = [{ ticker: 'ACME', mic: 'XNAS' }];
  const company = (source: string, price: number | undefined, ...sources: object[]) =>
    statement(source, { type: BrandType.STOCK, listings, stock: { currency: 'USD', price }, sources });
  const quote = (price: number | undefined, ...sources: object[]) =>
    statement('market-data', { listings, stock: { price, isActivelyTrading: true }, sources }, true);
  const sample = company(
    'sample',
    1,
    { name: 'people', date: '2026-11-22' },
    { name: 'prices', date: '2026-08', fields: ['stock.currency', 'stock.price'] },
  );
  const closes = quote(2, { name: 'closes', date: '2026-01-02', fields: ['stock'] });
  const days: [SourcedBrand[], string | undefined, ...Override[]][] = [
    [[sample], '2026-08'],
    [[sample, closes], '2026-01-02'],
    [[sample, closes, quote(3, { name: 'closes', date: '2026-01-01' })], '2026-01-02'],
    [[sample, quote(undefined, { name: 'closes', date: '2026-01-02' })], '2026-08'],
    [[sample, quote(2)], undefined],
    [[sample, quote(2, { name: 'closes' })], undefined],
    [[company('feed', undefined, { name: 'feed', date: '2026' })], undefined],
    [
      [sample, closes],
      undefined,
      Override.fromPartial({ field: 'stock.price', value: { stock: { price: 9 } } }),
    ],
    [[sample, closes], undefined, Override.fromPartial({ field: 'stock.price' })],
  ];
  for (const [brands, day, ...overrides] of days) expect(mergeBrands(brands, overrides).priceDate).toBe(day);
  fc.assert(
    fc.property(stock, fc.constantFrom(...SOURCES), (fields, source) => {
      const alone = statement(source, { ...fields, sources: [{ name: 'A', date: '2026' }] });
      expect(priceDateOf(alone)).toBe(
        mergeBrands([alone]).brand.stock?.price === undefined ? undefined : '2026',
      );
      expect(priceDateOf(alone)).toBe(mergeBrands([alone]).priceDate);
    }),
  );
});

test("the home share's ISIN is shown and found, whatever source states that of its receipt", () => {
  const seat = { headquarters: { countryCode: 'JP' } };
  const vendor = statement('vendor', {
    type: BrandType.STOCK,
    company: seat,
    listings: [{ ticker: '6098', mic: 'XTKS', isin: 'US75629J1016', cusip: '75629J101' }],
    stock: { isin: 'US75629J1016', cusip: '75629J101' },
  });
  const registry = (stock?: Partial['stock']) =>
    statement('registry', {
      type: BrandType.STOCK,
      listings: [{ ticker: '6098', mic: 'XTKS', isin: 'JP3970300004' }],
      ...(stock && { stock }),
    });
  expect(recordOfOne(vendor).stock).toMatchObject({ isin: '', cusip: '' });
  const found = (...all: SourcedBrand[]) => {
    const { brand } = mergeBrands(all);
    return [brand.stock?.isin, brand.stock?.cusip, brand.listings[0]?.isin, brand.listings[0]?.cusip];
  };
  const home = ['JP3970300004', '', 'JP3970300004', ''];
  expect(found(vendor, registry({ isin: 'JP3970300004' }))).toEqual(home);
  const noCountry = statement('other', {
    type: BrandType.STOCK,
    listings: [{ ticker: '6098', mic: 'XTKS', isin: 'US75629J1016' }],
    stock: { isin: 'US75629J1016', cusip: '75629J101' },
  });
  expect(found(vendor, registry())).toEqual(home);
  expect(found(noCountry, vendor, registry())).toEqual(home);
  // A person's word stands.
  const curated = { ...noCountry, source: 'sample' };
  expect(mergeBrands([curated, vendor]).brand.stock?.isin).toBe('US75629J1016');
});

/** Of the names in records of one listing each, only spellings of a company's name are the company's. */
const withoutListings = (all: readonly SourcedBrand[]) => all.filter(({ source }) => !statesListings(source));

test('a list that writes New York for all exchanges of its operator adds no listing to those of lists that name the exchange', () => {
  const isin = 'US0378331005';
  const exact = (mic: string) => statement('nasdaq-traded', { listings: [{ ticker: 'ACME', mic }] });
  const vague = (source: string) =>
    statement(source, { type: BrandType.STOCK, listings: [{ ticker: 'ACME', mic: 'XNYS', isin }] });
  const listingsOf = (...statements: SourcedBrand[]) =>
    mergeBrands(statements).brand.listings.map(({ mic, isin }) => [mic, isin]);
  for (const mic of ['XASE', 'ARCX']) expect(listingsOf(vague('sec'), exact(mic))).toEqual([[mic, isin]]);
  expect(listingsOf(vague('sec'), exact('XNAS'))).toHaveLength(2);
  expect(listingsOf(vague('sample'), exact('XASE'))).toHaveLength(2);
});

test('a list does not move a company from New York, where a stronger list than it has the company, to an exchange that it may have left', () => {
  const statementOf = (source: string, mic: string) =>
    statement(source, { type: BrandType.STOCK, listings: [{ ticker: 'ACME', mic }] });
  const left = statementOf('financedatabase', 'XASE');
  const micsOf = (...statements: SourcedBrand[]) =>
    mergeBrands(statements).brand.listings.map(({ mic }) => mic);
  expect(micsOf(statementOf('nasdaq-traded', 'XNYS'), statementOf('sec', 'XNYS'), left)).toContain('XNYS');
  expect(micsOf(statementOf('sec', 'XNYS'), left)).toEqual(['XASE']);
});

test('names, domains, listings and sources of all sources are united, each once, strongest source first', () => {
  fc.assert(
    fc.property(
      statements.map(withoutListings).filter(({ length }) => length > 0),
      (all) => {
        const { brand } = mergeBrands(all);
        const brands = inOrder(all).map((one) => one.brand);
        const names = [brand.name, ...brand.names];
        expect(names).toEqual([...new Set(names)]);
        expect(new Set(names)).toEqual(new Set(brands.flatMap(({ name, names }) => [name, ...names])));
        expect(brand.domains).toEqual(expect.arrayContaining(brands.flatMap(({ domains }) => domains)));
        const listings = ({ listings }: Brand) => listings.map(({ ticker, mic }) => `${mic}:${ticker}`);
        expect(listings(brand).toSorted()).toEqual([...new Set(brands.flatMap(listings))].sort());
        const sources = brand.sources.map(({ name }) => name);
        expect(sources).toEqual([
          ...new Set(brands.flatMap(({ sources }) => sources.map(({ name }) => name))),
        ]);
      },
    ),
  );
});

test('of the names that one source has for a company, those are kept that people use: initials, and other scripts', () => {
  const named = (...names: string[]) =>
    mergeBrands(names.map((name) => statement('financedatabase', { name }))).brand.names;
  expect(named('Canadian Imperial Bank of Commerce', 'CIBC')).toEqual(['CIBC']);
  expect(named('Tencent Holdings Limited', '腾讯控股')).toEqual(['腾讯控股']);
  expect(named('TENCENT HOLDINGS', '腾讯控股')).toContain('腾讯控股');
  expect(named('Nestle S.A.', 'NESTLE SA REG')).toEqual([]);
});

test('a name that a source spells goes before one in capitals, and only a person may publish capitals', () => {
  const merged = (...names: [source: string, name: string][]) =>
    mergeBrands(names.map(([source, name]) => statement(source, { name })));
  const registry = ['archive', 'ACME TOOLS INC /DE/'] as [string, string];
  expect(merged(registry).brand).toMatchObject({ name: 'Acme Tools', names: ['ACME TOOLS INC'] });
  const spelled = merged(registry, ['simple-icons', 'AcmeTools, Inc.']);
  expect(spelled.brand).toMatchObject({ name: 'AcmeTools, Inc.', names: ['ACME TOOLS INC'] });
  expect(spelled.fieldSources.get('name')).toBe('simple-icons');
  expect(merged(registry, ['hand-written', 'ACME TOOLS']).brand.name).toBe('ACME TOOLS');
  expect(merged(['archive', 'SEMPRA'], ['wikidata', 'Sempra']).brand.name).toBe('Sempra');
  expect(merged(['archive', '株式会社ソニー'], ['wikidata', 'Sony Group']).brand.name).toBe('株式会社ソニー');
  for (const source of SOURCES) {
    const alone = statement(source, { name: 'ACME TOOLS INC /DE/', names: ['Acme'] });
    expect(dataOf(recordOfOne(alone))).toEqual(dataOf(mergeBrands([alone]).brand));
  }
});
