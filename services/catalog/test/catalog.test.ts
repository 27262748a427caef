import { randomBytes } from 'node:crypto';
import {
  type Brand,
  BrandType,
  CATALOG_CHANGES_SUBJECT,
  CatalogChanged,
  LookupResponse,
  MatchKind,
  MatchStrength,
  Source,
  Stock,
} from '@brand-data/contracts';
import { callUnary } from '@brand-data/runtime';
import { brandOf } from '@brand-data/testing/brand-of';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { connect } from '@nats-io/transport-node';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest';
import type { CatalogDoc } from '../src/records/catalog-doc.ts';
import { launchCatalog, type RunningCatalog, startCatalog, stockOf } from './running-catalog.ts';

const database = `test_catalog_${randomBytes(6).toString('hex')}`;
let nats: TestServer;
let mongo: MongoClient;
let db: Db;
let catalog: RunningCatalog;
let replica: RunningCatalog;

beforeAll(async () => {
  nats = await startTestNats();
  mongo = new MongoClient(inject('mongodbUrl'));
  db = mongo.db(database);
  const settings = { mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database };
  [catalog, replica] = await Promise.all([startCatalog(settings), startCatalog(settings)]);
});

afterEach(async () => {
  await db.collection('brands').deleteMany({});
});

afterAll(async () => {
  await Promise.all([catalog?.stop(), replica?.stop()]);
  await db?.dropDatabase();
  await mongo?.close();
  await nats?.stop();
});

const getBrand = async (id: string): Promise<Brand | undefined> =>
  (await catalog.operate(catalog.admin.getBrand, { id, refusedLinks: false })).brand;

const prune = (source: string, importId: string) =>
  catalog.operate(catalog.admin.finishImport, { source, importId, prune: true });

test('results are in the order of the queries, and a query that resolves to nothing has an empty result', async () => {
  await catalog.put('sample', [
    brandOf('acme', { links: { websites: ['https://www.acme.com/'] } }),
    brandOf('globex'),
  ]);
  const [globex, nothing, empty, acme] = await catalog.lookup('GLOBEX', 'no such thing', '', 'acme.com');
  expect(globex?.brand?.id).toBe('globex');
  expect(nothing).toEqual({
    suggestions: [],
    namesSuperinvestor: false,
    leftOut: false,
    keys: expect.any(Array),
  });
  expect(empty).toEqual({ suggestions: [], namesSuperinvestor: false, leftOut: false, keys: [] });
  expect(acme).toMatchObject({ brand: { id: 'acme' }, match: { kind: MatchKind.DOMAIN, value: 'acme.com' } });
});

test('an answer says when its record last changed and the day of its price, also of a record that 0.1.0 stored', async () => {
  const ages = async () => {
    const [{ changedAtMs, priceDate } = {}] = await catalog.lookup('ACME');
    return { changedAtMs, priceDate };
  };
  const began = Date.now();
  const put = (importId: string) =>
    catalog.put(
      'sample',
      [stockOf('acme', 'ACME@XNAS', { sources: [{ name: 'A', date: '2026-01-02' }] })],
      importId,
    );
  await put('sample-1');
  const first = await ages();
  expect(first).toEqual({ changedAtMs: expect.any(Number), priceDate: undefined });
  expect(first.changedAtMs).toBeGreaterThanOrEqual(began);
  await put('sample-2');
  expect(await ages()).toEqual(first);
  const stock = Stock.fromPartial({ price: 1, currency: 'USD' });
  const source = Source.fromPartial({ name: 'B', date: '2026-01-03', fields: ['stock'] });
  await catalog.quote('market-data', [{ symbol: 'ACME', mic: 'XNAS', stock, source }]);
  const quoted = await ages();
  expect(quoted.priceDate).toBe('2026-01-03');
  expect(quoted.changedAtMs).toBeGreaterThanOrEqual(first.changedAtMs ?? 0);
  const unknown = { changedAt: '', priceDate: '' };
  await db.collection('brands').updateMany({}, { $unset: unknown });
  expect(await ages()).toEqual({ changedAtMs: undefined, priceDate: undefined });
});

test('a query that names a kind finds a record by this kind alone, and suggests identifiers of this kind', async () => {
  const listings = [{ ticker: 'ACME', mic: 'XNAS' }];
  const [acme] = [
    brandOf('acme', { type: BrandType.STOCK, listings, links: { websites: ['https://www.acme.com/'] } }),
  ];
  await catalog.put('sample', [acme]);
  const ask = (identifier: string, kind: MatchKind) =>
    catalog.query({ identifier, superinvestors: true, suggest: true, kind });
  for (const [identifier, kind] of [
    ['acme', MatchKind.TICKER],
    ['acme', MatchKind.NAME],
    ['acme.com', MatchKind.DOMAIN],
  ] as const)
    expect(await ask(identifier, kind)).toMatchObject([{ brand: { id: 'acme' }, match: { kind } }]);
  const [miss] = await ask('acme', MatchKind.ISIN);
  expect(miss?.brand).toBeUndefined();
  const [other] = await ask('acme.com', MatchKind.TICKER);
  const [suggestion] = other?.suggestions ?? [];
  expect(await ask(suggestion?.identifier ?? '', MatchKind.TICKER)).toMatchObject([
    { brand: { id: 'acme' } },
  ]);
});

