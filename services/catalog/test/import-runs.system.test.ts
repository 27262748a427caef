import { setTimeout as delay } from 'node:timers/promises';
import { ImportOutcome } from '@brand-data/contracts';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { catalogueDatabases, type OpenCatalogue } from './catalogue-databases.ts';
import { emptyDatabase, importHistory, someEdits, someKill, someRun, someRuns } from './import-history.ts';
import { type RunningCatalog, startCatalog, stockOf } from './running-catalog.ts';

const open = catalogueDatabases();
let nats: TestServer;
let database: OpenCatalogue;
let catalog: RunningCatalog;
const history = importHistory(() => catalog);

const start = () =>
  startCatalog({
    mongodbUrl: inject('mongodbUrl'),
    natsUrl: nats.url,
    database: database.db.databaseName,
  });

beforeAll(async () => {
  nats = await startTestNats();
  database = await open();
  catalog = await start();
});

beforeEach(() => emptyDatabase(database.db));

afterAll(async () => {
  await catalog.stop();
  await nats.stop();
});

/** Records of two sources, which share identifiers, so that a run joins and moves companies. */
const manyBrands = (suffix: string) =>
  Array.from({ length: 160 }, (_, number) =>
    stockOf(`company-${number}`, `T${number - (number % 3)}@XNAS`, {
      name: `Company ${number - (number % 2)} ${suffix}`,
      rank: number,
      links: { wikidataQid: number % 5 === 0 ? `Q${number + 1}` : '' },
    }),
  );

/** Undoing waits half a minute for what the killed process may still have written. */
const PATIENT = { timeout: 150_000 };

test('a run whose catalog is killed in the middle of a write, and whose undoing is too, can be undone', async () => {
  const run = (source: string, suffix: string) => {
    return history.run({ source, brands: manyBrands(suffix), prices: [], prune: true });
  };
  await run('wikidata', 'Inc.');
  await run('feed', 'Inc.');
  const before = await history.contents();
  const killed = run('feed', 'Group').catch(() => undefined);
  const changed = () => database.changes.countDocuments({ now: { $type: 'binData' } });
  await expect.poll(changed, PATIENT).toBeGreaterThan(40);
  await catalog.kill();
  await killed;
  catalog = await start();
  const { runs } = await history.call(catalog.admin.listImports, { source: 'feed', importId: '' });
  const importId = runs[0]?.importId ?? '';
  expect(runs[0]).toMatchObject({ outcome: ImportOutcome.RUNNING });
  const left = () =>
    database.companies.countDocuments({ contributions: { $elemMatch: { source: 'feed', importId } } });
  const written = await left();
  expect(written).toBeGreaterThan(0);
  // As bds does: MongoDB keeps the documents of a killed process's transaction locked for some seconds.
  const undo = (): Promise<unknown> =>
    history.undo('feed', importId).catch(async () => {
      await delay(200);
      return undo();
    });
  const undone = undo();
  await expect.poll(left, PATIENT).toBeLessThan(written);
  await catalog.kill();
  catalog = await start();
  await undone;
  expect(await history.contents()).toEqual(before);
}, 600_000);

test('fifty runs that are killed and then undone or run again leave the catalogue as without the run, or as with it', async () => {
  const isUndone = fc.boolean();
  await fc.assert(
    fc.asyncProperty(
      someRuns,
      someEdits,
      someRun,
      someKill,
      isUndone,
      async (earlier, edits, run, kill, undone) => {
        await emptyDatabase(database.db);
        for (const each of earlier) await history.run(each);
        await history.setFields(edits);
        const without = await history.contents();
        const whole = await history.run(run);
        const withIt = await history.contents();
        await history.undo(run.source, whole);
        expect(await history.contents()).toEqual(without);
        const killed = await history.run(run, kill);
        if (undone) await history.undo(run.source, killed);
        else await history.run(run);
        expect(await history.contents()).toEqual(undone ? without : withIt);
      },
    ),
    { numRuns: 50 },
  );
}, 900_000);
