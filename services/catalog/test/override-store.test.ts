import { Brand, Override } from '@brand-data/contracts';
import { brandOfField, JOINED, OPERATOR, SEPARATED } from '@brand-data/records';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FieldEdit } from '../src/linkage/edit-overrides.ts';
import { type CatalogDoc, isWaiting, sourceRecordsFromDoc } from '../src/records/catalog-doc.ts';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../src/records/source-record.ts';
import { CatalogStore } from '../src/storage/store.ts';
import { catalogueDatabases, type OpenCatalogue } from './catalogue-databases.ts';
import { SOURCES, someBrand } from './some-records.ts';

const open = catalogueDatabases();

async function put({ store }: OpenCatalogue, source: string, brands: readonly Brand[], importId = 'run-1') {
  const puts = brands.map((brand) => sourceRecordOf(source, importId, brand));
  const { outcomes } = await store.putSourceRecords(source, puts, { dryRun: false });
  expect(outcomes.filter((outcome) => typeof outcome === 'object')).toEqual([]);
}

let clock = 0;
function setting(id: string, field: string, value: unknown): FieldEdit {
  const made = brandOfField(field, value);
  if ('problem' in made) throw new Error(made.problem);
  const override = Override.fromPartial({ field, by: 'ada', reason: 'because', atMs: ++clock });
  return { id, field, override: { ...override, value: made.brand } };
}

const edit = ({ store }: OpenCatalogue, ...edits: FieldEdit[]) => store.editFields(edits, { dryRun: false });

/** Returns the companies without their ids, revisions and imports. The overrides are named by their texts. */
async function contents({ companies }: OpenCatalogue) {
  const docs = await companies.find().toArray();
  return docs
    .map((doc) => {
      const named = sourceRecordsFromDoc(doc).map((record) =>
        record.overrides === undefined ? referenceOf(record) : JSON.stringify(record.overrides),
      );
      const record = isWaiting(doc) ? undefined : { ...Brand.decode(doc.brand), id: '' };
      return { named, record, keys: doc.keys };
    })
    .sort((a, b) => (String(a.named) < String(b.named) ? -1 : 1));
}

async function brandOfId({ store }: OpenCatalogue, id: string): Promise<Brand> {
  const doc = await store.readBrand(id);
  if (doc === undefined) throw new Error(`${id} is not in the catalogue`);
  return Brand.decode(doc.brand);
}

/** Decides about two of the source records of these documents, if there are so many. */
async function decide({ store }: OpenCatalogue, docs: readonly CatalogDoc[], { field, records }: Decided) {
  const all = docs.flatMap(({ contributions }) => contributions.filter(({ overrides }) => !overrides));
  const names = records.flatMap((index) => all[index % all.length] ?? []).map(referenceOf);
  if (names.length < 2) return;
  const decision = Override.fromPartial({ field, by: 'ada', reason: 'because', atMs: ++clock });
  const request = { decision, names: field === JOINED ? names : names.slice(0, 1), undo: false };
  await store.decideLinks(request, { dryRun: false });
}

/** Puts source records and overrides at once. A decision that contradicts others is refused only if the records are there. */
async function putAll(catalogue: OpenCatalogue, all: readonly SourceRecord[]): Promise<void> {
  const operatorFirst = all.toSorted((a, b) => Number(b.source === OPERATOR) - Number(a.source === OPERATOR));
  for (const [source, puts] of Map.groupBy(operatorFirst, ({ source }) => source))
    await catalogue.store.putSourceRecords(source, puts, { dryRun: false });
}

interface Decided {
  field: string;
  records: readonly number[];
}