test('another security is looked up, replaced and pruned as a record, but is no company', async () => {
  const listings = [{ ticker: 'SPY', mic: 'ARCX' }];
  const fund = brandOf('arcx-spy', {
    type: BrandType.OTHER_SECURITY,
    name: 'SPDR Trust',
    category: 'fund',
    listings,
  });
  const share = brandOf('arcx-spy', { type: BrandType.STOCK, name: 'SPDR Trust', rank: 0, listings });
  const noCompany = { kind: 'fund', name: 'SPDR Trust' };
  expect(await catalog.put('list', [share], 'list-1')).toMatchObject({ created: 1 });
  expect(await catalog.put('list', [fund], 'list-2')).toMatchObject({ changed: 1 });
  expect(await catalog.put('list', [fund], 'list-3')).toMatchObject({ unchanged: 1 });
  const [result] = await catalog.query({ identifier: 'SPY', superinvestors: true, suggest: true });
  expect(result).toMatchObject({ noCompany, suggestions: [] });
  expect(result?.brand).toBeUndefined();
  const { resolutions } = await catalog.operate(catalog.admin.resolve, {
    queries: [{ identifier: 'SPY', superinvestors: true, suggest: true }],
  });
  expect(resolutions).toEqual([{ meanings: [], suggestions: [], noCompany }]);
  expect(await catalog.operate(catalog.admin.getStatistics, {})).toMatchObject({
    brands: 0,
    otherSecurities: 1,
    sources: [],
  });
  const doc = await db.collection<CatalogDoc>('brands').findOne({});
  expect(doc?._id).toBe('security:list/arcx-spy');
  expect(await prune('list', 'list-4')).toMatchObject({ pruned: 1 });
  expect(await db.collection('brands').countDocuments()).toBe(0);
});

test('an answer does not depend on the rest of its batch, even if very many records share a name', async () => {
  const share = (prefix: string, count: number, rank: number) =>
    Array.from({ length: count }, (_, index) =>
      brandOf(`${prefix}-${index}`, { name: 'United', rank: (index + rank) % 900 }),
    );
  for (const part of ['a', 'b', 'c']) await catalog.put('sample', share(part, 400, part.charCodeAt(0)));
  await catalog.put('sample', [
    brandOf('united-inc', { name: 'United Inc.', rank: 1_000 }),
    brandOf('united', { name: 'United', rank: 901 }),
    brandOf('acme', { rank: 1 }),
  ]);
  const [alone] = await catalog.lookup('acme');
  const [united, inc, acme] = await catalog.lookup('united', 'united inc', 'acme');
  expect(united).toMatchObject({
    brand: { id: 'united' },
    match: { value: 'United', strength: MatchStrength.EXACT },
  });
  expect(inc?.brand?.id).toBe('united-inc');
  expect(acme).toEqual(alone);
});

test.each([
  ['an ISIN', 'US0378331005', MatchKind.ISIN],
  ['a CUSIP', '037833100', MatchKind.CUSIP],
  ['a FIGI of the venue', 'BBG000B9XVV8', MatchKind.FIGI],
  ['a FIGI of the share class', 'BBG001S5N8V8', MatchKind.FIGI],
  ['an LEI', '529900T8BM49AURSDO55', MatchKind.LEI],
  ['a ticker', 'XNAS:ACME', MatchKind.TICKER],
])('%s finds its company', async (_, identifier, kind) => {
  const listing = { ticker: 'ACME', mic: 'XNAS', isin: 'US0378331005' };
  const figis = { figi: 'BBG000B9XVV8', shareClassFigi: 'BBG001S5N8V8' };
  const fields = { lei: '529900T8BM49AURSDO55', listings: [{ ...listing, ...figis }] };
  await catalog.put('sample', [brandOf('acme', { type: BrandType.STOCK, ...fields }), brandOf('globex')]);
  const [result] = await catalog.lookup(identifier);
  expect(result).toMatchObject({
    brand: { id: 'acme' },
    match: { kind, value: identifier, strength: MatchStrength.EXACT },
  });
});

test('a name with its legal form finds the company with that form, even if another company with the name is better known', async () => {
  await catalog.put('sample', [
    brandOf('american', { name: 'Acme', names: ['Acme & Co., Inc.'], rank: 900 }),
    brandOf('german', { name: 'ACME Kommanditgesellschaft auf Aktien', rank: 500 }),
  ]);
  const found = await catalog.lookup('acme kgaa', 'acme incorporated', 'acme');
  expect(found.map(({ brand }) => brand?.id)).toEqual(['german', 'american', 'american']);
});

test('a record of an icon, whatever its rank, is found only after all fuller ones, however many share its name', async () => {
  const icons = Array.from({ length: 20 }, (_, index) =>
    brandOf(`icon-${index}`, { name: 'Stryker', description: '', category: '', rank: 900 + index }),
  );
  await catalog.put('simple-icons', icons);
  expect((await catalog.lookup('stryker'))[0]?.brand?.id).toBe('icon-19');
  await catalog.put('sample', [brandOf('stryker', { name: 'Stryker Corporation', rank: 1 })]);
  expect((await catalog.lookup('stryker'))[0]?.brand?.id).toBe('stryker');
});

