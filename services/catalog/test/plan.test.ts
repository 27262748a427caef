import { type Brand, BrandType } from '@brand-data/contracts';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linkOf } from '../src/linkage/clustering.ts';
import {
  type Change,
  type LinkageOptions,
  linkedGroups,
  type StoredCompany,
  storedCompanyFromDoc,
} from '../src/linkage/linked-groups.ts';
import { type Plan, planChange } from '../src/linkage/plan.ts';
import type { CatalogDoc } from '../src/records/catalog-doc.ts';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../src/records/source-record.ts';
import { stockOf } from './running-catalog.ts';
import { factsOf, SOURCES, someBrand } from './some-records.ts';

type Catalogue = Map<string, CatalogDoc>;

/** A catalogue's history: imports, which may prune the source's other records, and deletions. */
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

function apply(catalogue: Catalogue, change: Change, options?: LinkageOptions): Plan {
  const stored = new Map([...catalogue].map(([id, doc]) => [id, storedCompanyFromDoc(doc)]));
  const plan = planOf(change, stored, options);
  for (const write of plan.writes.flat()) {
    if ('before' in write) catalogue.delete(write.before._id);
    if ('doc' in write) catalogue.set(write.doc._id, write.doc);
  }
  return plan;
}

function planOf(
  change: Change,
  stored: ReadonlyMap<string, StoredCompany>,
  options: LinkageOptions | undefined,
): Plan {
  const steps = planChange(change, stored, linkedGroups(change, stored.values(), options), options);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** Import ids sort by time. */
function idOf(run: number): string {
  return `run-${String(run).padStart(3, '0')}`;
}

/** Returns the companies without their ids, which depend on the catalogue's history. */
function contents(catalogue: Catalogue) {
  return [...catalogue.values()]
    .map(factsOf)
    .sort((a, b) => (String(a.contributions) < String(b.contributions) ? -1 : 1));
}

test('after any order of imports, prunes and deletions the catalogue is as if the remaining records were put at once', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const catalogue: Catalogue = new Map();
      const left = new Map<string, SourceRecord>();
      for (const [run, step] of history.entries()) {
        if ('deleted' in step) {
          const doc = [...catalogue.values()][step.deleted];
          const gone = new Set(doc?.contributions.map(referenceOf));
          apply(catalogue, { puts: [], isRemoved: (record) => gone.has(referenceOf(record)) });
          for (const reference of gone) left.delete(reference);
          continue;
        }
        const { source, brands, prune } = step;
        const puts = brands.map((brand) => sourceRecordOf(source, idOf(run), brand));
        apply(catalogue, { puts });
        for (const put of puts) left.set(referenceOf(put), put);
        if (!prune) continue;
        const isRemoved = (record: SourceRecord) => record.source === source && record.importId < idOf(run);
        apply(catalogue, { puts: [], isRemoved });
        for (const [reference, record] of left) if (isRemoved(record)) left.delete(reference);
      }
      const atOnce: Catalogue = new Map();
      apply(atOnce, { puts: [...left.values()] });
      expect(contents(catalogue)).toEqual(contents(atOnce));
    }),
    { numRuns: 500 },
  );
});

