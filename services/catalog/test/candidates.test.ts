import { randomBytes } from 'node:crypto';
import { readIdentifier, resolve } from '@brand-data/identifiers';
import fc from 'fast-check';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { bestOfEach, findCandidates, havingAny } from '../src/candidates.ts';
import { contributionOf } from '../src/contribution.ts';
import { indexKeysToRead } from '../src/index-keys.ts';
import { type Collections, catalogStore, openCollections } from '../src/store.ts';
import { brandOf, stockOf } from './running-catalog.ts';

const everyone = { superinvestors: true };
let client: MongoClient;
let collections: Collections;
let put: (...brands: ReturnType<typeof brandOf>[]) => Promise<unknown>;

beforeAll(async () => {
  client = new MongoClient(inject('mongodbUrl'));
  const mongo = { client, db: client.db(`test_catalog_${randomBytes(6).toString('hex')}`) };
  collections = await openCollections(mongo);
  const store = catalogStore(mongo, collections);
  put = (...brands) =>
    store.putContributions(
      'feed',
      brands.map((brand) => contributionOf('feed', 'run', brand)),
      { dryRun: false },
    );
});

beforeEach(async () => {
  await collections.companies.deleteMany({});
});

afterAll(async () => {
  await collections.companies.db.dropDatabase();
  await client.close();
});

const entriesOf = (...identifiers: string[]) => [
  ...new Set(
    identifiers.flatMap((identifier) => readIdentifier(identifier, everyone).flatMap(indexKeysToRead)),
  ),
];

const words = ['United', 'Acme', 'Global', 'Nova'];
/** Listed companies with several listings, some of whose names and tickers are the same. */
const someCompanies = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    stockOf(`company-${index}`, `T${index}@XNAS`, {
      name: `${words[index % 4]} ${index % 50} Inc.`,
      names: index % 7 === 0 ? [`T${index}`] : [],
      rank: (index * 37) % 900,
      domains: [`company-${index}.com`],
      history: { formerly: [`${words[(index + 1) % 4]} ${index % 50}`] },
    }),
  );

test('one identifier, or a batch of 200, is one query that reads of the index its keys and results, and no other records', async () => {
  const companies = someCompanies(400);
  await put(...companies);
  const identifiers = companies.flatMap(({ id, name }, index) => [
    name,
    `T${index}`,
    `${id}.com`,
    `XNAS:T${index}`,
    'none',
  ]);
  const batches = [
    ...identifiers.map((identifier) => [identifier]).slice(0, 400),
    identifiers.slice(0, 200),
    identifiers.slice(500, 700),
  ];
  for (const batch of batches) {
    const entries = entriesOf(...batch);
    const { executionStats } = await collections.companies.find(havingAny(entries)).explain('executionStats');
    const { totalKeysExamined, totalDocsExamined, nReturned } = executionStats;
    expect(totalKeysExamined).toBeLessThanOrEqual(entries.length + nReturned);
    expect(totalDocsExamined).toBe(nReturned);
  }
});

test('where thousands share a name the best are read off the index, and no others', async () => {
  for (let start = 0; start < 3_000; start += 500)
    await put(
      ...Array.from({ length: 500 }, (_, index) =>
        brandOf(`united-${start + index}`, { name: 'United', rank: 7 }),
      ),
    );
  await put(brandOf('united-a', { name: 'United', rank: 8 }), brandOf('acme', { name: 'Acme' }));
  const entries = entriesOf('united', 'acme');
  const { companies } = collections;
  const explained = await companies.db
    .aggregate(bestOfEach(entries, 2, companies.collectionName))
    .explain('executionStats');
  const lookup = (explained.stages as Document[]).find((stage) => '$lookup' in stage);
  expect(Number(lookup?.totalKeysExamined)).toBeLessThanOrEqual(entries.length + 3);
  expect(Number(lookup?.totalDocsExamined)).toBe(3);
  const found = await findCandidates(companies, entries);
  expect(found.map(({ id }) => id).toSorted()).toEqual(['acme', 'united-0', 'united-a']);
});

test('what is found is what is meant among all records, however many share its names', async () => {
  const fewNames = fc.constantFrom('United', 'United Inc.', 'The United', 'Acme', 'Acme Corp.');
  const some = fc.array(fc.record({ name: fewNames, formerly: fewNames, rank: fc.nat(3) }), {
    minLength: 150,
    maxLength: 300,
  });
  await fc.assert(
    fc.asyncProperty(some, async (facts) => {
      await collections.companies.deleteMany({});
      const brands = facts.map(({ name, formerly, rank }, index) =>
        brandOf(`company-${index}`, { name, rank, history: { formerly: [formerly] } }),
      );
      await put(...brands);
      const all = await collections.companies.find().toArray();
      for (const identifier of ['united', 'United Inc.', 'acme', 'ACME Corp']) {
        const entries = entriesOf(identifier);
        const bounded = await findCandidates(collections.companies, entries);
        const unbounded = all.length > 0 ? await findAll(entries) : [];
        expect(resolve(identifier, bounded, everyone)).toEqual(resolve(identifier, unbounded, everyone));
        expect(bounded.length).toBeLessThan(all.length);
      }
    }),
    { numRuns: 8 },
  );
});

/** As many of each entry as there are. */
const findAll = (entries: readonly string[]) =>
  findCandidates(collections.companies, entries, { perEntry: 1_000 });
