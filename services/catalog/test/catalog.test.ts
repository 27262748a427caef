import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Brand, CATALOG_CHANGES_SUBJECT, CatalogChanged, MatchKind } from '@brand-data/contracts';
import { freePort, type LocalServer, startNatsServer } from '@brand-data/local';
import { callUnary } from '@brand-data/runtime';
import { connect } from '@nats-io/transport-node';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest';
import type { CatalogDoc } from '../src/catalog-doc.ts';
import { brandOf, launchCatalog, type RunningCatalog, startCatalog } from './running-catalog.ts';

const say = () => undefined;
const database = `test_catalog_${randomBytes(6).toString('hex')}`;
let dataDir: string;
let nats: LocalServer;
let mongo: MongoClient;
let db: Db;
let catalog: RunningCatalog;
let replica: RunningCatalog;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'brand-data-catalog-'));
  nats = await startNatsServer({ dataDir, say });
  mongo = new MongoClient(inject('mongodbUrl'));
  db = mongo.db(database);
  const settings = { mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database };
  [catalog, replica] = await Promise.all([startCatalog(settings), startCatalog(settings)]);
});

afterEach(async () => {
  await db.command({ profile: 0 });
  await db.collection('brands').deleteMany({});
});

afterAll(async () => {
  await Promise.all([catalog?.stop(), replica?.stop()]);
  await db?.dropDatabase();
  await mongo?.close();
  await nats?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const getBrand = async (id: string): Promise<Brand | undefined> =>
  (await catalog.operate(catalog.admin.getBrand, { id })).brand;

const prune = (source: string, importId: string) =>
  catalog.operate(catalog.admin.finishImport, { source, importId, prune: true });

test('a whole batch is one query, on the index', async () => {
  const brands = Array.from({ length: 200 }, (_, index) =>
    brandOf(`brand-${index}`, { names: [`Name ${index}`] }),
  );
  await catalog.put('sample', brands);
  await db.command({ profile: 2 });
  const results = await catalog.lookup(...brands.map((_, index) => `name ${index}`));
  await db.command({ profile: 0 });

  expect(results.map(({ brand }) => brand?.id)).toEqual(brands.map(({ id }) => id));
  const operations = await db
    .collection('system.profile')
    .find({ ns: `${database}.brands` })
    .toArray();
  expect(operations.map(({ op, planSummary }) => `${op} ${planSummary}`)).toEqual([
    'query IXSCAN { keys.key: 1 }',
  ]);
});

test('results are in the order of the queries, and what resolves to nothing is empty', async () => {
  await catalog.put('sample', [
    brandOf('acme', { links: { websites: ['https://www.acme.com/'] } }),
    brandOf('globex'),
  ]);
  const [globex, nothing, empty, acme] = await catalog.lookup('GLOBEX', 'no such thing', '', 'acme.com');
  expect(globex?.brand?.id).toBe('globex');
  expect(nothing).toEqual({});
  expect(empty).toEqual({});
  expect(acme).toMatchObject({ brand: { id: 'acme' }, match: { kind: MatchKind.DOMAIN, value: 'acme.com' } });
});

test('an answer does not depend on what else is in its batch, though very many share a name', async () => {
  const share = (prefix: string, count: number, rank: number) =>
    Array.from({ length: count }, (_, index) =>
      brandOf(`${prefix}-${index}`, { name: 'United', rank: (index + rank) % 900 }),
    );
  for (const part of ['a', 'b', 'c']) await catalog.put('sample', share(part, 400, part.charCodeAt(0)));
  await catalog.put('sample', [
    brandOf('united', { name: 'United', rank: 901 }),
    brandOf('acme', { rank: 1 }),
  ]);
  const [alone] = await catalog.lookup('acme');
  const [united, acme] = await catalog.lookup('united', 'acme');
  expect(united?.brand?.id).toBe('united');
  expect(acme).toEqual(alone);
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

test('replicas that put the same records at once lose nothing of either', async () => {
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

test('a look-up sees a record wholly before or wholly after a change', async () => {
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

test('what is there already is not written again, but for the import that brought it', async () => {
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
  expect(after?.contributions.sample?.importId).toBe('sample-2');
  expect({ ...after, contributions: {} }).toEqual({ ...before, contributions: {} });
  const [first, ...others] = brands;
  const changed = [...(first ? [{ ...first, rank: 501 }] : []), ...others];
  expect(await catalog.put('sample', changed, 'sample-3')).toMatchObject({ changed: 1, unchanged: 1 });
});

test('pruning takes back what the source no longer has, and nothing of other sources', async () => {
  await catalog.put('sample', [brandOf('kept'), brandOf('shared', { name: 'Sample name' }), brandOf('gone')]);
  await catalog.put('simple-icons', [brandOf('shared', { name: 'Icon name' }), brandOf('other')]);
  await catalog.put('sample', [brandOf('kept')], 'sample-2');
  expect(await prune('sample', 'sample-2')).toEqual({ pruned: 2 });
  expect(await prune('sample', 'sample-2')).toEqual({ pruned: 0 });

  await expect(getBrand('gone')).rejects.toMatchObject({ kind: 'not_found' });
  expect(await getBrand('shared')).toMatchObject({ name: 'Icon name', names: [] });
  const [bySample, byIcon] = await catalog.lookup('sample name', 'icon name');
  expect(bySample).toEqual({});
  expect(byIcon?.brand?.id).toBe('shared');
  expect(await catalog.operate(catalog.admin.getStatistics, {})).toEqual({
    brands: 3,
    sources: [
      { source: 'sample', brands: 1 },
      { source: 'simple-icons', brands: 2 },
    ],
  });
});

test('an import without pruning takes nothing back', async () => {
  await catalog.put('sample', [brandOf('acme')]);
  await catalog.put('sample', [brandOf('globex')], 'sample-2');
  const request = { source: 'sample', importId: 'sample-2', prune: false };
  expect(await catalog.operate(catalog.admin.finishImport, request)).toEqual({ pruned: 0 });
  expect(await getBrand('acme')).toBeDefined();
});

test('gateways are told when an import is finished', async () => {
  const connection = await connect({ servers: nats.url });
  const told = vi.fn();
  connection.subscribe(CATALOG_CHANGES_SUBJECT, {
    callback: (_, { data }) => told(CatalogChanged.decode(data)),
  });
  await connection.flush();
  await prune('sample', 'sample-1');
  await vi.waitFor(() => expect(told).toHaveBeenCalledWith({ brandIds: [] }));
  await connection.close();
});

test('a record that breaks the rules is refused alone, with a reason', async () => {
  const bad = brandOf('bad', { links: { websites: ['ftp://bad.example/'] } });
  const answer = await catalog.put('sample', [brandOf('one'), bad, brandOf('two'), brandOf('one')]);
  expect(answer).toMatchObject({ created: 2, changed: 0, unchanged: 0 });
  expect(answer.refused).toEqual([
    { index: 1, reason: 'links.websites[0] must be an http or https URL' },
    { index: 3, reason: 'id is given twice in this batch: send one record of each id' },
  ]);
  expect((await catalog.lookup('one', 'two', 'bad')).map(({ brand }) => brand?.id)).toEqual([
    'one',
    'two',
    undefined,
  ]);
});

test.each(['', 'simple.icons', '$where', 'Sample'])('the source name "%s" is refused', async (source) => {
  await expect(catalog.put(source, [brandOf('acme')], 'run')).rejects.toMatchObject({
    kind: 'invalid_argument',
  });
});

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
  const port = await freePort();
  const late = await launchCatalog({
    mongodbUrl: inject('mongodbUrl'),
    natsUrl: `nats://127.0.0.1:${port}`,
    database,
  });
  await vi.waitFor(async () => expect(await late.readiness()).toBe(503), { timeout: 10_000 });
  const server = await startNatsServer({ dataDir: join(dataDir, 'late'), port, say });
  await vi.waitFor(async () => expect(await late.readiness()).toBe(200), { timeout: 15_000 });
  await late.stop();
  await server.stop();
});
