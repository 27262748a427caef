import { BrandType } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linkOf } from '../src/linkage/clustering.ts';
import { type Change, foundFromDoc, planChange } from '../src/linkage/plan.ts';
import { type Contribution, contributionOf, referenceOf } from '../src/records/source-record.ts';
import type { CatalogDoc } from '../src/storage/catalog-doc.ts';
import { brandOf, stockOf } from './running-catalog.ts';
import { SOURCES, someBrand } from './some-records.ts';

type Catalogue = Map<string, CatalogDoc>;

/** What happens to a catalogue: imports of some records, which may take back what else the source had, and deletions. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        source: fc.constantFrom(...SOURCES),
        brands: fc.uniqueArray(someBrand, { maxLength: 4, selector: ({ id }) => id }),
        prune: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ deleted: fc.nat(5) }) },
  ),
  { maxLength: 12 },
);

function carryOut(catalogue: Catalogue, change: Change, joining?: Parameters<typeof planChange>[2]) {
  const found = new Map([...catalogue].map(([id, doc]) => [id, foundFromDoc(doc)]));
  const plan = planChange(change, found, joining);
  for (const write of plan.writes.flat()) {
    if ('before' in write) catalogue.delete(write.before._id);
    if ('doc' in write) catalogue.set(write.doc._id, write.doc);
  }
  return plan;
}

/** Import ids sort by time. */
function idOf(run: number): string {
  return `run-${String(run).padStart(3, '0')}`;
}

function contents(catalogue: Catalogue) {
  return [...catalogue.values()]
    .map(({ revision, contributions, ...doc }) => ({ ...doc, contributions: contributions.map(referenceOf) }))
    .sort((a, b) => (a._id < b._id ? -1 : 1));
}

test('any order of imports, prunes and deletions gives the catalogue of what is left, put at once', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const catalogue: Catalogue = new Map();
      const left = new Map<string, Contribution>();
      for (const [run, step] of history.entries()) {
        if ('deleted' in step) {
          const doc = [...catalogue.values()][step.deleted];
          const gone = new Set(doc?.contributions.map(referenceOf));
          carryOut(catalogue, { puts: [], isRemoved: (held) => gone.has(referenceOf(held)) });
          for (const reference of gone) left.delete(reference);
          continue;
        }
        const { source, brands, prune } = step;
        const puts = brands.map((brand) => contributionOf(source, idOf(run), brand));
        carryOut(catalogue, { puts });
        for (const put of puts) left.set(referenceOf(put), put);
        if (!prune) continue;
        const isRemoved = (held: Contribution) => held.source === source && held.importId < idOf(run);
        carryOut(catalogue, { puts: [], isRemoved });
        for (const [reference, held] of left) if (isRemoved(held)) left.delete(reference);
      }
      const atOnce: Catalogue = new Map();
      carryOut(atOnce, { puts: [...left.values()] });
      expect(contents(catalogue)).toEqual(contents(atOnce));
    }),
    { numRuns: 500 },
  );
});

test('putting what is there already writes nothing', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SOURCES),
      fc.uniqueArray(someBrand, { selector: ({ id }) => id }),
      (source, brands) => {
        const catalogue: Catalogue = new Map();
        const puts = brands.map((brand) => contributionOf(source, 'run', brand));
        carryOut(catalogue, { puts });
        const { writes, outcomes } = carryOut(catalogue, { puts });
        expect(writes).toEqual([]);
        expect([...outcomes.values()]).toEqual(puts.map(() => 'unchanged'));
      },
    ),
  );
});

