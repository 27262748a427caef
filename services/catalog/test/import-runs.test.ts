import { BrandType, CompanyFate, ImportDifference, ImportOutcome, Override } from '@brand-data/contracts';
import { JOINED } from '@brand-data/records';
import { callServerStream } from '@brand-data/runtime';
import { brandOf } from '@brand-data/testing/brand-of';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { catalogueDatabases, type OpenCatalogue } from './catalogue-databases.ts';
import { emptyDatabase, importHistory, someRecordRuns } from './import-history.ts';
import { OPERATOR_TOKEN, type RunningCatalog, startCatalog, stockOf } from './running-catalog.ts';

const open = catalogueDatabases();
let nats: TestServer;
let database: OpenCatalogue;
let catalog: RunningCatalog;
const history = importHistory(() => catalog);

beforeAll(async () => {
  nats = await startTestNats();
  database = await open();
  const settings = {
    mongodbUrl: inject('mongodbUrl'),
    natsUrl: nats.url,
    database: database.db.databaseName,
  };
  catalog = await startCatalog(settings);
});

beforeEach(() => emptyDatabase(database.db));

afterAll(async () => {
  await catalog.stop();
  await nats.stop();
});

const runOf = (source: string, ...brands: ReturnType<typeof brandOf>[]) => {
  return { source, brands, prices: [], prune: true };
};

async function runNamed(importId: string) {
  const { runs } = await history.call(catalog.admin.listImports, { source: '', importId });
  return runs[0];
}

/** Returns all items of a stream's messages. */
async function all<Request, Message>(
  method: Parameters<typeof callServerStream<Request, Message>>[1],
  request: Request,
): Promise<Message[]> {
  const options = { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN };
  const messages: Message[] = [];
  for await (const message of callServerStream(catalog.admin, method, request, options))
    messages.push(message);
  return messages;
}

test('an undone run leaves what later imports did, as if they alone had been', async () => {
  await fc.assert(
    fc.asyncProperty(someRecordRuns, someRecordRuns, someRecordRuns, async (earlier, [run], later) => {
      const factsAfter = async (isRun: boolean) => {
        await emptyDatabase(database.db);
        for (const each of earlier) await history.run(each);
        const undone = isRun && run ? await history.run(run) : '';
        for (const each of later) await history.run(each);
        if (run && undone !== '') await history.undo(run.source, undone);
        return history.facts();
      };
      expect(await factsAfter(true)).toEqual(await factsAfter(false));
    }),
    { numRuns: 5 },
  );
});

test('the undo of a run leaves the decision about its records waiting, and it holds when they come back', async () => {
  await history.run(runOf('feed', brandOf('acme', { name: 'Acme' })));
  const works = runOf('sample', brandOf('works', { name: 'Acme Works' }));
  const before = await history.contents();
  const run = await history.run(works);
  const decision = Override.fromPartial({ field: JOINED, reason: 'because' });
  const request = { decision, names: ['acme', 'works'], undo: false, dryRun: false };
  await history.call(catalog.admin.decideLinks, request);
  const joined = await history.contents();
  expect(joined.companies.map(({ id }) => id)).toEqual(['acme', expect.stringMatching(/^override:/)]);
  await history.undo('sample', run);
  const undone = await history.contents();
  expect(undone.companies).toEqual([...before.companies, joined.companies[1]]);
  await history.run(works);
  expect(await history.contents()).toEqual(joined);
});

