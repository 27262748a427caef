import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ImportDifference,
  ImportOutcome,
  type NoteImportRequest,
  PutBrandsResponse,
} from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test } from 'vitest';
import { syncCommand } from '../src/commands/imports/sync.ts';
import { type Context, pathsFrom } from '../src/terminal/context.ts';
import { Output } from '../src/terminal/output.ts';

const SOURCES = `contact: test, test@example.com
sources: [{ name: list, kind: records, files: [{ from: list.ndjson }], schedule: "0 6 * * *" }]
`;

test('an import that fails within a sync is one run for catalog, with its reason and the time of the next one', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'sources.yaml'), SOURCES);
  await writeFile(join(folder, 'list.ndjson'), '{"id":"a","name":"Kestrel","sources":[{"name":"list"}]}\n');
  const notes: Partial<NoteImportRequest>[] = [];
  const answers: Record<string, (request: Partial<NoteImportRequest> & { dryRun?: boolean }) => object> = {
    getBrand: () => {
      throw new Fault('not_found', 'there is none');
    },
    putBrands: ({ dryRun }) => {
      if (!dryRun) throw new Fault('failed_precondition', 'catalog has no room');
      return PutBrandsResponse.create({ created: 1, difference: ImportDifference.create() });
    },
    noteImport: (request) => {
      notes.push(request);
      return {};
    },
  };
  const methods = Object.fromEntries(Object.keys(answers).map((name) => [name, name]));
  const catalog = {
    call: async (method: (client: typeof methods) => string, request: object) =>
      answers[method(methods)]?.(request),
  };
  const stream = { write: () => true };
  const context = {
    ...pathsFrom(folder),
    catalog: () => catalog,
    interruption: () => new AbortController().signal,
    output: new Output({ stdout: stream, stderr: stream }, () => true),
  } as unknown as Context;
  const paths = ['--sources', 'sources.yaml', '--folder', 'fetched'];
  await expect(syncCommand(context).parseAsync(paths, { from: 'user' })).rejects.toThrow(/1 of 1 sources/);
  expect(new Set(notes.map(({ importId }) => importId)).size).toBe(1);
  expect(notes.at(-1)).toMatchObject({
    outcome: ImportOutcome.FAILED,
    reasons: ['catalog has no room'],
    nextDueAtMs: expect.any(Number),
  });
});