test('an identifier that two companies have is told, with the one that it leads to', () => {
  const catalogue: Catalogue = new Map();
  const put = (source: string, ...brands: Parameters<typeof contributionOf>[2][]) =>
    carryOut(catalogue, { puts: brands.map((brand) => contributionOf(source, 'run', brand)) }).conflicts;
  expect(put('sample', stockOf('acme', 'ACME@XNAS', { name: 'Acme', rank: 900 }))).toEqual([]);
  expect(put('feed', stockOf('globex', 'ACME@XNAS', { name: 'Globex', rank: 10 }))).toEqual([
    { reference: 'feed/globex', identifier: 'XNAS:ACME', otherId: 'acme', otherName: 'Acme', lost: true },
  ]);
  const isin = 'US0378331005';
  const of = (id: string, ticker: string, rank: number) =>
    stockOf(id, ticker, { name: id, rank, stock: { isin } });
  expect(put('feed', of('one', 'ONE@XNAS', 20), of('two', 'TWO@XNAS', 10))).toEqual([
    { reference: 'feed/one', identifier: isin, otherId: 'two', otherName: 'two', lost: false },
    { reference: 'feed/two', identifier: isin, otherId: 'one', otherName: 'one', lost: true },
  ]);
});

test('an id that a company has is refused to a superinvestor, as the two are not one', () => {
  const catalogue: Catalogue = new Map();
  carryOut(catalogue, { puts: [contributionOf('sample', 'run', brandOf('acme'))] });
  const before = contents(catalogue);
  const manager = brandOf('acme', { type: BrandType.SUPERINVESTOR, name: 'Ada' });
  const { outcomes } = carryOut(catalogue, { puts: [contributionOf('feed', 'run', manager)] });
  expect(outcomes.get('feed/acme')).toMatchObject({ refused: expect.stringContaining('"acme"') });
  expect(contents(catalogue)).toEqual(before);
});

test('what too many identifiers hold together is refused, and what is there stays', () => {
  const catalogue: Catalogue = new Map();
  const shared = { name: 'Acme', links: { wikidataQid: 'Q1' } };
  const first = Array.from({ length: 100 }, (_, index) => brandOf(`acme-${index}`, shared));
  carryOut(catalogue, { puts: first.map((brand) => contributionOf('feed', 'run', brand)) });
  const before = contents(catalogue);
  const { outcomes } = carryOut(catalogue, {
    puts: [contributionOf('sample', 'run', brandOf('acme', shared))],
  });
  expect(outcomes.get('sample/acme')).toMatchObject({ refused: expect.stringContaining('more than 100') });
  expect(contents(catalogue)).toEqual(before);
});

test.each([
  ['web host', { domains: ['shops.com'] }],
  ['name, in one country', { name: 'Acme', company: { headquarters: { countryCode: 'US', city: '' } } }],
  ['listing', { type: BrandType.STOCK, listings: [{ ticker: 'ACME', mic: 'XNAS' }] }],
])('of thousands that share one %s only those are compared that may be one company', (_, shared) => {
  const catalogue: Catalogue = new Map();
  const of = (source: string, count: number, offset: number) =>
    Array.from({ length: count }, (_, index) => {
      const number = String(index + offset);
      const own = 'name' in shared ? { ...shared.company.headquarters, city: `City ${number}` } : undefined;
      return contributionOf(
        source,
        'run',
        brandOf(`${source}-${number}`, {
          name: `Shop ${number}`,
          ...shared,
          ...(own === undefined ? {} : { company: { headquarters: own } }),
        }),
      );
    });
  carryOut(catalogue, { puts: of('feed', 3_000, 0) });
  let compared = 0;
  const link = (a: Contribution, b: Contribution) => {
    compared++;
    return linkOf(a, b);
  };
  // Of 1,500 five hundred are there already.
  carryOut(catalogue, { puts: of('wikidata', 1_500, 2_500) }, { link });
  expect(catalogue.size).toBe(4_000);
  expect(compared).toBeLessThan(5_000);
});

test('an import that was overtaken does not make what a newer one brought look old', () => {
  const catalogue: Catalogue = new Map();
  const put = (importId: string, rank: number) =>
    carryOut(catalogue, { puts: [contributionOf('feed', importId, brandOf('acme', { rank }))] });
  put('2026-11-20T10:00:00.000Z-b', 1);
  put('2026-11-20T09:00:00.000Z-a', 2);
  const mark = () => catalogue.get('acme')?.contributions[0]?.importId;
  expect(mark()).toBe('2026-11-20T10:00:00.000Z-b');
  put('2026-11-20T11:00:00.000Z-c', 2);
  expect(mark()).toBe('2026-11-20T11:00:00.000Z-c');
});