test('the first words of a name that are the .com domain of its company find it, and go before an icon', async () => {
  const lumen = {
    name: 'Lumen Technologies, Inc.',
    rank: 740,
    links: { websites: ['http://www.lumen.com'] },
  };
  await catalog.put('simple-icons', [brandOf('icon', { name: 'Lumen', description: '', category: '' })]);
  await catalog.put('sample', [brandOf('lumen', lumen), brandOf('luminous', { name: 'Lumen Motors' })]);
  const [result] = await catalog.lookup('lumen');
  expect(result).toMatchObject({
    brand: { id: 'lumen' },
    match: { value: lumen.name, strength: MatchStrength.GROUP_WORD },
  });
});

test('the leading words of one name find its company, and the match says so', async () => {
  const networks = brandOf('networks', { name: 'Palo Alto Networks, Inc.', rank: 740 });
  await catalog.put('sample', [networks, brandOf('small', { name: 'Palo Alto Dining', rank: 500 })]);
  const [found, exact, none] = await catalog.lookup('palo alto', 'Palo Alto Dining', 'Palo Santo');
  expect(found).toMatchObject({
    brand: { id: 'networks' },
    match: {
      kind: MatchKind.NAME,
      value: 'Palo Alto Networks, Inc.',
      strength: MatchStrength.LEADING_WORDS,
    },
  });
  expect(exact?.brand?.id).toBe('small');
  expect(none?.brand).toBeUndefined();
});

test('leading words go before a little known company that is called so without its legal form or was before', async () => {
  const small = brandOf('small', { name: 'Cardinal Co., Ltd.', rank: 500 });
  await catalog.put('sample', [small, brandOf('health', { name: 'Cardinal Health, Inc.', rank: 800 })]);
  const foundBy = async (...identifiers: string[]) =>
    (await catalog.lookup(...identifiers)).map(({ brand }) => brand?.id);
  expect(await foundBy('Cardinal', 'Cardinal Co.')).toEqual(['health', 'small']);
  const history = { formerly: ['Cardinal'] };
  await catalog.put('sample', [brandOf('small', { name: 'Rubric Co.', rank: 500, history })]);
  expect(await foundBy('Cardinal')).toEqual(['health']);
  await catalog.put('sample', [{ ...small, name: 'Cardinal' }]);
  expect(await foundBy('Cardinal')).toEqual(['small']);
  await catalog.put('sample', [{ ...small, rank: 700 }]);
  expect(await foundBy('Cardinal')).toEqual(['small']);
  await catalog.put('sample', [small, brandOf('health', { name: 'Cardinal Health, Inc.', rank: 614 })]);
  expect(await foundBy('Cardinal')).toEqual(['small']);
  await catalog.put('sample', [small, brandOf('health', { name: 'Cardinal Health, Inc.', rank: 615 })]);
  expect(await foundBy('Cardinal')).toEqual(['health']);
});

test('a superinvestor goes by leading words before no company', async () => {
  const manager = { firm: 'Baupost Capital' };
  const investor = brandOf('klarman', {
    type: BrandType.SUPERINVESTOR,
    name: 'Seth Klarman',
    rank: 800,
    manager,
  });
  await catalog.put('sample', [brandOf('small', { name: 'Baupost Ltd', rank: 400 }), investor]);
  const [found] = await catalog.lookup('Baupost');
  expect(found?.brand?.id).toBe('small');
  const [alone] = await catalog.lookup('Baupost Capital');
  expect(alone?.brand?.id).toBe('klarman');
});

test('leading words go before a little known company that is only called so without "Group"', async () => {
  const group = brandOf('group', { name: 'Ross Group Plc', rank: 400 });
  await catalog.put('sample', [group, brandOf('stores', { name: 'Ross Stores, Inc.', rank: 850 })]);
  const [found, whole] = await catalog.lookup('Ross', 'Ross Group');
  expect(found).toMatchObject({ brand: { id: 'stores' }, match: { strength: MatchStrength.LEADING_WORDS } });
  expect(whole?.brand?.id).toBe('group');
  await catalog.put('sample', [{ ...group, rank: 640 }]);
  const [known] = await catalog.lookup('Ross');
  expect(known).toMatchObject({ brand: { id: 'group' }, match: { strength: MatchStrength.GROUP_WORD } });
  await catalog.put('sample', [
    { ...group, rank: 590 },
    brandOf('stores', { name: 'Ross Stores, Inc.', rank: 700 }),
  ]);
  const [alike] = await catalog.lookup('Ross');
  expect(alike?.brand?.id).toBe('group');
});

test('an operator sees each company once that a text could mean, though its website and leading words both mean it', async () => {
  const links = { websites: ['https://www.ross.com'] };
  await catalog.put('sample', [
    brandOf('group', { name: 'Ross Group Plc', rank: 400 }),
    brandOf('stores', { name: 'Ross Stores, Inc.', rank: 850, links }),
  ]);
  const { resolutions } = await catalog.operate(catalog.admin.resolve, {
    queries: [{ identifier: 'Ross', superinvestors: true, suggest: true }],
  });
  expect(resolutions.map(({ meanings }) => meanings.map(({ id }) => id))).toEqual([['stores', 'group']]);
});