const steps = fc.array(
  fc.oneof(
    fc.record({
      source: fc.constantFrom(...SOURCES),
      brands: fc.uniqueArray(someBrand, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
      prune: fc.boolean(),
    }),
    fc.record({ field: fc.constantFrom(JOINED, SEPARATED), records: fc.tuple(fc.nat(9), fc.nat(9)) }),
    fc.record({
      company: fc.nat(5),
      value: fc.constantFrom<[string, unknown]>(
        ['company.ceo', 'Ada'],
        ['links.websites', ['https://globex.com/']],
        ['domains', ['acme.org']],
        ['links.wikidata_qid', 'Q2'],
        ['type', 'brand'],
      ),
    }),
  ),
  { minLength: 2, maxLength: 9 },
);

test('after any imports, prunes, edits and decisions the stored catalogue is as if all records and overrides were put at once', async () => {
  const [catalogue, atOnce] = [await open('history'), await open('at_once')];
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      await Promise.all([catalogue, atOnce].map(({ companies }) => companies.deleteMany({})));
      for (const [run, step] of history.entries()) {
        if ('source' in step) {
          await put(catalogue, step.source, step.brands, `run-${run}`);
          if (step.prune) await catalogue.store.prune(step.source, `run-${run}`, { withinMs: 10_000 });
          continue;
        }
        const docs = await catalogue.companies.find().sort({ _id: 1 }).toArray();
        if ('records' in step) {
          await decide(catalogue, docs, step);
          continue;
        }
        const doc = docs.filter((each) => !isWaiting(each))[step.company];
        if (doc !== undefined) await edit(catalogue, setting(doc._id, ...step.value));
      }
      const docs = await catalogue.companies.find().toArray();
      await putAll(atOnce, docs.flatMap(sourceRecordsFromDoc));
      expect(await contents(catalogue)).toEqual(await contents(atOnce));
    }),
    { numRuns: 40 },
  );
});

test('after edits, decisions, imports and prunes at the same moment the stored catalogue is as if all were put at once', async () => {
  const [catalogue, other, atOnce] = [await open('races'), await open('races'), await open('races_at_once')];
  await fc.assert(
    fc.asyncProperty(steps, steps, async (before, history) => {
      await Promise.all([catalogue, atOnce].map(({ companies }) => companies.deleteMany({})));
      for (const step of before)
        if ('source' in step) await put(catalogue, step.source, step.brands, 'run-0');
      const docs = await catalogue.companies.find().sort({ _id: 1 }).toArray();
      await Promise.all(
        history.map(async (step, run) => {
          const replica = run % 2 === 0 ? catalogue : other;
          if ('source' in step) {
            await put(replica, step.source, step.brands, `run-${run + 1}`);
            if (step.prune) await replica.store.prune(step.source, `run-${run + 1}`, { withinMs: 10_000 });
          } else if ('records' in step) {
            await decide(replica, docs, step);
          } else {
            const doc = docs[step.company];
            if (doc !== undefined) await edit(replica, setting(doc._id, ...step.value));
          }
        }),
      );
      const records = (await catalogue.companies.find().toArray()).flatMap(sourceRecordsFromDoc);
      await putAll(atOnce, records);
      expect(await contents(catalogue)).toEqual(await contents(atOnce));
    }),
    { numRuns: 15 },
  );
});

test('fields that several operators set at once, while imports run, are all kept', async () => {
  const [one, two] = [await open('at_once_set'), await open('at_once_set')];
  const of = (rank: number) => [brandOf('acme', { name: 'Acme', rank })];
  await put(one, 'feed', of(1));
  const fields = [
    'company.ceo',
    'company.founded',
    'company.employees',
    'company.sector',
    'company.industry',
  ];
  await Promise.all([
    ...fields.map((field, index) => edit(index % 2 === 0 ? one : two, setting('acme', field, field))),
    ...[2, 3, 4, 5].map((rank) => put(rank % 2 === 0 ? one : two, 'feed', of(rank), `run-${rank}`)),
    put(two, 'wikidata', [brandOf('acme', { name: 'Acme', company: { ceo: 'Grace' } })]),
  ]);
  const { company } = await brandOfId(one, 'acme');
  expect(fields.map((field) => Object(company)[field.slice('company.'.length)])).toEqual(fields);
});

test('an edit and a prune of the same company at the same moment lose no override', async () => {
  const [one, two] = [await open('prune_and_set'), await open('prune_and_set')];
  for (let round = 0; round < 15; round++) {
    await one.companies.deleteMany({});
    await put(one, 'feed', [brandOf('acme')], 'run-1');
    const [set] = await Promise.all([
      edit(one, setting('acme', 'company.ceo', 'Ada')),
      two.store.prune('feed', 'run-2', { withinMs: 10_000 }),
    ]);
    await put(two, 'feed', [brandOf('acme')], 'run-3');
    const { company } = await brandOfId(one, 'acme');
    const wasPrunedFirst = typeof set[0] === 'object';
    expect(company?.ceo ?? '').toBe(wasPrunedFirst ? '' : 'Ada');
  }
});