test('records that are only to join are stored as if those that no other source joins had not been put', () => {
  const batch = fc.uniqueArray(someBrand, { maxLength: 6, selector: ({ id }) => id });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...SOURCES), batch), { maxLength: 5 }),
      fc.constantFrom(...SOURCES),
      batch,
      (history, source, brands) => {
        const catalogue: Catalogue = new Map();
        const expected: Catalogue = new Map();
        for (const each of [catalogue, expected])
          for (const [run, [from, put]] of history.entries())
            apply(each, { puts: put.map((brand) => sourceRecordOf(from, idOf(run), brand)) });
        const puts = brands.map((brand) => sourceRecordOf(source, 'last', brand));
        const { outcomes } = apply(catalogue, { puts, onlyJoining: true });
        const joining = puts.filter((put) => outcomes.get(referenceOf(put)) !== 'alone');
        apply(expected, { puts: joining });
        expect(contents(catalogue)).toEqual(contents(expected));
        const ofRun = [...catalogue.values()].filter(({ contributions }) =>
          contributions.some(({ importId }) => importId === 'last'),
        );
        for (const { _id, contributions } of ofRun)
          expect(
            _id.startsWith('security:') || new Set(contributions.map((each) => each.source)).size > 1,
          ).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test('a record with namesakes that its source does not bring joins by a second fact only, and keeps its place when it is left alone', () => {
  const catalogue: Catalogue = new Map();
  const headquarters = { countryCode: 'DE', city: 'Bonn' };
  const put = (source: string, brand: Brand, onlyJoining = false) => [
    ...apply(catalogue, { puts: [sourceRecordOf(source, 'run', brand)], onlyJoining }).outcomes.values(),
  ];
  const elsewhere = { company: { headquarters: { countryCode: 'DE', city: 'Kiel' } } };
  put('wikidata', brandOf('q1', { name: 'Acme GmbH', company: { headquarters } }));
  expect(
    put('gleif', brandOf('lei-1', { name: 'Acme GmbH', hasNamesakes: true, ...elsewhere }), true),
  ).toEqual(['alone']);
  expect(
    put(
      'gleif',
      brandOf('lei-2', { name: 'Acme GmbH', hasNamesakes: true, company: { headquarters } }),
      true,
    ),
  ).toEqual(['changed']);
  const brand = brandOf('lei-2', { name: 'Acme GmbH', hasNamesakes: true, company: { headquarters } });
  apply(catalogue, { puts: [], isRemoved: ({ source }) => source === 'wikidata' });
  expect(put('gleif', brand, true)).toEqual(['alone']);
  expect(put('gleif', brand)).toEqual(['unchanged']);
});

test('putting stored records again writes nothing', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SOURCES),
      fc.uniqueArray(someBrand, { selector: ({ id }) => id }),
      (source, brands) => {
        const catalogue: Catalogue = new Map();
        const puts = brands.map((brand) => sourceRecordOf(source, 'run', brand));
        apply(catalogue, { puts });
        const { writes, outcomes } = apply(catalogue, { puts });
        expect(writes).toEqual([]);
        expect([...outcomes.values()]).toEqual(puts.map(() => 'unchanged'));
      },
    ),
  );
});

