import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BrandDoc, brandToDoc, catalogDoc } from '../src/catalog-doc.ts';
import { mergeContributions } from '../src/merge.ts';
import { brandOf } from './running-catalog.ts';

const word = fc.constantFrom('Acme', 'Acme Inc.', 'Globex', 'Initech', '');
const words = fc.array(word, { maxLength: 3 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const picture = fc.record({ path: fc.constantFrom('a.svg', 'b.svg'), width: maybe(fc.nat(9)) });

const contribution = fc
  .record({
    name: word,
    description: word,
    rank: fc.nat(1_000),
    names: words,
    domains: fc.array(fc.constantFrom('acme.com', 'acme.org'), { maxLength: 2 }),
    listings: fc.array(
      fc.record({ ticker: fc.constantFrom('ACME', 'ACM'), mic: fc.constant('XNAS'), primary: fc.boolean() }),
      { maxLength: 2 },
    ),
    company: maybe(
      fc.record({
        ceo: word,
        founders: words,
        headquarters: maybe(fc.record({ city: word, latitude: maybe(fc.constant(1)) })),
      }),
    ),
    images: maybe(fc.record({ logo: maybe(fc.record({ big: maybe(picture), small: maybe(picture) })) })),
    stock: maybe(fc.record({ isin: word, currency: word, price: maybe(fc.nat(9)) })),
    sources: fc.array(fc.record({ name: word }), { maxLength: 2 }),
  })
  .map((fields) => brandToDoc(brandOf('acme', fields)));

const contributions = fc.dictionary(
  fc.constantFrom('sample', 'hand-written', 'simple-icons', 'feed', 'archive', 'zoo'),
  contribution,
  { minKeys: 1 },
);

const STRENGTH = ['hand-written', 'sample', 'archive', 'feed', 'zoo', 'simple-icons'];
const strongestFirst = (bySource: Record<string, BrandDoc>) =>
  STRENGTH.flatMap((source) => bySource[source] ?? []);

test('the order in which sources contributed has no influence on a record', () => {
  fc.assert(
    fc.property(contributions, fc.infiniteStream(fc.nat()), (bySource, numbers) => {
      const shuffled = Object.entries(bySource)
        .map((entry) => ({ entry, place: numbers.next().value }))
        .sort((a, b) => a.place - b.place)
        .map(({ entry: [source, brand] }) => [source, { importId: String(numbers.next().value), brand }]);
      const inOrder = Object.entries(bySource).map(([source, brand]) => [source, { importId: '', brand }]);
      const { contributions: _, ...one } = catalogDoc('acme', Object.fromEntries(inOrder));
      const { contributions: __, ...other } = catalogDoc('acme', Object.fromEntries(shuffled));
      expect(JSON.stringify(other)).toBe(JSON.stringify(one));
    }),
  );
});

test('each field is that of the strongest source with data, hand-written before simple-icons', () => {
  fc.assert(
    fc.property(contributions, (bySource) => {
      const merged = mergeContributions(bySource);
      const brands = strongestFirst(bySource);
      const first = <T>(read: (brand: BrandDoc) => T | undefined) =>
        brands.map(read).find((value) => value !== undefined);
      expect(merged.name).toEqual(first(({ name }) => name));
      expect(merged.rank).toEqual(first(({ rank }) => rank));
      expect(merged.company?.ceo).toEqual(first(({ company }) => company?.ceo));
      expect(merged.company?.founders).toEqual(first(({ company }) => company?.founders));
      expect(merged.stock?.isin).toEqual(first(({ stock }) => stock?.isin));
    }),
  );
});

test('what means something only together is from one source: a place, a picture, a price and its currency', () => {
  fc.assert(
    fc.property(contributions, (bySource) => {
      const merged = mergeContributions(bySource);
      const brands = strongestFirst(bySource);
      expect(merged.company?.headquarters).toEqual(
        brands.find(({ company }) => company?.headquarters)?.company?.headquarters,
      );
      expect(merged.images?.logo).toEqual(brands.find(({ images }) => images?.logo)?.images?.logo);
      const quoting = brands.find(({ stock }) => stock?.price !== undefined);
      if (quoting === undefined) return;
      expect(merged.stock?.price).toBe(quoting.stock?.price);
      expect(merged.stock?.currency).toBe(quoting.stock?.currency);
    }),
  );
});

test('names, domains, listings and sources of all sources are kept, each once, strongest first', () => {
  fc.assert(
    fc.property(contributions, (bySource) => {
      const merged = mergeContributions(bySource);
      const brands = strongestFirst(bySource);
      const names = [merged.name, ...(merged.names ?? [])].filter((name) => name !== undefined);
      expect(names).toEqual([...new Set(names)]);
      expect(new Set(names)).toEqual(
        new Set(brands.flatMap(({ name, names }) => [...(name ? [name] : []), ...(names ?? [])])),
      );
      expect(merged.domains ?? []).toEqual([...new Set(brands.flatMap(({ domains }) => domains ?? []))]);
      const tickers = (brand: BrandDoc) => (brand.listings ?? []).map(({ ticker }) => ticker);
      expect(tickers(merged)).toEqual([...new Set(brands.flatMap(tickers))]);
      const sources = (brand: BrandDoc) => (brand.sources ?? []).map(({ name }) => name);
      expect(sources(merged)).toEqual([...new Set(brands.flatMap(sources))]);
    }),
  );
});

test('a record of one source is that source’s', () => {
  fc.assert(
    fc.property(contribution, (brand) => {
      const { names, domains, listings, sources, ...rest } = mergeContributions({ feed: brand });
      expect(brand).toMatchObject(rest);
      expect({ ...rest, names, domains, listings, sources }).toEqual({
        ...brand,
        names,
        domains,
        listings,
        sources,
      });
    }),
  );
});