test('a run tells what it does to records and companies, and a dry run tells the same before', async () => {
  const apple = (fields: object) => stockOf('apple', 'AAPL@XNAS', { rank: 990, name: 'Apple', ...fields });
  const linked = { links: { wikidataQid: 'Q1' } };
  await history.run(runOf('feed', apple({ company: { ceo: 'Ada' } }), brandOf('gone', { name: 'Gone' })));
  await history.run(runOf('wikidata', brandOf('q1', { ...linked, name: 'Apple Inc.', rank: 5 })));
  const brands = [
    apple({ ...linked, company: { ceo: 'Grace' } }),
    brandOf('new', { name: 'Newly', rank: 7 }),
  ];
  const request = { source: 'feed', importId: 'run-9', brands, onlyJoining: false };
  const dry = await history.call(catalog.admin.putBrands, { ...request, dryRun: true });
  const real = await history.call(catalog.admin.putBrands, { ...request, dryRun: false });
  expect(dry.difference).toEqual(real.difference);
  expect(real.difference).toMatchObject({
    ...{ recordsCreated: 1, recordsChanged: 1, recordsRemoved: 0 },
    ...{ companiesCreated: 1, companiesChanged: 1, companiesJoined: 1, companiesSplit: 0 },
    changedFields: { 'company.ceo': 1, 'links.wikidata_qid': 1, names: 1 },
    bestKnown: [
      { id: 'apple', name: 'Apple', rank: 990, fate: CompanyFate.CHANGED },
      { id: 'new', fate: CompanyFate.CREATED },
      { id: 'q1', fate: CompanyFate.JOINED, otherId: 'apple' },
    ],
  });
  await history.call(catalog.admin.finishImport, { source: 'feed', importId: 'run-9', prune: true });
  expect(await runNamed('run-9')).toMatchObject({
    ...{ outcome: ImportOutcome.FINISHED, pruned: true, operator: 'installation', created: 1, changed: 1 },
    difference: { recordsCreated: 1, recordsRemoved: 1, companiesRemoved: 1, companiesJoined: 1 },
  });

  const messages = await all(catalog.admin.listImportChanges, {
    ...{ source: '', importId: 'run-9', companyId: '', after: '' },
  });
  const changes = messages.flatMap((message) => message.changes);
  expect(
    changes.map(({ id, before, after, companyBefore, companyAfter }) => [
      ...[id, before?.name, after?.name, companyBefore, companyAfter],
    ]),
  ).toEqual([
    ['apple', 'Apple', 'Apple', 'apple', 'apple'],
    ['gone', 'Gone', undefined, 'gone', ''],
    ['new', undefined, 'Newly', '', 'new'],
    ['q1', undefined, undefined, 'q1', 'apple'],
  ]);
  expect(changes[0]).toMatchObject({
    before: { company: { ceo: 'Ada' } },
    after: { company: { ceo: 'Grace' } },
  });
  const ofNew = { source: 'feed', importId: 'run-9', companyId: 'new', after: '' };
  expect(
    (await all(catalog.admin.listImportChanges, ofNew)).flatMap((message) => message.changes),
  ).toHaveLength(1);
});

test('an undone run writes no more, and its trail, its outcome and what stays are told', async () => {
  const first = await history.run(runOf('feed', brandOf('one'), brandOf('two')));
  const undone = await history.run(runOf('feed', brandOf('one', { rank: 3 }), brandOf('two', { rank: 3 })));
  await history.run({ ...runOf('feed', brandOf('two', { rank: 4 })), prune: false });
  const request = { source: '', importId: undone, dryRun: true, after: '' };
  const kept = {
    source: 'feed',
    id: 'two',
    reason: expect.stringMatching(/^the import run-\d+ has brought it since$/),
  };
  const expected = { removed: 0, reverted: 1, restored: 0, kept: 1, firstKept: [kept], more: false };
  expect(await history.call(catalog.admin.undoImport, request)).toMatchObject(expected);
  expect(await runNamed(undone)).toMatchObject({ outcome: ImportOutcome.FINISHED });
  expect(await history.undo('feed', undone)).toMatchObject([expected]);
  expect(await history.undo('feed', undone)).toMatchObject([{ ...expected, reverted: 0 }]);
  expect(await runNamed(undone)).toMatchObject({ outcome: ImportOutcome.UNDONE, undoneBy: 'installation' });
  const late = catalog.put('feed', [brandOf('three')], undone);
  await expect(late).rejects.toThrow(/is undone/);
  const finish = history.call(catalog.admin.finishImport, { source: 'feed', importId: undone, prune: true });
  await expect(finish).rejects.toThrow(/is undone/);
  expect(await runNamed(first)).toMatchObject({ outcome: ImportOutcome.FINISHED });
});

test('a run that failed or was stopped is noted with its reasons, and when the next one is due', async () => {
  const note = { source: 'feed', importId: 'run-x', difference: undefined, nextDueAtMs: 5_000 };
  const reasons = ['too many records removed'];
  await history.call(catalog.admin.noteImport, { ...note, outcome: ImportOutcome.STOPPED, reasons });
  expect(await runNamed('run-x')).toMatchObject({
    outcome: ImportOutcome.STOPPED,
    reasons,
    nextDueAtMs: 5_000,
  });
  const finished = { ...note, outcome: ImportOutcome.FINISHED, reasons: [] };
  await expect(history.call(catalog.admin.noteImport, finished)).rejects.toThrow(/failed or stopped/);
  const fields = Array.from({ length: 5_000 }, (_, number) => [`field-${number}-${'x'.repeat(50)}`, 1]);
  const difference = ImportDifference.fromPartial({ changedFields: Object.fromEntries(fields) });
  const long = { ...note, outcome: ImportOutcome.STOPPED, reasons, difference };
  await expect(history.call(catalog.admin.noteImport, long)).rejects.toThrow(/the difference has more than/);
  const unknown = history.call(catalog.admin.undoImport, {
    source: '',
    importId: 'no',
    dryRun: false,
    after: '',
  });
  await expect(unknown).rejects.toThrow(/there is no import/);
});