test('a name without "Group" or without its spaces is found if one company has it, and the match says how', async () => {
  const group = brandOf('sachs', { name: 'The Goldman Sachs Group, Inc.' });
  await catalog.put('sample', [group, brandOf('cola', { name: 'Coca-Cola' })]);
  const [named, joined] = await catalog.lookup('Goldman Sachs', 'cocacola');
  expect(named?.match).toEqual({
    kind: MatchKind.NAME,
    value: 'The Goldman Sachs Group, Inc.',
    strength: MatchStrength.GROUP_WORD,
  });
  expect(joined?.match).toEqual({
    kind: MatchKind.NAME,
    value: 'Coca-Cola',
    strength: MatchStrength.SPACING,
  });

  const others = Array.from({ length: 20 }, (_, index) =>
    brandOf(`other-${index}`, {
      name: `Goldman Sachs ${index % 2 === 0 ? 'Holdings' : 'Companies'}`,
    }),
  );
  await catalog.put('sample', others);
  expect(await catalog.lookup('Goldman Sachs')).toEqual([
    expect.not.objectContaining({ brand: expect.anything() }),
  ]);
});

test('an answer to many queries stays within its bytes, and the results that it leaves out come when asked for again', async () => {
  const ids = Array.from({ length: 150 }, (_, index) => `large-${index}`);
  const description = 'x'.repeat(4_000);
  await catalog.put(
    'sample',
    ids.map((id) => brandOf(id, { name: id, description })),
  );
  const { client } = catalog;
  const maxBytes = 256 * 1024;
  let left = ids;
  let rounds = 0;
  while (left.length > 0) {
    const queries = left.map((identifier) => ({ identifier, superinvestors: true, suggest: false }));
    const answer = await callUnary(
      client,
      client.lookup,
      { queries, weakMatches: true, maxBytes },
      { deadlineMs: 10_000 },
    );
    expect(LookupResponse.encode(answer).finish().length).toBeLessThanOrEqual(maxBytes);
    expect(answer.results).toHaveLength(left.length);
    for (const [index, { brand, leftOut }] of answer.results.entries())
      if (!leftOut) expect(brand?.id).toBe(left[index]);
    left = left.filter((_, index) => answer.results[index]?.leftOut);
    rounds += 1;
  }
  expect(rounds).toBeGreaterThan(2);
});

test('the record that an identifier means comes first, then the other records that it could mean, in order of precedence', async () => {
  await catalog.put('sample', [
    stockOf('small', 'ACME@XNAS', { name: 'Small', rank: 11 }),
    brandOf('former', { name: 'Initech', history: { formerly: ['Acme'] }, rank: 100 }),
    brandOf('inc', { name: 'Acme Inc.', rank: 5 }),
    ...Array.from({ length: 30 }, (_, index) => brandOf(`acme-${index}`, { name: 'Acme', rank: index + 1 })),
  ]);
  const queries = [
    { identifier: 'acme', superinvestors: true, suggest: false },
    { identifier: 'nothing', superinvestors: true, suggest: false },
  ];
  const { resolutions } = await catalog.operate(catalog.admin.resolve, { queries });
  const [acme, nothing] = resolutions.map(({ meanings }) => meanings);
  const [looked] = await catalog.lookup('acme');
  expect(nothing).toEqual([]);
  expect(acme).toHaveLength(20);
  expect(acme?.[0]).toMatchObject({ id: looked?.brand?.id, match: looked?.match });
  // Better known companies with that name come before the company with the ticker, and less known ones after it.
  const named = Array.from({ length: 19 }, (_, index) => `acme-${29 - index}`);
  expect(acme?.map(({ id }) => id)).toEqual([...named, 'small']);
});

test('a query that misses gets suggestions if it asks for them, in the same answer', async () => {
  await catalog.put('sample', [
    stockOf('acme', 'ACME@XNAS', { name: 'Acme Inc.', rank: 900 }),
    brandOf('jane', { name: 'Jane Doe', type: BrandType.SUPERINVESTOR }),
  ]);
  const query = { identifier: 'akme', superinvestors: false, suggest: true };
  const suggestions = [{ name: 'Acme Inc.', identifier: 'ACME' }];
  const queries = [
    query,
    { ...query, suggest: false },
    { ...query, identifier: 'acme' },
    { ...query, identifier: 'Jane Doe' },
  ];
  // Catalog does not wait long for suggestions, which can be too late on a busy machine.
  await expect
    .poll(() => catalog.query(...queries))
    .toMatchObject([
      { suggestions, namesSuperinvestor: false },
      { suggestions: [], namesSuperinvestor: false },
      { brand: { id: 'acme' }, suggestions: [], namesSuperinvestor: false },
      { suggestions: [], namesSuperinvestor: true },
    ]);
  const many = { queries: [...Array.from({ length: 60 }, () => query), { ...query, identifier: 'acme' }] };
  const resolved = async () => (await catalog.operate(catalog.admin.resolve, many)).resolutions;
  await expect
    .poll(async () => (await resolved()).map((resolution) => resolution.suggestions.length))
    .toEqual([...Array(60).fill(1), 0]);
});

