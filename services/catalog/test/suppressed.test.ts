import { Override } from '@brand-data/contracts';
import { SUPPRESSED } from '@brand-data/records';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerOf, byEntry, candidateFinder, readQueries } from '../src/lookup/answers.ts';
import { searcher } from '../src/lookup/search.ts';
import { similarityQuery } from '../src/lookup/similar-names.ts';
import { similarFinder } from '../src/lookup/suggestions.ts';
import { isSuppressed } from '../src/records/catalog-doc.ts';
import { changeKeysOf } from '../src/records/index-keys.ts';
import { sourceRecordOf } from '../src/records/source-record.ts';
import { catalogueDatabases, type OpenCatalogue } from './catalogue-databases.ts';
import { SOURCES, someBrand } from './some-records.ts';

const open = catalogueDatabases();
const withinMs = 60_000;

const IDENTIFIERS = [
  'Acme',
  'Acme Inc.',
  'Globex',
  'Initech Motors',
  'Initec',
  'ACME',
  'XETR:GLBX',
  'acme.com',
];
const TYPED = ['ac', 'globex', 'motors', 'acme.c', 'GLBX'];
const queries = readQueries(
  [...IDENTIFIERS, 'US0378331005', 'CH0038863350', '529900T8BM49AURSDO55', 'Acmee', 'Globx'].map(
    (identifier) => ({
      identifier,
      superinvestors: true,
    }),
  ),
);
const entries = [...new Set(queries.flatMap((query) => query.entries))];

const decision = (id: string) => ({
  id,
  field: SUPPRESSED,
  override: Override.fromPartial({ field: SUPPRESSED, by: 'ada', reason: 'asked for', atMs: 1 }),
});

const someImports = fc.array(
  fc.record({
    source: fc.constantFrom(...SOURCES),
    brands: fc.uniqueArray(someBrand, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
    prune: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);

async function importInto(
  { store }: OpenCatalogue,
  imports: Awaited<ReturnType<typeof someImports.generate>>['value'],
  name: string,
) {
  for (const [run, { source, brands, prune }] of imports.entries()) {
    const importId = `${name}-${run}`;
    const puts = brands.map((brand) => sourceRecordOf(source, importId, brand));
    await store.putSourceRecords(source, puts, { dryRun: false });
    if (prune) await store.prune(source, importId, { withinMs });
  }
}

/** Returns the ids of what each query means, is searched or is suggested, without the companies `left out`. */
async function answersOf({ companies }: OpenCatalogue, leftOut: ReadonlySet<string> = new Set()) {
  const findCandidates: ReturnType<typeof candidateFinder> = async (...args) =>
    (await candidateFinder(companies)(...args)).filter(({ id }) => !leftOut.has(id));
  const candidates = byEntry(await findCandidates(entries, { perEntry: 20 }));
  const search = searcher(companies, findCandidates, { giveWay: async () => {}, withinMs });
  const similar = await similarFinder(companies, { withinMs })(
    queries.flatMap((query) => similarityQuery(query)?.entries ?? []),
  );
  const found = await Promise.all(TYPED.map((text) => search({ text, limit: 10, accountId: '' })));
  return {
    meant: queries.map((query) => answerOf(query, candidates, 20).meanings.map(({ brand }) => brand.id)),
    searched: found.map((each) =>
      each.flatMap(({ brand }) => brand?.id ?? []).filter((id) => !leftOut.has(id)),
    ),
    similar: similar
      .map(({ id }) => id)
      .filter((id) => !leftOut.has(id))
      .sort(),
  };
}

test('over all imports look-ups, searches and suggestions are as if suppressed companies were not there, until they are lifted', async () => {
  const [catalogue, untouched] = [await open('suppressed'), await open('untouched')];
  await fc.assert(
    fc.asyncProperty(
      someImports,
      someImports,
      fc.array(fc.nat(4), { minLength: 1, maxLength: 2 }),
      async (before, after, chosen) => {
        for (const { companies } of [catalogue, untouched]) await companies.deleteMany({});
        for (const each of [catalogue, untouched]) await importInto(each, before, 'a');
        const docs = await catalogue.companies.find().sort({ _id: 1 }).toArray();
        const ids = [...new Set(chosen.flatMap((index) => docs[index]?._id ?? []))].filter(
          (id) => !id.includes(':'),
        );
        await catalogue.store.editFields(ids.map(decision), { dryRun: false });
        for (const each of [catalogue, untouched]) await importInto(each, after, 'b');

        const suppressed = (await catalogue.companies.find().toArray())
          .filter(isSuppressed)
          .map(({ _id }) => _id);
        expect(await answersOf(catalogue)).toEqual(await answersOf(untouched, new Set(suppressed)));

        const lifted = suppressed.map((id) => ({ id, field: SUPPRESSED }));
        await catalogue.store.editFields(lifted, { dryRun: false });
        expect(await answersOf(catalogue)).toEqual(await answersOf(untouched));
      },
    ),
    { numRuns: 20 },
  );
});

test('a company that is suppressed, and one that is found again, is announced to gateways by all that found it', async () => {
  const announced: number[][] = [];
  const catalogue = await open('announced', (keys, write) => {
    announced.push([...keys]);
    return write();
  });
  const brand = brandOf('acme', { name: 'Acme', domains: ['acme.com'] });
  await catalogue.store.putSourceRecords('feed', [sourceRecordOf('feed', 'run', brand)], { dryRun: false });
  const wanted = changeKeysOf(['name:acme', 'domain:acme.com']);
  announced.length = 0;
  await catalogue.store.editFields([decision('acme')], { dryRun: false });
  await catalogue.store.editFields([{ id: 'acme', field: SUPPRESSED }], { dryRun: false });
  expect(announced).toEqual([expect.arrayContaining(wanted), expect.arrayContaining(wanted)]);
  expect(await catalogue.store.countBrands()).toMatchObject({ brands: 1 });
});
