import { hash } from 'node:crypto';
import { Brand, BrandType } from '@brand-data/contracts';
import { MemoryCatalogue } from '@brand-data/test/quality/memory-catalogue.ts';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerOf, byEntry, candidateFinder, readQueries } from '../src/lookup/answers.ts';
import { sourceRecordOf } from '../src/records/source-record.ts';
import { catalogueDatabases } from './catalogue-databases.ts';
import { factsOf, someBrand, someListings } from './some-records.ts';

const open = catalogueDatabases();

const NAMES = ['sample', 'feed', 'wikidata', 'financedatabase'];
const IDENTIFIERS = ['Acme', 'Acme Inc.', 'Globex', 'Initech', 'ACME', 'GLBX', 'XETR:ACME', 'acme.com'];
const ISINS = ['US0378331005', 'GB0002634946', 'CH0038863350'];

interface Imported {
  readonly source: string;
  readonly brands: readonly Brand[];
}

/** The brands of each source. Many have equal ranks. */
const imports: fc.Arbitrary<Imported[]> = fc
  .tuple(...NAMES.map(() => fc.uniqueArray(someBrand, { maxLength: 4, selector: ({ id }) => id })))
  .map((all) => all.map((brands, index) => ({ source: NAMES[index] ?? '', brands })));

/** A person decided a type without listings, so the listing by which another source's record is linked is hidden. */
const hiddenListing: Imported[] = [
  { source: 'sample', brands: [brandOf('acme', { name: 'Globex', type: BrandType.BRAND })] },
  { source: 'feed', brands: [listed('acme', 'Globex AG')] },
  { source: 'financedatabase', brands: [listed('q2', 'Acme')] },
];

function listed(id: string, name: string): Brand {
  const listings = [{ ticker: 'GLBX', mic: 'XNAS', isin: 'US0378331005' }];
  return brandOf(id, { name, type: BrandType.UNSPECIFIED, rank: 0, listings });
}

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item) =>
    ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

function bySource<T extends { contributions: string[] }>(facts: T[]): T[] {
  return facts.sort((a, b) => (String(a.contributions) < String(b.contributions) ? -1 : 1));
}

const withoutId = (meanings: readonly { brand: Brand; match: object }[]) =>
  meanings.map(({ brand, match }) => ({ match, brand: { ...brand, id: '' } }));

test('every order of imports gives the same records and the same answers', async () => {
  await fc.assert(
    fc.asyncProperty(imports, async (all) => {
      let expected: unknown;
      for (const order of ordersOf(all)) {
        const catalogue = new MemoryCatalogue();
        for (const { source, brands } of order) await catalogue.put(source, brands);
        const records = bySource([...catalogue.docs()].map(factsOf));
        const answers = [...IDENTIFIERS, ...ISINS].map((identifier) =>
          withoutId(catalogue.resolve(identifier, { most: 20 })),
        );
        expected ??= { records, answers };
        expect({ records, answers }).toEqual(expected);
      }
    }),
    { numRuns: 20, examples: [[hiddenListing]] },
  );
});

test('however the listings of one source are split into imports, and in whatever order, they give the same companies', async () => {
  await fc.assert(
    fc.asyncProperty(someListings, fc.infiniteStream(fc.nat(2)), async (listings, folders) => {
      const whole = new MemoryCatalogue();
      await whole.put('financedatabase', listings);
      const split = new MemoryCatalogue();
      const byFolder = Map.groupBy(listings.toReversed(), () => folders.next().value);
      for (const folder of byFolder.values()) await split.put('financedatabase', folder);
      const companiesIn = (catalogue: MemoryCatalogue) => bySource([...catalogue.docs()].map(factsOf));
      expect(companiesIn(split)).toEqual(companiesIn(whole));
    }),
    { numRuns: 200 },
  );
});