test.each([
  ['an empty batch', []],
  ['more than 200 queries', Array(201).fill('acme')],
  ['an identifier of more than 256 characters', ['x'.repeat(257)]],
])('%s is refused', async (_, identifiers) => {
  await expect(catalog.lookup(...identifiers)).rejects.toMatchObject({ kind: 'invalid_argument' });
});

test('a record is the same whatever the order of the imports', async () => {
  const written = brandOf('acme', { name: 'Acme', rank: 900, company: { ceo: 'Ada' } });
  const drawn = brandOf('acme', { name: 'ACME', rank: 300, images: { logo: { big: { path: 'a.svg' } } } });
  await catalog.put('sample', [written]);
  await catalog.put('simple-icons', [drawn]);
  const one = await getBrand('acme');
  await db.collection('brands').deleteMany({});
  await catalog.put('simple-icons', [drawn]);
  await catalog.put('sample', [written]);
  expect(await getBrand('acme')).toEqual(one);
  expect(one).toMatchObject({
    name: 'Acme',
    names: ['ACME'],
    rank: 900,
    images: { logo: drawn.images?.logo },
  });
});

test('replicas that put the same records at the same time lose no record', async () => {
  const ids = Array.from({ length: 50 }, (_, index) => `brand-${index}`);
  const of = (fields: Parameters<typeof Brand.fromPartial>[0]) => ids.map((id) => brandOf(id, fields));
  const answers = await Promise.all([
    catalog.put('sample', of({ company: { ceo: 'Ada' } })),
    replica.put('simple-icons', of({ images: { bannerPath: 'a.svg' } })),
    catalog.put('feed', of({ stock: undefined, company: { employees: '7' } })),
    replica.put('sample', of({ company: { ceo: 'Ada' } })),
  ]);
  expect(answers.flatMap(({ refused }) => refused)).toEqual([]);
  const brands = await Promise.all(ids.map(getBrand));
  for (const brand of brands)
    expect(brand).toMatchObject({ company: { ceo: 'Ada', employees: '7' }, images: { bannerPath: 'a.svg' } });
});

test('a look-up sees a record either entirely before or entirely after a change', async () => {
  const version = (name: string) =>
    brandOf('acme', { name, names: ['Always'], description: name, company: { ceo: name } });
  await catalog.put('sample', [version('Before')]);
  let writing = true;
  const write = async () => {
    for (let round = 0; round < 40; round++)
      await replica.put('sample', [version(round % 2 ? 'Before' : 'After')], `run-${round}`);
    writing = false;
  };
  const read = async () => {
    while (writing) {
      const results = await catalog.lookup('always', 'before', 'after');
      const found = results.flatMap(({ brand }) => brand ?? []);
      expect(results[0]?.brand).toBeDefined();
      expect(found).toHaveLength(2);
      for (const { name, description, company } of found)
        expect([description, company?.ceo]).toEqual([name, name]);
      for (const { brand, match } of results.slice(1)) if (brand) expect(match?.value).toBe(brand.name);
    }
  };
  await Promise.all([write(), read(), read()]);
});

test('for an unchanged record, only the id of the import that brought it is written', async () => {
  const records = db.collection<CatalogDoc>('brands');
  const brands = [brandOf('acme'), brandOf('globex')];
  expect(await catalog.put('sample', brands)).toMatchObject({ created: 2, changed: 0, unchanged: 0 });
  const before = await records.findOne({ _id: 'acme' });
  expect(await catalog.put('sample', brands, 'sample-2')).toMatchObject({
    created: 0,
    changed: 0,
    unchanged: 2,
  });
  const after = await records.findOne({ _id: 'acme' });
  expect(after?.contributions).toMatchObject([{ source: 'sample', importId: 'sample-2' }]);
  const unmarked = { contributions: [], revision: '' };
  expect({ ...after, ...unmarked }).toEqual({ ...before, ...unmarked });
  const [first, ...others] = brands;
  const changed = [...(first ? [{ ...first, rank: 501 }] : []), ...others];
  expect(await catalog.put('sample', changed, 'sample-3')).toMatchObject({ changed: 1, unchanged: 1 });
});

test('pruning removes the records that the source no longer has, and no records of other sources', async () => {
  const shared = { domains: ['shared.com'] };
  await catalog.put('sample', [
    brandOf('kept'),
    brandOf('shared', { name: 'Sample name', ...shared }),
    brandOf('gone'),
  ]);
  await catalog.put('simple-icons', [brandOf('shared', { name: 'Icon name', ...shared }), brandOf('other')]);
  await catalog.put('sample', [brandOf('kept')], 'sample-2');
  expect(await prune('sample', 'sample-2')).toEqual({ pruned: 2, more: false });
  expect(await prune('sample', 'sample-2')).toEqual({ pruned: 0, more: false });

  await expect(getBrand('gone')).rejects.toMatchObject({ kind: 'not_found' });
  expect(await getBrand('shared')).toMatchObject({ name: 'Icon name', names: [] });
  const [bySample, byIcon] = await catalog.lookup('sample name', 'icon name');
  expect(bySample?.brand).toBeUndefined();
  expect(byIcon?.brand?.name).toBe('Icon name');
  expect(await catalog.operate(catalog.admin.getStatistics, {})).toMatchObject({
    brands: 3,
    sources: [
      { source: 'sample', brands: 1 },
      { source: 'simple-icons', brands: 2 },
    ],
  });
});

