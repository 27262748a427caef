import { BrandType } from '@brand-data/contracts';
import { fieldOf } from '@brand-data/records';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_LINKED } from '../src/linkage/linked-groups.ts';
import { isWaiting, LINK_ONLY } from '../src/records/catalog-doc.ts';
import { atOnce, brandOfValue, Catalogue } from './planned-catalogue.ts';
import { stockOf } from './running-catalog.ts';
import { SOURCES, someBrand } from './some-records.ts';

const someValue = fc.constantFrom<[field: string, value: unknown]>(
  ['name', 'Globex International'],
  ['description', 'Set by hand.'],
  ['description', undefined],
  ['type', 'brand'],
  ['rank', 7],
  ['names', ['Acme', 'Acme Works']],
  ['names', undefined],
  ['domains', ['acme.org']],
  ['domains', undefined],
  ['company.ceo', 'Ada'],
  ['company.headquarters', { city: 'Paris', country_code: 'FR' }],
  ['company.headquarters', undefined],
  ['company.headquarters.city', 'Paris'],
  ['links.websites', ['https://acme.example/']],
  ['links.wikidata_qid', 'Q2'],
  ['links.wikidata_qid', undefined],
  ['lei', undefined],
  ['suppressed', undefined],
);

/** A catalogue's history: imports, which may prune the source's other records, and fields that are set and unset. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        source: fc.constantFrom(...SOURCES),
        brands: fc.uniqueArray(someBrand, { maxLength: 4, selector: ({ id }) => id }),
        prune: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ company: fc.nat(5), set: someValue }) },
    { weight: 1, arbitrary: fc.record({ company: fc.nat(5), unset: someValue }) },
  ),
  { maxLength: 14 },
);
type Step = typeof steps extends fc.Arbitrary<(infer Item)[]> ? Item : never;

function lived(history: readonly Step[], beforeStep: (catalogue: Catalogue, step: Step) => void = () => {}) {
  const catalogue = new Catalogue();
  for (const [run, step] of history.entries()) {
    beforeStep(catalogue, step);
    const importId = `run-${String(run).padStart(3, '0')}`;
    if ('source' in step) {
      const { source, brands, prune } = step;
      catalogue.put(source, brands, importId);
      if (prune)
        catalogue.apply({
          puts: [],
          isRemoved: (record) => record.source === source && record.importId < importId,
        });
      continue;
    }
    const ids = [...catalogue.docs.keys()];
    const id = ids[step.company % Math.max(1, ids.length)] ?? 'acme';
    if ('set' in step) catalogue.set(id, ...step.set);
    else catalogue.unset(id, step.unset[0]);
  }
  return catalogue;
}

test('after any order of imports, prunes and edits the catalogue is as if all records and overrides were put at once', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const catalogue = lived(history);
      expect(catalogue.contentsWithoutIds).toEqual(atOnce(catalogue).contentsWithoutIds);
    }),
    { numRuns: 200 },
  );
});

test('a catalogue whose overrides are all unset is byte for byte the one without overrides', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const catalogue = lived(history);
      const withOverrides = () => catalogue.records.filter(({ overrides }) => overrides !== undefined);
      const unsetAll = () => {
        for (const { id, overrides } of withOverrides())
          for (const { field } of overrides?.overrides ?? []) {
            const holder = [...catalogue.stored.values()].find(({ records }) =>
              records.some((one) => one.id === id),
            );
            const waitingFor = holder?.records[0]?.brand.id ?? '';
            catalogue.unset(holder && !isWaiting(holder.doc) ? holder.doc._id : waitingFor, field);
          }
      };
      // A company and an override that waits for its return may have the same id. The company's override is unset first.
      for (let before = Number.POSITIVE_INFINITY; withOverrides().length < before; ) {
        before = withOverrides().length;
        unsetAll();
      }
      const never = lived(history.filter((step) => 'source' in step));
      expect(withOverrides()).toEqual([]);
      expect(catalogue.contents).toEqual(never.contents);
    }),
    { numRuns: 150 },
  );
});

test('an override has no effect on the ids that new companies get', () => {
  const of = (catalogue: Catalogue, isSet: boolean) => {
    const lei = '529900T8BM49AURSDO55';
    catalogue.put('hand-written', [
      brandOf('globex', { name: 'Acme' }),
      brandOf('acme', { name: 'Globex', lei }),
    ]);
    if (isSet) catalogue.set('globex', 'name', 'Globex International');
    const at = (city: string) => ({ company: { headquarters: { city, countryCode: 'US' } } });
    catalogue.put('financedatabase', [
      brandOf('globex', { name: 'Globex AG', ...at('New York') }),
      brandOf('x3', { name: 'Globex AG', lei }),
    ]);
    catalogue.put('hand-written', [
      brandOf('globex', { name: 'Acme', ...at('Berlin') }),
      stockOf('acme', 'GLBX@XNAS', { name: 'Globex' }),
      brandOf('x3', { name: 'Acme Inc.', company: { headquarters: { city: 'Berlin' } } }),
    ]);
    return [...catalogue.docs.keys()].sort();
  };
  expect(of(new Catalogue(), true)).toEqual(of(new Catalogue(), false));
});

test('overrides do not follow a name that has become common', () => {
  const shop = (id: string, city: string) =>
    brandOf(id, { name: 'Subway', company: { headquarters: { city, countryCode: 'US' } } });
  const catalogue = new Catalogue();
  catalogue.put('sample', [shop('subway', 'Milford')]);
  catalogue.set('subway', 'description', 'Set by hand.');
  catalogue.put('wikidata', [shop('q1', 'Miami')]);
  catalogue.remove('sample/subway');
  expect(catalogue.waiting).toEqual([]);
  catalogue.put(
    'feed',
    Array.from({ length: 20 }, (_, index) => shop(`shop-${index}`, `City ${index}`)),
  );
  expect(catalogue.waiting).toHaveLength(1);
});

test('overrides find their company again by its name, however many overrides wait for a company of that name', () => {
  const shop = (id: string) =>
    brandOf(id, { name: 'Subway', company: { headquarters: { city: `City of ${id}`, countryCode: 'US' } } });
  const catalogue = new Catalogue();
  const ids = Array.from({ length: MAX_LINKED + 2 }, (_, index) => `shop-${index}`);
  catalogue.put('feed', ids.map(shop));
  for (const id of ids) catalogue.set(id, 'description', `Set as ${id}.`);
  catalogue.remove(...ids.map((id) => `feed/${id}`));
  expect(catalogue.waiting.toSorted()).toEqual(ids.toSorted());
  catalogue.put('feed', [shop('subway')]);
  expect(catalogue.waiting).toEqual([]);
  expect(catalogue.docs.size).toBe(1);
  expect(catalogue.brand('subway')?.description).toBe(`Set as ${ids.at(-1)}.`);
});

test('no import and no prune changes or loses an override', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const overridesOf = (catalogue: Catalogue) =>
        catalogue.records
          .flatMap(({ id, overrides }) =>
            overrides === undefined ? [] : [`${id} ${JSON.stringify(overrides)}`],
          )
          .sort();
      let before: { catalogue: Catalogue; step: Step; overrides: string[] } | undefined;
      const check = (catalogue: Catalogue) => {
        if (before !== undefined && 'source' in before.step)
          expect(overridesOf(catalogue)).toEqual(before.overrides);
      };
      const last = lived(history, (catalogue, step) => {
        check(catalogue);
        before = { catalogue, step, overrides: overridesOf(catalogue) };
      });
      check(last);
    }),
    { numRuns: 150 },
  );
});

test.each([
  ['description', 'Ada wrote this.'],
  ['category', 'gadgets'],
  ['company.sector', 'Gadgets'],
  ['company.ceo', 'Ada'],
  ['company.headquarters.city', 'Berlin'],
  ['images.logo', { big: { path: 'own.svg' } }],
  ['links.websites', ['https://acme.example/']],
  ['names', ['Acme Works']],
  ['rank', 7],
  ['stock.price', 3],
  ['stock.isin', 'GB0002634946'],
  ['stock.is_actively_trading', false],
])('%s is what the operator has set, whatever the sources state before and after', (field, value) => {
  const stated = (source: string) =>
    stockOf('acme', 'ACME@XNAS', {
      name: 'Acme',
      description: source,
      category: source,
      company: { sector: source, ceo: source, headquarters: { city: source, countryCode: 'US' } },
      images: { logo: { big: { path: `${source}.svg` } } },
      links: { websites: [`https://${source}.com/`] },
      names: [`Acme of ${source}`],
      stock: { price: 1, isin: 'US0378331005', isActivelyTrading: true },
    });
  const catalogue = new Catalogue();
  catalogue.put('feed', [stated('feed')]);
  expect(catalogue.set('acme', field, value)).toBe('changed');
  const wanted = fieldOf(brandOfValue(field, value).value, field);
  for (const source of SOURCES) {
    catalogue.put(source, [stated(source)]);
    expect(fieldOf(catalogue.brand('acme') ?? {}, field)).toEqual(wanted);
  }
  expect(catalogue.set('acme', field, value)).toBe('unchanged');
});

test('a part of the headquarters that is set leaves the other parts as the source states them', () => {
  const catalogue = new Catalogue();
  catalogue.put('feed', [
    brandOf('acme', { company: { headquarters: { city: 'Bonn', country: 'Germany' } } }),
  ]);
  catalogue.set('acme', 'company.headquarters.city', 'Berlin');
  expect(catalogue.brand('acme')?.company?.headquarters).toMatchObject({
    city: 'Berlin',
    country: 'Germany',
  });
});

test('a field that is set to no value hides what all sources state, and what follows from it', () => {
  const catalogue = new Catalogue();
  catalogue.put('wikidata', [brandOf('acme', { links: { websites: ['https://wrong.com/'] } })]);
  catalogue.put('feed', [brandOf('acme', { links: { websites: ['https://wrong.com/'] } })]);
  expect(catalogue.isFoundBy('acme', 'domain:wrong.com')).toBe(true);
  catalogue.set('acme', 'links.websites', undefined);
  expect(catalogue.brand('acme')?.links?.websites ?? []).toEqual([]);
  expect(catalogue.brand('acme')?.domains).toEqual([]);
  expect(catalogue.isFoundBy('acme', 'domain:wrong.com')).toBe(false);
  // The sources' records are still linked by the website.
  expect(catalogue.isFoundBy('acme', `${LINK_ONLY}domain:wrong.com`)).toBe(true);
});

test('names, domains and listings that are set find the record, and those that are not set any more do not', () => {
  const catalogue = new Catalogue();
  const listings = [
    { ticker: 'ACME', mic: 'XNAS', isin: 'US0378331005' },
    { ticker: 'ACM', mic: 'XETR' },
  ];
  catalogue.put('feed', [
    brandOf('acme', { type: BrandType.STOCK, name: 'Acme', names: ['Apex'], listings }),
  ]);
  catalogue.set('acme', 'names', ['Acme Works']);
  catalogue.set('acme', 'domains', ['acme.org']);
  catalogue.set('acme', 'listings', [{ ticker: 'ACME', mic: 'XNAS' }]);
  const found = ['name:acme works', 'domain:acme.org', 'ticker:ACME@XNAS', 'name:apex', 'ticker:ACM@XETR'];
  expect(found.map((key) => catalogue.isFoundBy('acme', key))).toEqual([true, true, true, false, false]);
  // A listing that a source states too keeps the source's identifiers.
  expect(catalogue.brand('acme')?.listings).toMatchObject([{ ticker: 'ACME', isin: 'US0378331005' }]);
});

test('a type that is set is obeyed: a company that went private has no listings, also for look-ups', () => {
  const catalogue = new Catalogue();
  catalogue.put('feed', [stockOf('acme', 'ACME@XNAS', { stock: { price: 1 } })]);
  expect(catalogue.set('acme', 'type', 'brand')).toBe('changed');
  catalogue.put('wikidata', [stockOf('acme', 'ACME@XNAS', { stock: { price: 2 } })]);
  expect(catalogue.brand('acme')).toMatchObject({ type: BrandType.BRAND, listings: [] });
  expect(catalogue.brand('acme')?.stock).toBeUndefined();
  expect(catalogue.isFoundBy('acme', 'ticker:ACME@XNAS')).toBe(false);
});

test.each([
  ['no field', []],
  ['another field', ['description']],
])('a type that a person gives in a source hides listings from look-ups too, with %s set', (_, fields) => {
  const catalogue = new Catalogue();
  const acme = { name: 'Acme', domains: ['acme.com'] };
  catalogue.put('sample', [brandOf('acme', { ...acme, type: BrandType.BRAND })]);
  catalogue.put('feed', [stockOf('a', 'ACM@XNYS', { ...acme, stock: { isin: 'US0378331005' } })]);
  for (const field of fields) catalogue.set('acme', field, 'Acme makes anvils.');
  expect([...catalogue.docs.keys()]).toEqual(['acme']);
  for (const key of ['ticker:ACM@XNYS', 'isin:US0378331005']) {
    expect(catalogue.isFoundBy('acme', key)).toBe(false);
    expect(catalogue.isFoundBy('acme', LINK_ONLY + key)).toBe(true);
  }
  expect(catalogue.isFoundBy('acme', 'domain:acme.com')).toBe(true);
});

test.each([
  ['type', 'stock', 'listings is missing'],
  ['type', 'superinvestor', 'superinvestor'],
  ['stock.price', 7, 'type'],
  ['lei', '529900T8BM49AURSDO99', 'check digit'],
  ['company.headquarters.latitude', 52, 'both latitude and longitude'],
])('%s=%s is refused for a private company, and nothing of that record is set', (field, value, reason) => {
  const catalogue = new Catalogue();
  catalogue.put('feed', [brandOf('acme')]);
  const before = catalogue.contents;
  expect(catalogue.set('acme', field, value)).toEqual({ refused: expect.stringContaining(reason) });
  expect(catalogue.contents).toEqual(before);
});

test('overrides stay with the source record that gives the company its id, when the company is split', () => {
  const catalogue = new Catalogue();
  const linked = { name: 'Acme', links: { wikidataQid: 'Q1' } };
  catalogue.put('sample', [brandOf('acme', linked)]);
  catalogue.put('wikidata', [brandOf('q1', linked)]);
  catalogue.set('acme', 'company.ceo', 'Ada');
  catalogue.put('wikidata', [brandOf('q1', { name: 'Globex', links: { wikidataQid: 'Q2' } })]);
  expect(catalogue.brand('acme')?.company?.ceo).toBe('Ada');
  expect(catalogue.brand('q1')?.company?.ceo ?? '').toBe('');
  catalogue.put('wikidata', [brandOf('q1', linked)]);
  expect(catalogue.brand('acme')?.company?.ceo).toBe('Ada');
});

test('overrides stay with the other source records of their company, when the one that gave it its id is pruned', () => {
  const catalogue = new Catalogue();
  const linked = { name: 'Acme', links: { wikidataQid: 'Q1' } };
  catalogue.put('sample', [brandOf('acme', linked)]);
  catalogue.put('wikidata', [brandOf('q1', linked)]);
  catalogue.set('acme', 'company.ceo', 'Ada');
  catalogue.remove('sample/acme');
  catalogue.put('wikidata', [brandOf('q1', { name: 'Another name, and no identifier' })]);
  expect(catalogue.brand('q1')?.company?.ceo).toBe('Ada');
});

test('when two companies with overrides become one, the newer override of a field applies, and both apply again after a split', () => {
  const catalogue = new Catalogue();
  catalogue.put('sample', [brandOf('acme')]);
  catalogue.put('wikidata', [brandOf('q1')]);
  catalogue.set('acme', 'company.ceo', 'Ada');
  catalogue.set('acme', 'company.founded', '1901');
  catalogue.set('q1', 'company.ceo', 'Grace');
  const linked = { name: 'Acme', links: { wikidataQid: 'Q1' } };
  catalogue.put('sample', [brandOf('acme', linked)]);
  catalogue.put('wikidata', [brandOf('q1', linked)]);
  expect(catalogue.brand('acme')?.company).toMatchObject({ ceo: 'Grace', founded: '1901' });
  catalogue.put('wikidata', [brandOf('q1')]);
  expect([catalogue.brand('acme')?.company?.ceo, catalogue.brand('q1')?.company?.ceo]).toEqual([
    'Ada',
    'Grace',
  ]);
});

test('a field that is set while two companies are wrongly one leaves the fields set before with their own company', () => {
  const catalogue = new Catalogue();
  const acme = { name: 'Acme', domains: ['acme.com'] };
  const xeno = brandOf('x', { name: 'Xeno', domains: ['xeno.com'] });
  catalogue.put('feed', [brandOf('a', acme)]);
  catalogue.put('sample', [xeno]);
  catalogue.set('a', 'description', 'Acme makes anvils.');
  catalogue.put('sample', [brandOf('x', acme)]);
  expect([...catalogue.docs.keys()]).toEqual(['x']);
  catalogue.set('x', 'company.ceo', 'Ada');
  catalogue.set('x', 'company.founded', '1901');
  expect(catalogue.brand('x')).toMatchObject({ description: 'Acme makes anvils.', company: { ceo: 'Ada' } });
  catalogue.put('sample', [xeno]);
  expect(catalogue.brand('a')?.description).toBe('Acme makes anvils.');
  expect(catalogue.brand('a')?.company?.ceo ?? '').toBe('');
  expect(catalogue.brand('x')).toMatchObject({
    description: 'x is a brand.',
    company: { ceo: 'Ada', founded: '1901' },
  });
  expect(catalogue.records.filter(({ overrides }) => overrides !== undefined)).toHaveLength(2);
});

test('overrides find their company again when its source gives it another id, in either order of import and prune', () => {
  const facts = { name: 'Acme', stock: { isin: 'US0378331005' } };
  for (const isPrunedFirst of [false, true]) {
    const catalogue = new Catalogue();
    catalogue.put('financedatabase', [stockOf('figi-1', 'ACME@XNAS', facts)]);
    catalogue.set('figi-1', 'company.ceo', 'Ada');
    if (isPrunedFirst) {
      catalogue.remove('financedatabase/figi-1');
      expect(catalogue.waiting).toEqual(['figi-1']);
    }
    catalogue.put('financedatabase', [stockOf('figi-2', 'ACME@XNAS', facts)]);
    catalogue.remove('financedatabase/figi-1');
    expect(catalogue.waiting).toEqual([]);
    expect(catalogue.brand('figi-2')?.company?.ceo).toBe('Ada');
    // Whoever knows only the old id can still take the override back.
    expect(catalogue.unset('figi-1', 'company.ceo')).toBe('changed');
    expect(catalogue.brand('figi-2')?.company?.ceo ?? '').toBe('');
  }
});

test('overrides wait when two companies have an equal claim, and apply again once one of them is gone', () => {
  const facts = { name: 'Acme', links: { wikidataQid: 'Q1' } };
  const catalogue = new Catalogue();
  catalogue.put('feed', [brandOf('one', facts)]);
  catalogue.set('one', 'company.ceo', 'Ada');
  catalogue.remove('feed/one');
  catalogue.put('feed', [brandOf('two', facts), brandOf('three', facts)]);
  expect(catalogue.waiting).toEqual(['one']);
  expect(['two', 'three'].map((id) => catalogue.brand(id)?.company?.ceo ?? '')).toEqual(['', '']);
  catalogue.remove('feed/three');
  expect(catalogue.waiting).toEqual([]);
  expect(catalogue.brand('two')?.company?.ceo).toBe('Ada');
});

test('overrides wait when their source uses the id again for another company, and never apply to that company', () => {
  const catalogue = new Catalogue();
  catalogue.put('feed', [
    stockOf('xnys-x', 'X@XNYS', { name: 'Acme Steel', stock: { isin: 'US0378331005' } }),
  ]);
  catalogue.set('xnys-x', 'description', 'Acme Steel makes steel.');
  catalogue.put('feed', [stockOf('xnys-x', 'X@XNYS', { name: 'Globex', stock: { isin: 'GB0002634946' } })]);
  expect(catalogue.brand('xnys-x')?.description).toBe('xnys-x is a brand.');
  expect(catalogue.waiting).toEqual(['xnys-x']);
});

test('an override of a company that was split off is not removed through the id of the other part', () => {
  const catalogue = new Catalogue();
  const linked = { name: 'Acme', links: { wikidataQid: 'Q1' } };
  catalogue.put('sample', [brandOf('acme', linked)]);
  catalogue.put('wikidata', [brandOf('q1', linked)]);
  catalogue.set('acme', 'company.ceo', 'Ada');
  catalogue.put('wikidata', [brandOf('q1', { name: 'Globex', links: { wikidataQid: 'Q2' } })]);
  expect(catalogue.unset('q1', 'company.ceo')).toBe('unchanged');
  expect(catalogue.brand('acme')?.company?.ceo).toBe('Ada');
});

test('overrides that wait are no company, so an identifier that they remember is no conflict', () => {
  const catalogue = new Catalogue();
  catalogue.put('feed', [brandOf('acme', { name: 'Acme', domains: ['acme.com'] })]);
  catalogue.set('acme', 'company.ceo', 'Ada');
  catalogue.remove('feed/acme');
  const { conflicts } = catalogue.put('feed', [brandOf('globex', { name: 'Globex', domains: ['acme.com'] })]);
  expect(catalogue.waiting).toEqual(['acme']);
  expect(conflicts).toEqual([]);
});

test('overrides of a company without source records are found by no look-up, and apply when the company returns', () => {
  const catalogue = new Catalogue();
  const acme = stockOf('acme', 'ACME@XNAS', { name: 'Acme', domains: ['acme.com'] });
  catalogue.put('feed', [acme]);
  catalogue.set('acme', 'names', ['Acme Works']);
  catalogue.remove('feed/acme');
  const keys = [...catalogue.docs.values()].flatMap((doc) => doc.keys);
  expect(keys.filter((key) => !key.startsWith(LINK_ONLY))).toEqual([]);
  catalogue.put('feed', [acme]);
  expect(catalogue.brand('acme')?.names).toEqual(['Acme Works']);
});