test('an identifier that two companies have is reported as a conflict, with the company that it leads to', () => {
  const catalogue: Catalogue = new Map();
  const put = (source: string, ...brands: Parameters<typeof sourceRecordOf>[2][]) =>
    apply(catalogue, { puts: brands.map((brand) => sourceRecordOf(source, 'run', brand)) }).conflicts;
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

/** Puts a source's brands and returns the ids of all companies, with the references of their source records. */
function put(catalogue: Catalogue, source: string, brands: Brand[], options?: LinkageOptions) {
  const puts = brands.map((brand) => sourceRecordOf(source, 'run', brand));
  const { outcomes } = apply(catalogue, { puts }, options);
  expect([...outcomes.values()].filter((outcome) => typeof outcome === 'object')).toEqual([]);
  return idsIn(catalogue);
}

function idsIn(catalogue: Catalogue): Record<string, string[]> {
  return Object.fromEntries(
    [...catalogue.values()].map(({ _id, contributions }) => [_id, contributions.map(referenceOf)]),
  );
}

const linked = (qid: string) => ({ name: 'Acme', links: { wikidataQid: qid } });

test('a company keeps its id when a stronger source, or a founder with another id, joins it', () => {
  const catalogue: Catalogue = new Map();
  put(catalogue, 'financedatabase', [brandOf('figi-1', linked('Q1'))]);
  expect(put(catalogue, 'hand-written', [brandOf('acme', linked('Q1'))])).toEqual({
    'figi-1': ['hand-written/acme', 'financedatabase/figi-1'],
  });
  apply(catalogue, { puts: [], isRemoved: ({ source }) => source === 'financedatabase' });
  expect(idsIn(catalogue)).toEqual({ acme: ['hand-written/acme'] });
});

test('when companies are joined, the id of the company with the strongest source record stays', () => {
  const catalogue: Catalogue = new Map();
  put(catalogue, 'financedatabase', [brandOf('figi-1', linked('Q1'))]);
  put(catalogue, 'feed', [brandOf('acme')]);
  const lei = '529900T8BM49AURSDO55';
  put(catalogue, 'feed', [brandOf('acme', { ...linked(''), lei })]);
  expect(put(catalogue, 'sample', [brandOf('both', { ...linked('Q1'), lei })])).toEqual({
    acme: ['sample/both', 'feed/acme', 'financedatabase/figi-1'],
  });
});

test('when a company splits, its id goes with the source record that has it', () => {
  const catalogue: Catalogue = new Map();
  put(catalogue, 'financedatabase', [brandOf('figi-1', linked('Q1'))]);
  put(catalogue, 'feed', [brandOf('acme', linked('Q1'))]);
  expect(put(catalogue, 'feed', [brandOf('acme', linked('Q2'))])).toEqual({
    'figi-1': ['financedatabase/figi-1'],
    acme: ['feed/acme'],
  });
});

test('a company whose id another company has gets an id of its own, and neither id moves', () => {
  const catalogue: Catalogue = new Map();
  put(catalogue, 'sample', [brandOf('acme')]);
  const manager = brandOf('acme', { type: BrandType.SUPERINVESTOR, name: 'Ada' });
  const ids = { acme: ['sample/acme'], 'feed--acme': ['feed/acme'] };
  expect(put(catalogue, 'feed', [manager])).toEqual(ids);
  expect(put(catalogue, 'feed', [manager])).toEqual(ids);
  expect(put(catalogue, 'sample', [brandOf('acme', { rank: 7 })])).toEqual(ids);
  expect(put(catalogue, 'wikidata', [brandOf('acme')])).toEqual({
    ...ids,
    acme: ['sample/acme', 'wikidata/acme'],
  });
});

test('a new company does not take the id by which a source record of another company is found', () => {
  const catalogue: Catalogue = new Map();
  put(catalogue, 'financedatabase', [brandOf('figi-1', linked('Q1'))]);
  put(catalogue, 'sample', [brandOf('acme', linked('Q1'))]);
  const options = { linkOf: () => ({ strength: 0, strengthIfUnique: 0, isFirm: false }) };
  const ids = put(catalogue, 'feed', [brandOf('acme', { name: 'Another' })], options);
  expect(Object.keys(ids)).toEqual(expect.arrayContaining(['feed--acme']));
  expect(ids['feed--acme']).toEqual(['feed/acme']);
});

test('no import moves the id of a source record’s company', () => {
  const company = someBrand.filter(({ type }) => type !== BrandType.OTHER_SECURITY);
  const imports = fc.array(
    fc.record({
      source: fc.constantFrom(...SOURCES),
      brands: fc.uniqueArray(company, { maxLength: 4, selector: ({ id }) => id }),
      isIdAFact: fc.boolean(),
    }),
    { maxLength: 10 },
  );
  fc.assert(
    fc.property(imports, (history) => {
      const catalogue: Catalogue = new Map();
      for (const { source, brands, isIdAFact } of history) {
        const before = idsIn(catalogue);
        const link = (a: SourceRecord, b: SourceRecord) =>
          isIdAFact || a.id !== b.id ? linkOf(a, b) : { strength: 0, strengthIfUnique: 0, isFirm: false };
        const after = put(catalogue, source, brands, { linkOf: link });
        for (const [id, references] of Object.entries(before)) {
          const own = references.filter((reference) =>
            [reference.split('/')[1], reference.replace('/', '--')].includes(id),
          );
          expect(own).not.toEqual([]);
          if (after[id] !== undefined) {
            expect(own.some((reference) => after[id]?.includes(reference))).toBe(true);
            continue;
          }
          // The company was joined with another one, and has that company's id.
          const [joined] = Object.entries(after).find(([, all]) => all.includes(own[0] ?? '')) ?? [];
          expect(Object.keys(before)).toContain(joined);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('the ids of companies do not depend on the order in which companies are read or records are put', () => {
  const someImports = fc.array(
    fc.tuple(
      fc.constantFrom(...SOURCES),
      fc.uniqueArray(someBrand, { maxLength: 4, selector: ({ id }) => id }),
    ),
    { maxLength: 8 },
  );
  const reversed = (catalogue: Catalogue): Catalogue => new Map([...catalogue].toReversed());
  fc.assert(
    fc.property(someImports, (history) => {
      const catalogue: Catalogue = new Map();
      for (const [source, brands] of history) {
        const other = reversed(catalogue);
        put(catalogue, source, brands);
        put(other, source, brands.toReversed());
        expect(idsIn(other)).toEqual(idsIn(catalogue));
      }
    }),
    { numRuns: 300 },
  );
});

test('a record that would link more than 100 other records is refused, and stored records stay', () => {
  const catalogue: Catalogue = new Map();
  const shared = { name: 'Acme', links: { wikidataQid: 'Q1' } };
  const first = Array.from({ length: 100 }, (_, index) => brandOf(`acme-${index}`, shared));
  apply(catalogue, { puts: first.map((brand) => sourceRecordOf('feed', 'run', brand)) });
  const before = contents(catalogue);
  const { outcomes } = apply(catalogue, {
    puts: [sourceRecordOf('sample', 'run', brandOf('acme', shared))],
  });
  expect(outcomes.get('sample/acme')).toMatchObject({ refused: expect.stringContaining('more than 100') });
  expect(contents(catalogue)).toEqual(before);
});

const shop = (id: string, city: string, name = 'Subway') =>
  brandOf(id, { name, company: { headquarters: { countryCode: 'US', city } } });
const shops = (count: number, nameOf = (_: number) => 'Subway') =>
  Array.from({ length: count }, (_, index) => shop(`shop-${index}`, `City ${index}`, nameOf(index)));

test('records that make a name common are stored, however many come at once', () => {
  const catalogueOf = (batchSize: number) => {
    const catalogue: Catalogue = new Map();
    put(catalogue, 'sample', [shop('subway', 'Milford')]);
    for (let at = 0; at < 120; at += batchSize) put(catalogue, 'feed', shops(120).slice(at, at + batchSize));
    return catalogue;
  };
  expect(catalogueOf(120).size).toBe(121);
  expect(contents(catalogueOf(120))).toEqual(contents(catalogueOf(50)));
});

test('records that lose a common name are stored, however many come at once', () => {
  const catalogue: Catalogue = new Map();
  put(catalogue, 'sample', [shop('subway', 'Milford')]);
  for (const batch of [shops(50), shops(120)]) put(catalogue, 'feed', batch);
  put(
    catalogue,
    'feed',
    shops(120, (index) => `Shop ${index}`),
  );
  expect(catalogue.size).toBe(121);
});

test('a link that rests on a name lasts while the name is not common', () => {
  const catalogue: Catalogue = new Map();
  const joined = ['sample/subway', 'wikidata/q1'];
  put(catalogue, 'sample', [shop('subway', 'Milford')]);
  expect(put(catalogue, 'wikidata', [shop('q1', 'Miami')])).toEqual({ subway: joined });
  const apart = { subway: ['sample/subway'], q1: ['wikidata/q1'] };
  expect(put(catalogue, 'feed', shops(120))).toMatchObject(apart);
  apply(catalogue, { puts: [], isRemoved: ({ source }) => source === 'feed' });
  expect(Object.values(idsIn(catalogue))).toEqual([joined]);
});

test.each([
  ['web host', { domains: ['shops.com'] }],
  ['name, in one country', { name: 'Acme', company: { headquarters: { countryCode: 'US', city: '' } } }],
  ['listing', { type: BrandType.STOCK, listings: [{ ticker: 'ACME', mic: 'XNAS' }] }],
])('if thousands of records share one %s, only possible matches are compared', (_, shared) => {
  const catalogue: Catalogue = new Map();
  const of = (source: string, count: number, offset: number) =>
    Array.from({ length: count }, (_, index) => {
      const number = String(index + offset);
      const own = 'name' in shared ? { ...shared.company.headquarters, city: `City ${number}` } : undefined;
      return sourceRecordOf(
        source,
        'run',
        brandOf(`${source}-${number}`, {
          name: `${number} Shop`,
          ...shared,
          ...(own === undefined ? {} : { company: { headquarters: own } }),
        }),
      );
    });
  apply(catalogue, { puts: of('feed', 3_000, 0) });
  let compared = 0;
  const counting = (a: SourceRecord, b: SourceRecord) => {
    compared++;
    return linkOf(a, b);
  };
  // 500 of these 1,500 companies are stored already.
  apply(catalogue, { puts: of('wikidata', 1_500, 2_500) }, { linkOf: counting });
  expect(catalogue.size).toBe(4_000);
  expect(compared).toBeLessThan(5_000);
});

test('a late batch of an older import does not make records of a newer import look old', () => {
  const catalogue: Catalogue = new Map();
  const put = (importId: string, rank: number) =>
    apply(catalogue, { puts: [sourceRecordOf('feed', importId, brandOf('acme', { rank }))] });
  put('2026-11-20T10:00:00.000Z-b', 1);
  put('2026-11-20T09:00:00.000Z-a', 2);
  const mark = () => catalogue.get('acme')?.contributions[0]?.importId;
  expect(mark()).toBe('2026-11-20T10:00:00.000Z-b');
  put('2026-11-20T11:00:00.000Z-c', 2);
  expect(mark()).toBe('2026-11-20T11:00:00.000Z-c');
});