test('an import without pruning removes nothing', async () => {
  await catalog.put('sample', [brandOf('acme')]);
  await catalog.put('sample', [brandOf('globex')], 'sample-2');
  const request = { source: 'sample', importId: 'sample-2', prune: false };
  expect(await catalog.operate(catalog.admin.finishImport, request)).toEqual({ pruned: 0, more: false });
  expect(await getBrand('acme')).toBeDefined();
});

test('an import announces the keys of the records that it changes, and has announced all of them when it ends', async () => {
  const connection = await connect({ servers: nats.url });
  const announced = new Set<number>();
  connection.subscribe(CATALOG_CHANGES_SUBJECT, {
    callback: (_, { data }) => {
      for (const key of CatalogChanged.decode(data).keys) announced.add(key);
    },
  });
  await connection.flush();
  const keysOf = async (...identifiers: string[]) =>
    (await catalog.lookup(...identifiers)).map(({ keys }) => keys);
  const names = Array.from({ length: 40 }, (_, index) => `acme ${index}`);
  for (const [index, name] of names.entries())
    await catalog.put('sample', [brandOf(`acme-${index}`, { name })]);
  await catalog.operate(catalog.admin.finishImport, { source: 'sample', importId: 'sample-1', prune: false });
  await connection.flush();
  for (const keys of await keysOf(...names)) expect(keys.some((key) => announced.has(key))).toBe(true);
  for (const keys of await keysOf('globex', 'GLBX', 'globex.com'))
    expect(keys.some((key) => announced.has(key))).toBe(false);
  announced.clear();
  await prune('sample', 'sample-2');
  await connection.flush();
  for (const keys of await keysOf(...names)) expect(keys.some((key) => announced.has(key))).toBe(true);
  await connection.close();
});

test('an import that writes nothing announces nothing', async () => {
  await catalog.put('sample', [brandOf('acme')]);
  await prune('sample', 'sample-1');
  const connection = await connect({ servers: nats.url });
  const announced = vi.fn();
  connection.subscribe(CATALOG_CHANGES_SUBJECT, { callback: announced });
  await connection.flush();
  await catalog.put('sample', [brandOf('acme')], 'sample-2');
  await catalog.operate(catalog.admin.putBrands, {
    source: 'sample',
    importId: 'sample-3',
    brands: [brandOf('acme', { rank: 1 }), brandOf('globex')],
    dryRun: true,
    onlyJoining: false,
  });
  await connection.flush();
  expect(announced).not.toHaveBeenCalled();
  await connection.close();
});

test('a dry run returns the same answer as an import, and writes nothing', async () => {
  await catalog.put('sample', [stockOf('acme', 'ACME@XNAS', { name: 'Acme', rank: 900 }), brandOf('kept')]);
  const before = await db.collection('brands').find().toArray();
  const answer = await catalog.operate(catalog.admin.putBrands, {
    source: 'feed',
    importId: 'feed-1',
    brands: [
      brandOf('kept', { rank: 1 }),
      stockOf('globex', 'ACME@XNAS', { name: 'Globex' }),
      brandOf('Bad id'),
    ],
    dryRun: true,
    onlyJoining: false,
  });
  expect(answer).toMatchObject({ created: 1, changed: 1, unchanged: 0, keptIds: ['kept', 'globex'] });
  expect(answer.refused).toMatchObject([{ index: 2 }]);
  expect(answer.conflicts).toEqual([
    { index: 1, identifier: 'XNAS:ACME', otherId: 'acme', otherName: 'Acme', lost: true },
  ]);
  expect(await db.collection('brands').find().toArray()).toEqual(before);
});

test('a dry run keeps no record that the import would skip, because no other source has its company', async () => {
  await catalog.put('sample', [stockOf('acme', 'ACME@XNAS', { name: 'Acme' })]);
  const answer = await catalog.operate(catalog.admin.putBrands, {
    source: 'feed',
    importId: 'feed-1',
    brands: [stockOf('joins', 'ACME@XNAS', { name: 'Acme' }), brandOf('alone')],
    dryRun: true,
    onlyJoining: true,
  });
  expect(answer).toMatchObject({ skipped: [{ index: 1 }], keptIds: ['joins'] });
});