test('every order of imports into a database gives the same records and the same answers', async () => {
  const { companies, store } = await open();
  const queries = readQueries(
    [...IDENTIFIERS, ...ISINS].map((identifier) => ({ identifier, superinvestors: true })),
  );
  const entries = [...new Set(queries.flatMap((query) => query.entries))];
  await fc.assert(
    fc.asyncProperty(imports, async (all) => {
      let expected: unknown;
      for (const order of ordersOf(all.slice(0, 3))) {
        await companies.deleteMany({});
        for (const { source, brands } of order) {
          const puts = brands.map((brand) => sourceRecordOf(source, 'run', brand));
          await store.putSourceRecords(source, puts, { dryRun: false });
        }
        const records = bySource((await companies.find().toArray()).map(factsOf));
        const candidates = byEntry(await candidateFinder(companies)(entries, { perEntry: 20 }));
        const answers = queries.map((query) => withoutId(answerOf(query, candidates, 20).meanings));
        expected ??= { records, answers };
        expect({ records, answers }).toEqual(expected);
      }
    }),
    { numRuns: 8, examples: [[hiddenListing]] },
  );
});

test('companies of equal rank are answered in the same order, whatever ids their history gave them', async () => {
  const twin = (id: string) => Brand.fromPartial({ id, name: 'Acme', type: BrandType.BRAND, rank: 500 });
  const answersOf = async (...sources: string[]) => {
    const catalogue = new MemoryCatalogue();
    // The manager takes the id from the company that comes second.
    for (const source of sources) {
      const manager = Brand.fromPartial({ id: 'acme', name: 'Ada', type: BrandType.SUPERINVESTOR });
      await catalogue.put(source, source === 'sample' ? [manager] : [twin('acme'), twin('b')]);
    }
    return catalogue.resolve('acme', { most: 9 }).map(({ brand }) => brand.id.replace('feed--', ''));
  };
  expect(await answersOf('sample', 'feed')).toEqual(await answersOf('feed', 'sample'));
});

test('an ISIN of another company in one listing finds only the company that has it, and still links', async () => {
  const merckOf = (id: string, ticker: string, mic: string, isin: string) =>
    brandOf(id, {
      name: 'Merck & Co., Inc.',
      type: BrandType.STOCK,
      company: { headquarters: { city: 'Rahway', country: 'United States', countryCode: 'US' } },
      listings: [{ ticker, mic, isin }],
    });
  const isin = 'DE0006599905';
  const catalogue = new MemoryCatalogue();
  const ids = () => catalogue.resolve(isin, { most: 9 }).map(({ brand }) => brand.id);
  await catalogue.put('financedatabase', [
    merckOf('xnys-mrk', 'MRK', 'XNYS', 'US58933Y1055'),
    merckOf('xbue-mrk', 'MRK', 'XBUE', 'US58933Y1055'),
    merckOf('xbue-mrkd', 'MRKD', 'XBUE', isin),
  ]);
  expect([...catalogue.docs()].map(({ contributions }) => contributions.length)).toEqual([3]);
  expect(ids()).toEqual([]);
  await catalogue.put('feed', [
    brandOf('mrkd', {
      name: 'Merck & Co.',
      type: BrandType.STOCK,
      listings: [{ ticker: '6MK', mic: 'XDUS' }],
      stock: { isin },
    }),
  ]);
  expect([...catalogue.docs()].map(({ contributions }) => contributions.length)).toEqual([4]);
  await catalogue.put('feed', [
    brandOf('kgaa', {
      name: 'Merck KGaA',
      type: BrandType.STOCK,
      company: { headquarters: { city: 'Darmstadt', country: 'Germany', countryCode: 'DE' } },
      listings: [{ ticker: 'MRK', mic: 'XETR', isin }],
    }),
  ]);
  expect(ids()).toContain('kgaa');
});

test('of a file with one ISIN in every row, rows of one name are refused, and rows of other names are compared with few others', async () => {
  const importOf = async (nameOf: (index: number) => string) => {
    const rows = Array.from({ length: 1_000 }, (_, index) =>
      brandOf(`row-${index}`, {
        name: nameOf(index),
        type: BrandType.STOCK,
        listings: [{ ticker: `A${index}`, mic: 'XFRA', isin: 'US0378331005' }],
      }),
    );
    return new MemoryCatalogue().put('financedatabase', rows);
  };
  const { refused } = await importOf(() => 'Acme Inc.');
  expect(refused).toHaveLength(1_000);
  expect(refused[0]?.reason).toContain('correct the identifiers that are not its own');
  const others = await importOf((index) => hash('sha256', String(index)).slice(0, 12));
  expect(others).toMatchObject({ created: 1_000, refused: [] });
  // Later rows meet no earlier ones, because the ISIN is hot by then.
  expect(new Set(others.refusedLinks.map(({ reference }) => reference)).size).toBe(500);
});
