import { Brand, BrandType } from '@brand-data/contracts';
import { keysOfBrand } from '@brand-data/identifiers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withDerivedFields, withoutDerivedFields } from '../src/records/derive.ts';
import { mergeBrands } from '../src/records/merge.ts';
import { sourceRecordOf } from '../src/records/source-record.ts';
import { SOURCES, someBrand } from './some-records.ts';

type Facts = Parameters<typeof Brand.fromPartial>[0];

const listing = { ticker: '7203', mic: 'XTKS' };

/** Returns the record that is built from what the sources state. */
function built(statements: Readonly<Record<string, Facts>>) {
  return mergeBrands(
    Object.entries(statements).map(([source, facts]) =>
      sourceRecordOf(source, 'run', Brand.fromPartial({ id: 'toyota', name: 'Toyota', ...facts })),
    ),
  );
}

test('a field that any source states is never derived, however weak the source is', () => {
  const { brand, fieldSources } = built({
    'hand-written': {},
    'simple-icons': { description: 'It makes cars.', category: 'cars', rank: 301, type: BrandType.BRAND },
  });
  expect(brand).toMatchObject({
    description: 'It makes cars.',
    category: 'cars',
    rank: 301,
    derivedFields: [],
  });
  expect(Object.fromEntries(fieldSources)).toMatchObject({
    type: 'simple-icons',
    description: 'simple-icons',
    category: 'simple-icons',
    rank: 'simple-icons',
  });
});

test('a field that no source states is derived from the facts of all sources, and is marked', () => {
  const { brand, fieldSources } = built({
    sample: { company: { headquarters: { city: 'Toyota', country: 'Japan' }, founded: '1937-08-28' } },
    financedatabase: { listings: [listing], company: { industry: 'Auto Manufacturers' } },
  });
  expect(brand).toMatchObject({
    type: BrandType.STOCK,
    description:
      'Toyota is a listed company (Auto Manufacturers) based in Toyota, Japan. It was founded in 1937.',
    category: 'auto_manufacturers',
    rank: 300,
    derivedFields: ['type', 'description', 'category', 'rank'],
  });
  for (const field of brand.derivedFields) expect(fieldSources.get(field)).toBe('derived');
});

test.each<[string, Facts, string, string]>([
  ['nothing', {}, 'brand', 'Toyota is a brand.'],
  [
    'a website',
    { links: { websites: ['https://www.toyota.com/x'] } },
    'brand',
    'Toyota is a brand with a website at toyota.com.',
  ],
  [
    'a category and a country',
    { category: 'car_maker', company: { headquarters: { country: 'Netherlands' } } },
    'car_maker',
    'Toyota is a company (car maker) based in the Netherlands.',
  ],
  [
    'a sector and an end',
    { company: { sector: 'Industrials' }, history: { defunct: ['2020'] } },
    'industrials',
    'Toyota was a company (Industrials).',
  ],
  [
    'a city that is a country',
    { company: { headquarters: { city: 'Singapore', country: 'Singapore' } } },
    'brand',
    'Toyota is a company based in Singapore.',
  ],
  [
    'a manager',
    { type: BrandType.SUPERINVESTOR, manager: { firm: 'Fenwick Partners' } },
    'superinvestor',
    'Toyota is a portfolio manager at Fenwick Partners.',
  ],
  [
    'a product of a bank',
    { listings: [listing], category: 'exchange_traded_product' },
    'exchange_traded_product',
    'Toyota is an exchange-traded product.',
  ],
])('category and description follow from %s', (_, facts, category, description) => {
  expect(built({ feed: facts }).brand).toMatchObject({ category, description });
});

test('what a single source states can be restored from the record that is built from it', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SOURCES), someBrand, (source, brand) => {
      const { brand: stated } = sourceRecordOf(source, 'run', brand);
      fc.pre(stated.type !== BrandType.UNSPECIFIED);
      const record = withDerivedFields(stated, { isTypeDerived: false });
      expect(withoutDerivedFields(record)).toEqual(stated);
    }),
  );
});

test('a derived value that is imported again does not become a fact', () => {
  const { brand } = built({ feed: { listings: [listing] } });
  const again = sourceRecordOf('mine', 'run', brand).brand;
  expect(again).toMatchObject({ type: BrandType.UNSPECIFIED, description: '', category: '', rank: 0 });
  expect(again.derivedFields).toEqual([]);
});

const trading: Facts = { listings: [listing], stock: { isActivelyTrading: true } };
const delisted: Facts = { listings: [listing], stock: { isActivelyTrading: false } };

