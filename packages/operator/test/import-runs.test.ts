import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acme } from '@brand-data/records/test/acme.ts';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runBds } from './run-bds.ts';

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 1, replicas: { images: 0 } });
});

afterAll(() => stack?.stop());

async function bds(...args: string[]): Promise<string> {
  const { code, out, errors } = await runBds(stack, folder, args);
  expect(errors).toBe('');
  expect(code).toBe(0);
  return out;
}

const json = async (...args: string[]) => JSON.parse(await bds(...args, '--json'));

/** Imports companies as the only ones of the source. Returns the id of the run. */
async function bring(ceos: Record<string, string>): Promise<string> {
  const records = Object.entries(ceos).map(([id, ceo]) => ({ ...acme, id, name: id, company: { ceo } }));
  await writeFile(join(folder, 'mine.ndjson'), records.map((record) => JSON.stringify(record)).join('\n'));
  const report = await json('import', 'records', 'mine.ndjson', '--source', 'mine', '--prune');
  return report.import_id;
}

test('operators see what a run has changed, and undo it', async () => {
  const first = await bring({ kept: 'Ada', gone: 'Alan' });
  const began = new Date().toISOString();
  const second = await bring({ kept: 'Grace', fresh: 'Linus' });
  const { runs } = await json('import', 'list', '--source', 'mine');
  expect(runs).toMatchObject([
    { import_id: second, outcome: 'finished', created: 1, changed: 1, pruned: true },
    { import_id: first, outcome: 'finished', created: 2 },
  ]);
  expect(runs[0].difference).toMatchObject({ records_removed: 1, changed_fields: { 'company.ceo': 1 } });
  expect(await bds('import', 'list')).toContain(second);

  const { run, changes, next } = await json('import', 'show', second);
  expect([run.import_id, next]).toEqual([second, null]);
  expect(changes).toMatchObject([
    { id: 'fresh', change: 'created', company_after: 'fresh', fields: [] },
    { id: 'gone', change: 'removed', company_before: 'gone' },
    { id: 'kept', change: 'changed', fields: [{ field: 'company.ceo', before: 'Ada', after: 'Grace' }] },
  ]);
  const ofOne = await bds('import', 'show', second, '--company', 'kept');
  expect(ofOne).toContain('mine/kept of kept (kept): changed');
  expect(ofOne).toContain('company.ceo: "Ada" -> "Grace"');
  expect(ofOne).not.toContain('mine/fresh');
  const page = await json('import', 'show', second, '--limit', '1', '--after', 'mine/fresh');
  expect(page).toMatchObject({ changes: [{ id: 'gone' }], next: 'mine/gone' });

  const listed = await json(
    'catalogue',
    'list',
    '--source',
    'mine',
    '--changed-since',
    began.slice(0, 19).concat('Z'),
  );
  expect(listed.records.map(({ id }: { id: string }) => id)).toContain('fresh');
  expect(await json('catalogue', 'list', '--changed-since', '2126-01-01')).toMatchObject({ records: [] });

  const counts = { removed: 1, reverted: 1, restored: 1, kept: 0 };
  expect(await json('import', 'undo', second, '--dry-run')).toMatchObject({ dry_run: true, ...counts });
  expect((await json('show', 'kept')).record.company.ceo).toBe('Grace');
  expect(await json('import', 'undo', second)).toMatchObject({ dry_run: false, ...counts });
  expect((await json('show', 'kept')).record.company.ceo).toBe('Ada');
  expect((await json('show', 'gone')).record.company.ceo).toBe('Alan');
  expect(await runBds(stack, folder, ['show', 'fresh'])).toMatchObject({ code: 1 });
  expect(await bds('import', 'undo', second)).toContain('Kept      0');
  expect(await bds('import', 'show', second)).toContain('undone');
  await expect.poll(() => bds('audit', '--method', 'UndoImport')).toContain(second);
});

test('a run that is not known is an error that says where to look', async () => {
  expect(await runBds(stack, folder, ['import', 'show', 'no'])).toMatchObject({
    code: 1,
    errors: expect.stringContaining('bds import list shows them'),
  });
});
