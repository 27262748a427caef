import { type Brand, BrandType } from '@brand-data/contracts';
import { keysOfBrand, lookupRank, resolve } from '@brand-data/identifiers';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import type { Document } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import {
  answerOf,
  bestOfEach,
  byEntry,
  candidateFinder,
  findAnswers,
  havingAny,
  readQueries,
} from '../src/lookup/answers.ts';
import { indexKeysToRead } from '../src/records/index-keys.ts';
import { type FeedDatabase, feedDatabase } from './catalogue-databases.ts';
import { stockOf } from './running-catalog.ts';

const everyone = { superinvestors: true };
const database = feedDatabase();
const put: FeedDatabase['put'] = (...brands) => database.put(...brands);
let collections: FeedDatabase['collections'];

beforeAll(() => {
  collections = database.collections;
});

const entriesOf = (...identifiers: string[]) => [
  ...new Set(identifiers.flatMap((identifier) => indexKeysToRead(identifier, everyone))),
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

test('one identifier, or a batch of 200, is one query that reads index keys for its entries and results only, and no other records', async () => {
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

test('queries that find something make one search, and all others are read as leading words in one more', async () => {
  await put(stockOf('nova', 'NOVA@XNAS', { name: 'Nova Motors Inc.', rank: 900 }));
  const find = candidateFinder(collections.companies);
  const searches: (readonly string[])[] = [];
  const meaningsOfAll = async (...identifiers: string[]) => {
    searches.length = 0;
    const queries = readQueries(identifiers.map((identifier) => ({ identifier, ...everyone })));
    const answers = await findAnswers(
      queries,
      (entries, options) => {
        searches.push(entries);
        return find(entries, options);
      },
      { perEntry: 2, most: 1 },
    );
    return answers.map(({ answer }) => answer.meanings[0]?.brand.id);
  };
  expect(await meaningsOfAll('NOVA', 'Nova Motors', 'xnas:nova')).toEqual(['nova', 'nova', 'nova']);
  expect(searches).toHaveLength(1);
  expect(await meaningsOfAll('NOVA', 'nothing', 'The Nova')).toEqual(['nova', undefined, 'nova']);
  expect(searches).toHaveLength(2);
  expect(searches[1]).toHaveLength(4);
  expect(await meaningsOfAll('US0378331005', 'example.com', 'the', 'one text of many words')).toEqual(
    Array(4).fill(undefined),
  );
  expect(searches).toHaveLength(1);
});

test("a name with a registry's mark of a state finds the company that has the mark, and the name alone the best known", async () => {
  await put(
    stockOf('fbnc', 'FBNC@XNAS', { name: 'FIRST BANCORP /NC/', rank: 700 }),
    stockOf('fbp', 'FBP@XNYS', { name: 'FIRST BANCORP /PR/', rank: 690 }),
    stockOf('fnlc', 'FNLC@XNAS', { name: 'FIRST BANCORP /ME/', rank: 500 }),
    stockOf('nevada', 'DLTA@XNAS', { name: 'DELTA INC /NV/', rank: 500 }),
    brandOf('manager', { type: BrandType.SUPERINVESTOR, name: 'GREENLIGHT CAPITAL INC /NY/' }),
  );
  const find = candidateFinder(collections.companies);
  const idsMeant = async (...identifiers: string[]) => {
    const queries = readQueries(
      identifiers.map((identifier) => ({ identifier, superinvestors: false, kind: undefined })),
    );
    const answers = await findAnswers(queries, find, { perEntry: 2, most: 1 });
    return answers.map(({ answer }) => answer.meanings[0]?.brand.id);
  };
  expect(
    await idsMeant('FIRST BANCORP /PR/', 'First Bancorp /ME/', 'FIRST BANCORP /NC/', 'First Bancorp'),
  ).toEqual(['fbp', 'fnlc', 'fbnc', 'fbnc']);
  // Nevada is no legal form, and superinvestors were not asked for.
  expect(await idsMeant('Delta N.V.', 'GREENLIGHT CAPITAL INC /NY/')).toEqual([undefined, undefined]);
});

test('if thousands of records share a name, a look-up reads only the best ones, in the order of the index', async () => {
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
  const find = candidateFinder(companies);
  const idsFound = async () => (await find(entries)).map(({ id }) => id).toSorted();
  const first = await idsFound();
  const second = await companies
    .find({ keys: 'name:united', _id: { $ne: 'united-a' } })
    .sort({ rank: -1 })
    .next();
  expect(first).toEqual(['acme', 'united-a', second?._id].toSorted());
  // Now one query finds all records of the other entries, and one the best of each that the finder takes as common: the name, and the
  // name without its legal form.
  let queries = 0;
  const count = ({ commandName }: { commandName: string }) => {
    if (commandName === 'find' || commandName === 'aggregate') queries += 1;
  };
  companies.db.client.on('commandStarted', count);
  expect(await idsFound()).toEqual(first);
  companies.db.client.off('commandStarted', count);
  expect(queries).toBe(3);
});

test('a first look-up of a name that many companies have, also with "Group", asks at most twice', async () => {
  await put(
    ...Array.from({ length: 60 }, (_, index) =>
      brandOf(`orion-${index}`, { name: ['Orion Group', 'Orion Inc.', 'Orion AG'][index % 3] ?? '' }),
    ),
  );
  const { companies } = collections;
  const { client } = companies.db;
  const commands: string[] = [];
  const onSent = ({ commandName }: { commandName: string }) => commands.push(commandName);
  client.on('commandStarted', onSent);
  await candidateFinder(companies)(entriesOf('orion'));
  client.off('commandStarted', onSent);
  // A third time, one aggregation would read the best of each entry.
  expect(new Set(commands)).toEqual(new Set(['find']));
  expect(commands.length).toBeLessThanOrEqual(1 + 1 + 3);
});

test('all queries of one search have one deadline', async () => {
  await put(...Array.from({ length: 60 }, (_, index) => brandOf(`zenith-${index}`, { name: 'Zenith' })));
  const { companies } = collections;
  const { client } = companies.db;
  const sent: { atMs: number; withinMs: number }[] = [];
  const answeredAtMs: number[] = [];
  const onSent = ({ command }: { command: Document }) =>
    sent.push({ atMs: performance.now(), withinMs: Number(command.maxTimeMS) });
  const onAnswer = () => answeredAtMs.push(performance.now());
  client.on('commandStarted', onSent).on('commandSucceeded', onAnswer);
  await candidateFinder(companies)(entriesOf('zenith'));
  client.off('commandStarted', onSent).off('commandSucceeded', onAnswer);
  const [first, ...others] = sent;
  expect(others.length).toBeGreaterThan(0);
  expect(first?.withinMs).toBeLessThanOrEqual(1_500);
  // The others are made when the first is answered. Milliseconds are rounded up.
  const passedMs = (answeredAtMs[0] ?? 0) - (first?.atMs ?? 0);
  for (const { withinMs } of others) expect(withinMs).toBeLessThanOrEqual(1_501 - passedMs);
});

test('a look-up finds the record that the identifier means, alone or in a batch, however many records share the name', async () => {
  const fewNames = fc.constantFrom(
    'United',
    'United Inc.',
    'The United',
    'United GmbH',
    'United AG',
    'Acme',
    'Acme Corp.',
    'Acme Corporation',
    'Acme Inc.',
    'Ac Me',
    'Ac & Me AG',
  );
  // Some of these names are rare, so that a weak match often fits one company, two, or one and bare records.
  const rareNames = fc.constantFrom('Zeta Group', 'Zeta Holdings', 'Ze Ta', 'Zeta-Group SE', 'Zeta');
  const facts = (name: fc.Arbitrary<string>) =>
    fc.record({ name, formerly: fewNames, rank: fc.integer({ min: 1, max: 4 }), isBare: fc.boolean() });
  const some = fc
    .tuple(
      fc.array(facts(fewNames), { minLength: 20, maxLength: 300 }),
      fc.oneof(fc.array(facts(rareNames), { maxLength: 3 }), fc.array(facts(rareNames), { maxLength: 60 })),
    )
    .map((lists) => lists.flat());
  const queries = readQueries(
    [
      'united',
      'United Incorporated',
      'UNITED GMBH',
      'United S.A.',
      'acme',
      'ACME Corp',
      'Acme, Inc.',
      'ac me',
      'ac-me',
      'zeta',
      'ze ta',
      'Zeta Group',
      'zetagroup',
    ].map((identifier) => ({ identifier, superinvestors: true })),
  );
  // All runs use one finder, so it remembers entries as common that fewer records share in later runs.
  const find = candidateFinder(collections.companies);
  await fc.assert(
    fc.asyncProperty(some, fc.integer({ min: 2, max: 6 }), async (facts, most) => {
      await collections.companies.deleteMany({});
      const brands = facts.map(({ name, formerly, rank, isBare }, index) =>
        brandOf(`company-${index}`, {
          name,
          rank,
          history: { formerly: [formerly] },
          ...(isBare ? { description: '', category: '' } : {}),
        }),
      );
      await put(...brands);
      const docs = await collections.companies.find().toArray();
      const ranks = new Map(docs.map(({ _id, rank }) => [_id, rank]));
      const meant = new Map(
        queries.map((query) => [query, inOrder(query.identifier, brands, { ranks, most })]),
      );
      for (const batch of [...queries.map((query) => [query]), queries, queries]) {
        const entries = [...new Set(batch.flatMap((query) => query.entries))];
        const candidates = byEntry(await find(entries, { perEntry: most + 1 }));
        for (const query of batch) {
          const found = answerOf(query, candidates, most).meanings.map(({ brand }) => brand.id);
          expect(found, query.identifier).toEqual(meant.get(query));
        }
      }
    }),
    { numRuns: 12 },
  );
});

/**
 * Returns the brands that an identifier could mean, in order. Each is the one that it means once the brands before it are
 * removed.
 */
function inOrder(
  identifier: string,
  brands: readonly Brand[],
  { ranks, most }: { ranks: ReadonlyMap<string, number>; most: number },
): string[] {
  let left = brands.map((brand) => ({
    id: brand.id,
    rank: lookupRank(brand),
    tieBreak: (ranks.get(brand.id) ?? 0) - lookupRank(brand),
    keys: keysOfBrand(brand),
  }));
  const ids: string[] = [];
  while (ids.length < most) {
    const meant = resolve(identifier, left, everyone);
    if (meant === undefined) break;
    ids.push(meant.id);
    left = left.filter(({ id }) => id !== meant.id);
  }
  return ids;
}
