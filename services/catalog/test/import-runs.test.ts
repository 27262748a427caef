import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { catalogueDatabases, type OpenCatalogue } from './catalogue-databases.ts';
import { emptyDatabase, importHistory, someEdits, someKill, someRun, someRuns } from './import-history.ts';
import { type RunningCatalog, startCatalog } from './running-catalog.ts';

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

test('a run that is killed at any moment and undone leaves every record, id and answer as if it had not been', async () => {
  await fc.assert(
    fc.asyncProperty(someRuns, someEdits, someRun, someKill, async (earlier, edits, run, kill) => {
      await emptyDatabase(database.db);
      for (const each of earlier) await history.run(each);
      await history.setFields(edits);
      const before = await history.contents();
      const importId = await history.run(run, kill);
      // A run that was killed before its first write has left nothing to undo.
      const known = await database.imports.countDocuments({ importId });
      if (known > 0) await history.undo(run.source, importId);
      expect(await history.contents()).toEqual(before);
    }),
    { numRuns: 8 },
  );
}, 120_000);