test('a batch of unchanged records costs two queries, their marks and one write of the run, and none of its journal', async () => {
  const brands = Array.from({ length: 30 }, (_, number) => brandOf(`company-${number}`));
  await catalog.put('other', [brandOf('other')]);
  await catalog.put('feed', brands, 'run-a');
  await database.db.command({ profile: 2 });
  expect(await catalog.put('feed', brands, 'run-b')).toMatchObject({ unchanged: 30 });
  await database.db.command({ profile: 0 });
  const told = await database.db.collection('system.profile').find().toArray();
  const costs = Object.groupBy(told, ({ ns, op }) => `${op} ${ns.slice(ns.indexOf('.') + 1)}`);
  const counts = Object.entries(costs).map(([what, all]) => [what, all?.length]);
  expect(Object.fromEntries(counts)).toEqual({ 'query brands': 2, 'update brands': 30, 'update imports': 1 });
});

test('an import of unchanged records enters nothing, and of a source the last ten runs are kept', async () => {
  await catalog.put('feed', [brandOf('one')], 'run-a');
  await catalog.put('feed', [brandOf('one')], 'run-b');
  expect(await database.changes.countDocuments()).toBe(1);
  for (let number = 10; number < 22; number++) {
    await catalog.put('feed', [brandOf('one', { rank: number })], `run-c${number}`);
    await history.call(catalog.admin.finishImport, {
      source: 'feed',
      importId: `run-c${number}`,
      prune: false,
    });
  }
  const { runs } = await history.call(catalog.admin.listImports, { source: 'feed', importId: '' });
  expect(runs.map(({ importId }) => importId)).toEqual(
    Array.from({ length: 10 }, (_, index) => `run-c${21 - index}`),
  );
  expect(await database.changes.countDocuments()).toBe(10);
});

test('runs that wrote nothing, because they failed or were stopped, take no place of one that can be undone', async () => {
  await catalog.put('feed', [brandOf('one')], 'run-a');
  const finish = (importId: string) =>
    history.call(catalog.admin.finishImport, { source: 'feed', importId, prune: false });
  await finish('run-a');
  const note = { source: 'feed', reasons: ['no answer'], difference: undefined, nextDueAtMs: undefined };
  for (let number = 10; number < 22; number++)
    for (const outcome of [ImportOutcome.FAILED, ImportOutcome.STOPPED])
      await history.call(catalog.admin.noteImport, {
        ...note,
        importId: `run-b${number}-${outcome}`,
        outcome,
      });
  await catalog.put('feed', [brandOf('one', { rank: 2 })], 'run-c');
  await finish('run-c');
  const { runs } = await history.call(catalog.admin.listImports, { source: 'feed', importId: '' });
  expect(runs).toHaveLength(12);
  expect(await history.undo('feed', 'run-a')).toMatchObject([{ kept: 1, more: false }]);
});

test('the records of a source are listed with their companies, however many of them are of one company', async () => {
  const listings = Array.from({ length: 450 }, (_, index) =>
    brandOf(`xfra-${index}`, {
      ...{ type: BrandType.STOCK, name: `Company ${index % 300}`, rank: index % 300 },
      listings: [{ ticker: `T${index}`, mic: 'XFRA', isin: '' }],
      links: { wikidataQid: `Q${(index % 300) + 1}` },
    }),
  );
  await catalog.put('financedatabase', listings);
  await catalog.put('feed', [brandOf('other')]);
  const messages = await all(catalog.admin.listSourceRecords, { source: 'financedatabase', after: '' });
  expect(messages.length).toBeGreaterThan(1);
  const records = messages.flatMap((message) => message.records);
  expect(records.map(({ id }) => id).sort()).toEqual(listings.map(({ id }) => id).sort());
  expect(new Set(records.map(({ companyId }) => companyId)).size).toBe(
    (await database.companies.countDocuments()) - 1,
  );
  const rest = await all(catalog.admin.listSourceRecords, {
    ...{ source: 'financedatabase', after: messages[0]?.after ?? '' },
  });
  expect(rest).toEqual(messages.slice(1));
});
