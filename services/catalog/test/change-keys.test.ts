import { Brand, Override } from '@brand-data/contracts';
import { brandOfField } from '@brand-data/records';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import {
  bestOfEntry,
  candidateFinder,
  findAnswers,
  type ReadQuery,
  readQuery,
} from '../src/lookup/answers.ts';
import { changeKeysOf } from '../src/records/index-keys.ts';
import { sourceRecordOf } from '../src/records/source-record.ts';
import type { Collections } from '../src/storage/collections.ts';
import type { CatalogStore } from '../src/storage/store.ts';
import { catalogueDatabases } from './catalogue-databases.ts';
import { SOURCES, someBrand } from './some-records.ts';

const IDENTIFIERS = [
  'Acme',
  'Acme Inc.',
  'Acme Group',
  'Globex',
  'Globex AG',
  'globe x',
  'Initech',
  'acme.com',
  'acme.org',
  'ACME',
  'GLBX',
  'XETR:ACME',
  'ACME GR',
  'GLBX US',
  'Acme ACME',
  'Acme (GLBX)',
  'US0378331005',
  'GB0002634946',
  '037833100',
  '529900T8BM49AURSDO55',
  'https://www.globex.com/about',
];
const QUERIES = [true, false].flatMap((superinvestors) =>
  IDENTIFIERS.map((identifier) => readQuery({ identifier, superinvestors })),
);

const open = catalogueDatabases();
let collections: Collections;
let store: CatalogStore;
const announced = new Set<number>();

beforeAll(async () => {
  const catalogue = await open('changes', (keys, write) => {
    for (const key of keys) announced.add(key);
    return write();
  });
  collections = catalogue;
  store = catalogue.store;
});

beforeEach(async () => {
  await collections.companies.deleteMany({});
  announced.clear();
});

const put = (source: string, brands: readonly Brand[], importId = 'run-1') =>
  store.putSourceRecords(
    source,
    brands.map((brand) => sourceRecordOf(source, importId, brand)),
    { dryRun: false },
  );

/** Returns a look-up's answer to each query, as gateways get it. */
async function answers(): Promise<Map<ReadQuery, string>> {
  const limits = { perEntry: bestOfEntry(QUERIES), most: 1 };
  const answered = await findAnswers(QUERIES, candidateFinder(collections.companies), limits);
  return new Map(
    answered.map(({ query, answer }) => {
      const [meaning] = answer.meanings;
      const text =
        meaning === undefined
          ? ''
          : JSON.stringify([
              Buffer.from(Brand.encode(meaning.brand).finish()).toString('latin1'),
              meaning.match,
            ]);
      return [query, text] as const;
    }),
  );
}

const change = fc.oneof(
  fc.record({
    source: fc.constantFrom(...SOURCES),
    brands: fc.uniqueArray(someBrand, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
    prune: fc.boolean(),
  }),
  fc.record({
    company: fc.nat(5),
    value: fc.constantFrom<[string, unknown] | undefined>(
      ['company.ceo', 'Ada'],
      ['name', 'Initech'],
      ['rank', 900],
      ['links.websites', ['https://globex.com/']],
      ['domains', ['acme.org']],
      ['type', 'brand'],
      // The company is deleted.
      undefined,
    ),
  }),
);

/** Makes a change as an operator does. */
async function make(step: typeof change extends fc.Arbitrary<infer Step> ? Step : never, run: number) {
  if ('brands' in step) {
    await put(step.source, step.brands, `run-${run}`);
    if (step.prune) await store.prune(step.source, `run-${run}`, { withinMs: 10_000 });
    return;
  }
  const ids = (await collections.companies.find({}, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id);
  const id = ids[step.company % Math.max(ids.length, 1)];
  if (id === undefined || id.includes(':')) return;
  if (step.value === undefined) {
    await store.deleteBrand(id);
    return;
  }
  const [field, value] = step.value;
  const made = brandOfField(field, value);
  if ('problem' in made) throw new Error(made.problem);
  const override = Override.fromPartial({
    field,
    by: 'ada',
    reason: 'because',
    atMs: run,
    value: made.brand,
  });
  await store.editFields([{ id, field, override }], { dryRun: false });
}

test('a change that changes what an identifier is answered announces a key on which the answer depends', async () => {
  let changedAnswers = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 8 }), async (history) => {
      await collections.companies.deleteMany({});
      for (const [run, step] of history.entries()) {
        const before = await answers();
        announced.clear();
        await make(step, run);
        const after = await answers();
        for (const [query, answer] of after) {
          if (answer === before.get(query)) continue;
          changedAnswers += 1;
          expect(
            changeKeysOf(query.entries).some((key) => announced.has(key)),
            `${query.identifier}: ${before.get(query)} → ${answer}`,
          ).toBe(true);
        }
      }
    }),
    { numRuns: 60 },
  );
  expect(changedAnswers).toBeGreaterThan(100);
});

test('a change announces no key on which only answers of other records depend', async () => {
  await put('feed', [brandOf('globex', { name: 'Globex', domains: ['globex.com'] })]);
  announced.clear();
  await put('feed', [brandOf('acme', { name: 'Acme Inc.', domains: ['acme.com'] })]);
  for (const { identifier, entries } of QUERIES)
    if (/^globe|globex.com/i.test(identifier))
      expect(
        changeKeysOf(entries).filter((key) => announced.has(key)),
        identifier,
      ).toEqual([]);
});

test('a record that an import brings again unchanged is not announced', async () => {
  const acme = brandOf('acme', { name: 'Acme Inc.' });
  await put('feed', [acme], 'run-1');
  announced.clear();
  await put('feed', [acme], 'run-2');
  expect([...announced]).toEqual([]);
});