test.each<[string, Readonly<Record<string, Facts>>, BrandType]>([
  ['a listing begins', { sample: {}, wikidata: trading }, BrandType.STOCK],
  ['a listing says nothing about trading', { wikidata: { listings: [listing] } }, BrandType.STOCK],
  ['one of two listings has ended', { wikidata: trading, financedatabase: delisted }, BrandType.STOCK],
  ['the only listing has ended', { financedatabase: delisted }, BrandType.BRAND],
  [
    'a source states a stock whose trade is suspended',
    { mine: { ...delisted, type: BrandType.STOCK } },
    BrandType.STOCK,
  ],
  [
    'a source that is not curated states a brand',
    { mine: { type: BrandType.BRAND }, financedatabase: trading },
    BrandType.STOCK,
  ],
  [
    'a person states a brand',
    { sample: { type: BrandType.BRAND }, financedatabase: trading },
    BrandType.BRAND,
  ],
  ['a person states a stock', { sample: { ...delisted, type: BrandType.STOCK } }, BrandType.STOCK],
])('the type follows the evidence: %s', (_, statements, type) => {
  expect(built(statements).brand.type).toBe(type);
});

test('a person’s brand has no listings; a company that trades no more is still found by them', () => {
  expect(built({ sample: { type: BrandType.BRAND }, wikidata: trading }).brand.listings).toEqual([]);
  expect(built({ financedatabase: delisted }).brand.listings).toMatchObject([listing]);
});

test('an ISIN without a listing finds the company, whether one source knows the company or several', () => {
  const isin = 'JP3633400001';
  for (const statements of [{ feed: { stock: { isin } } }, { feed: { stock: { isin } }, wikidata: {} }]) {
    const { brand } = built(statements);
    expect(keysOfBrand(brand)).toContainEqual(expect.objectContaining({ key: `isin:${isin}`, value: isin }));
    expect(brand.type).toBe(BrandType.BRAND);
  }
});

test.each(['mine', 'sample', 'hand-written', 'simple-icons'])(
  'a table with three columns changes nothing that another source states, under the name %s',
  (source) => {
    const facts: Facts = {
      description: 'Toyota is a Japanese car maker.',
      rank: 900,
      listings: [listing],
      company: { industry: 'Auto Manufacturers', headquarters: { city: 'Toyota', country: 'Japan' } },
      stock: { isActivelyTrading: true, isin: 'JP3633400001' },
    };
    const { brand } = built({ financedatabase: facts });
    const table = { links: { websites: ['https://global.toyota/'] } };
    const merged = built({ financedatabase: facts, [source]: table }).brand;
    expect(merged).toEqual({ ...brand, links: merged.links });
    expect(merged.links?.websites).toEqual(table.links.websites);
  },
);

test.each<[string, Facts]>([
  ['a blank text', { description: ' ', category: '\t', company: { ceo: ' ' } }],
  ['an empty list', { company: { founders: [], keyPeople: [] }, names: [] }],
  [
    'a list of blank items',
    { company: { founders: [''], keyPeople: [{ name: ' ', role: '' }] }, names: [' '] },
  ],
  ['an empty group', { company: { headquarters: {} }, images: { logo: { big: {} } }, stock: {} }],
  ['the rank of an unknown company', { rank: 300 }],
])('a source says nothing by %s', (_, empty) => {
  const facts: Facts = {
    description: 'It makes cars.',
    category: 'cars',
    rank: 200,
    listings: [listing],
    company: { ceo: 'A', founders: ['B'], keyPeople: [{ name: 'C' }], headquarters: { city: 'Toyota' } },
    images: { logo: { big: { path: 'a.svg' } } },
    stock: { isin: 'JP3633400001' },
  };
  expect(built({ 'hand-written': empty, wikidata: facts }).brand).toEqual(built({ wikidata: facts }).brand);
});

test.each<[string, object, object, string]>([
  [
    'a country',
    { country: 'Japan' },
    { city: 'Toyota', country: 'Japan', latitude: 35 },
    'hand-written, wikidata',
  ],
  [
    'the city',
    { city: 'toyota' },
    { city: 'toyota', country: 'Japan', latitude: 35 },
    'hand-written, wikidata',
  ],
  [
    'another city',
    { city: 'Tokyo', country: 'Japan' },
    { city: 'Tokyo', latitude: undefined },
    'hand-written',
  ],
  ['another country', { country: 'China' }, { city: '', country: 'China' }, 'hand-written'],
])('a place is completed by a weaker source that means the same place: %s', (_, stated, place, sources) => {
  const weaker = { city: 'Toyota', country: 'Japan', countryCode: 'JP', latitude: 35, longitude: 137 };
  const { brand, fieldSources } = built({
    'hand-written': { company: { headquarters: stated } },
    wikidata: { company: { headquarters: weaker } },
  });
  expect(brand.company?.headquarters).toMatchObject(place);
  expect(fieldSources.get('company.headquarters')).toBe(sources);
});