test("several sources' records of one company become one record, which names the source of each field", async () => {
  const isin = 'US0378331005';
  await catalog.put('financedatabase', [
    stockOf('figi-1', 'ACM@XBER', {
      name: 'ACME INC',
      rank: 740,
      company: { sector: 'Technology' },
      stock: { isin },
    }),
  ]);
  await catalog.put('wikidata', [
    stockOf('q312', 'ACME@XNAS', {
      name: 'Acme',
      rank: 860,
      company: { sector: 'gadgets', ceo: 'Ada' },
      links: { wikidataQid: 'Q312' },
      stock: { isin },
    }),
  ]);
  await catalog.put('simple-icons', [
    brandOf('acme', { name: 'Acme', rank: 300, images: { logo: { big: { path: 'a.svg' } } } }),
  ]);
  await catalog.put('sample', [
    stockOf('acme', 'ACME@XNAS', { name: 'Acme Corp.', rank: 1_000, links: { wikidataQid: 'Q312' } }),
  ]);
  // The company keeps its first id, and is found by the ids of all its source records.
  const shown = await catalog.operate(catalog.admin.getBrand, { id: 'acme', refusedLinks: false });
  for (const id of ['figi-1', 'q312']) expect(await getBrand(id)).toEqual(shown.brand);
  expect(shown.brand).toMatchObject({
    id: 'figi-1',
    name: 'Acme Corp.',
    rank: 1_000,
    company: { sector: 'Technology', ceo: 'Ada' },
    images: { logo: { big: { path: 'a.svg' } } },
    stock: { isin },
  });
  expect(shown.brand?.listings.map(({ mic }) => mic)).toEqual(['XNAS', 'XBER']);
  expect(shown.contributions.map(({ source, brand }) => [source, brand?.id])).toEqual([
    ['sample', 'acme'],
    ['wikidata', 'q312'],
    ['financedatabase', 'figi-1'],
    ['simple-icons', 'acme'],
  ]);
  expect(shown.fieldSources).toMatchObject({
    name: 'sample',
    rank: 'sample',
    'company.sector': 'financedatabase',
    'company.ceo': 'wikidata',
    'images.logo': 'simple-icons',
    listings: 'sample, wikidata, financedatabase',
  });
  expect(await catalog.operate(catalog.admin.getStatistics, {})).toMatchObject({ brands: 1 });
  const found = await catalog.lookup('ACM.BE', isin, 'acme inc');
  expect(found.map(({ brand }) => brand?.id)).toEqual(['figi-1', 'figi-1', 'figi-1']);
  expect(await catalog.operate(catalog.admin.deleteBrand, { id: 'q312' })).toMatchObject({
    contributions: 4,
  });
});

test('a deletion removes a record with all its source records, and a source that still has it creates it again', async () => {
  await catalog.put('sample', [brandOf('acme'), brandOf('globex')]);
  await catalog.put('simple-icons', [brandOf('acme', { rank: 1 })]);
  expect(await catalog.operate(catalog.admin.deleteBrand, { id: 'acme' })).toEqual({
    contributions: 2,
    overrides: 0,
  });
  await expect(catalog.operate(catalog.admin.deleteBrand, { id: 'acme' })).rejects.toMatchObject({
    kind: 'not_found',
  });
  const [acme, globex] = await catalog.lookup('acme', 'globex');
  expect(acme?.brand).toBeUndefined();
  expect(globex?.brand?.id).toBe('globex');
  expect(await catalog.put('simple-icons', [brandOf('acme', { rank: 1 })])).toMatchObject({ created: 1 });
});

test('a quote changes only the figures of the company whose main listing it describes', async () => {
  const listings = [
    { ticker: 'ACME', mic: 'XNAS' },
    { ticker: 'ACM', mic: 'XETR' },
  ];
  const stock = { isin: 'US0378331005', exchange: 'NASDAQ', price: 1, currency: 'USD' };
  await catalog.put('sample', [brandOf('acme', { type: BrandType.STOCK, listings, stock, name: 'Acme' })]);
  const before = await getBrand('acme');
  const source = { name: 'Closing prices', url: '', licence: '', date: '2026-11-20', fields: [] };
  const figures = { price: 7.5, currency: 'USD', change: -1, marketCapUsd: 9 };
  const quoted = (price: number) => ({
    symbol: 'ACME',
    stock: Stock.fromPartial({ ...figures, price }),
    source,
  });
  const none = { refused: [], skipped: [] };
  const first = await catalog.quote('market-data', [quoted(7.5)]);
  expect(first).toMatchObject({ changed: 1, unchanged: 0, ...none });
  expect(await catalog.quote('market-data', [quoted(7.5)], 'run-2')).toMatchObject({ unchanged: 1 });
  const after = await getBrand('acme');
  expect(after).toEqual({
    ...before,
    stock: { ...before?.stock, ...figures },
    sources: [...(before?.sources ?? []), source],
  });

  const answer = await catalog.quote('market-data', [
    { isin: 'US0378331005', stock: Stock.fromPartial({ price: 8, currency: 'USD' }) },
    { symbol: 'ACM.DE', stock: Stock.fromPartial({ price: 6 }) },
    { symbol: 'NONE', stock: Stock.fromPartial({ price: 6 }) },
    { symbol: 'XNAS:ACME', stock: Stock.fromPartial({ price: 6 }) },
    { symbol: 'ACME' },
  ]);
  expect(answer).toMatchObject({ changed: 1, unchanged: 0 });
  expect(answer.skipped.map(({ index }) => index)).toEqual([1, 2]);
  expect(answer.refused.map(({ index }) => index)).toEqual([3, 4]);
  expect((await getBrand('acme'))?.stock).toMatchObject({ price: 8, exchange: 'NASDAQ' });

  await catalog.put('sample', [
    brandOf('acme', { type: BrandType.STOCK, listings, stock, name: 'Acme Corp.' }),
  ]);
  expect(await getBrand('acme')).toMatchObject({ name: 'Acme Corp.', stock: { price: 8 } });
  expect(await prune('market-data', 'run-3')).toEqual({ pruned: 1, more: false });
  expect((await getBrand('acme'))?.stock?.price).toBe(1);
});