test('an edit is answered as made if a prune deletes its company before the edit is confirmed', async () => {
  const two = await open('pruned_after_set');
  await put(two, 'feed', [brandOf('acme')], 'run-1');
  const one = new CatalogStore(two, two, async (_keys, write) => {
    const written = await write();
    await two.store.prune('feed', 'run-2', { withinMs: 10_000 });
    return written;
  });
  const set = await one.editFields([setting('acme', 'company.ceo', 'Ada')], { dryRun: false });
  await put(two, 'feed', [brandOf('acme')], 'run-3');
  expect(set).toEqual(['changed']);
  expect((await brandOfId(two, 'acme')).company?.ceo).toBe('Ada');
});

test('an import that finds the company of waiting overrides while others write gives them back', async () => {
  const [one, two] = [await open('waiting'), await open('waiting')];
  const acme = brandOf('acme', { name: 'Acme', links: { wikidataQid: 'Q1' } });
  for (let round = 0; round < 15; round++) {
    await one.companies.deleteMany({});
    await put(one, 'feed', [acme], 'run-1');
    await edit(one, setting('acme', 'company.ceo', 'Ada'));
    // The source gives the company another id: one replica prunes the old record while the other one puts the new record.
    await Promise.all([
      one.store.prune('feed', 'run-2', { withinMs: 10_000 }),
      put(two, 'feed', [{ ...acme, id: 'acme-2' }], 'run-2'),
    ]);
    expect((await brandOfId(one, 'acme-2')).company?.ceo).toBe('Ada');
    expect(await one.companies.countDocuments()).toBe(1);
  }
});

test('overrides without a company are not counted as records', async () => {
  const catalogue = await open('counted');
  await put(catalogue, 'feed', [brandOf('acme'), brandOf('globex')]);
  await edit(catalogue, setting('acme', 'company.ceo', 'Ada'));
  await catalogue.store.prune('feed', 'run-2', { withinMs: 10_000 });
  await put(catalogue, 'feed', [brandOf('globex')], 'run-3');
  expect(await catalogue.store.countBrands()).toMatchObject({ brands: 1 });
});

test('the overrides of a company are listed page by page, each once', async () => {
  const catalogue = await open('listed');
  const ids = Array.from({ length: 25 }, (_, index) => `acme-${index}`);
  await put(
    catalogue,
    'feed',
    ids.map((id) => brandOf(id)),
  );
  await edit(catalogue, ...ids.map((id) => setting(id, 'company.ceo', 'Ada')));
  const listed: string[] = [];
  for (let page = await catalogue.store.listOverrides('', 10); page.length > 0; ) {
    listed.push(...page.map(({ _id }) => _id));
    page = await catalogue.store.listOverrides(listed.at(-1) ?? '', 10);
  }
  expect(listed).toEqual(ids.toSorted());
});

test('fields of a company with an id of its own are set and unset by this id, also when the company is gone', async () => {
  const catalogue = await open('own_id');
  await put(catalogue, 'sample', [brandOf('acme', { name: 'Acme', links: { wikidataQid: 'Q1' } })]);
  await put(catalogue, 'feed', [brandOf('acme', { name: 'Globex', links: { wikidataQid: 'Q2' } })]);
  expect(await edit(catalogue, setting('feed--acme', 'company.ceo', 'Ada'))).toEqual(['changed']);
  expect(await edit(catalogue, setting('acme', 'company.ceo', 'Grace'))).toEqual(['changed']);
  const ceoOf = async (id: string) => (await brandOfId(catalogue, id)).company?.ceo ?? '';
  const ceos = () => Promise.all(['feed--acme', 'acme'].map(ceoOf));
  expect(await ceos()).toEqual(['Ada', 'Grace']);
  const unset: FieldEdit = { id: 'feed--acme', field: 'company.ceo' };
  expect(await edit(catalogue, unset)).toEqual(['changed']);
  expect(await ceos()).toEqual(['', 'Grace']);
  await edit(catalogue, setting('feed--acme', 'company.ceo', 'Ada'));
  await catalogue.store.prune('feed', 'run-2', { withinMs: 10_000 });
  expect(await edit(catalogue, unset)).toEqual(['changed']);
});