test('a quote always finds its company, even if the company is the least known of many with the ticker', async () => {
  const mics = [
    'XNAS',
    'XNYS',
    'XETR',
    'XLON',
    'XPAR',
    'XTSE',
    'XHKG',
    'XSWX',
    'XSTO',
    'XMIL',
    'XAMS',
    'XBRU',
  ];
  const isin = 'US0378331005';
  const companies = mics.map((mic, place) =>
    stockOf(`on-${mic.toLowerCase()}`, `ABC@${mic}`, {
      rank: 10 + place,
      ...(place === 0 && { stock: { isin } }),
    }),
  );
  await catalog.put('sample', companies);
  for (const price of [1, 2, 3]) {
    const quote = { symbol: 'ABC', isin, stock: Stock.fromPartial({ price, currency: 'USD' }) };
    expect(await catalog.quote('market-data', [quote])).toMatchObject({ changed: 1, skipped: [] });
    expect((await getBrand('on-xnas'))?.stock?.price).toBe(price);
  }
});

test("the catalogue adds the exchange's names of the main listing only if no source gives them", async () => {
  const stock = { exchange: 'NMS', isin: 'US0378331005' };
  await catalog.put('sample', [
    stockOf('acme', 'ACME@XNAS', { stock }),
    stockOf('globex', 'GLBX@XETR'),
    stockOf('unknown', 'UNK@XXXX'),
    brandOf('initech'),
  ]);
  const [acme, globex, unknown, initech] = await catalog.lookup('ACME', 'GLBX', 'unknown', 'initech');
  expect(acme?.brand?.stock).toMatchObject({ ...stock, exchangeFullName: 'Nasdaq Stock Market' });
  expect(globex?.brand?.stock).toMatchObject({ exchange: 'XETRA' });
  expect(await getBrand('globex')).toEqual(globex?.brand);
  expect([unknown?.brand?.id, unknown?.brand?.stock]).toEqual(['unknown', undefined]);
  expect([initech?.brand?.id, initech?.brand?.stock]).toEqual(['initech', undefined]);
});

test('deleting a company deletes its quotes', async () => {
  await catalog.put('sample', [stockOf('acme', 'ACME@XNAS')]);
  await catalog.quote('market-data', [{ symbol: 'ACME', stock: Stock.fromPartial({ price: 1 }) }]);
  await prune('sample', 'sample-2');
  expect(await db.collection('brands').countDocuments()).toBe(0);
});

test('a record that breaks the rules is refused alone, with a reason', async () => {
  const bad = brandOf('bad', { links: { websites: ['ftp://bad.example/'] } });
  const answer = await catalog.put('sample', [brandOf('one'), bad, brandOf('two'), brandOf('one')]);
  expect(answer).toMatchObject({ created: 2, changed: 0, unchanged: 0 });
  expect(answer.refused).toEqual([
    { index: 1, reason: 'links.websites[0] must be an http or https URL' },
    { index: 3, reason: 'the id occurs twice in this batch: send one record for each id' },
  ]);
  expect((await catalog.lookup('one', 'two', 'bad')).map(({ brand }) => brand?.id)).toEqual([
    'one',
    'two',
    undefined,
  ]);
});

test.each(['', 'simple.icons', '$where', 'Sample', 'derived'])(
  'the source name "%s" is refused',
  async (source) => {
    await expect(catalog.put(source, [brandOf('acme')], 'run')).rejects.toMatchObject({
      kind: 'invalid_argument',
    });
  },
);

test.each([undefined, 'a wrong credential'])(
  'the admin port refuses %s as the credential',
  async (operatorToken) => {
    const call = callUnary(
      catalog.admin,
      catalog.admin.getStatistics,
      {},
      { deadlineMs: 5_000, operatorToken },
    );
    await expect(call).rejects.toMatchObject({ kind: 'unauthenticated' });
  },
);

test('the service is ready only once NATS and MongoDB answer', async () => {
  const server = await startTestNats();
  await server.child.kill();
  const late = await launchCatalog({ mongodbUrl: inject('mongodbUrl'), natsUrl: server.url, database });
  await vi.waitFor(async () => expect(await late.readiness()).toBe(503), { timeout: 60_000 });
  await server.child.start();
  await vi.waitFor(async () => expect(await late.readiness()).toBe(200), { timeout: 60_000 });
  await late.stop();
  await server.stop();
});

test.each(['operator', 'derived'])(
  'the service refuses an import of the reserved source %s',
  async (source) => {
    await expect(catalog.put(source, [brandOf('acme')])).rejects.toMatchObject({ kind: 'invalid_argument' });
    const request = { source, importId: 'run', prune: true };
    await expect(catalog.operate(catalog.admin.finishImport, request)).rejects.toMatchObject({
      kind: 'invalid_argument',
    });
  },
);
