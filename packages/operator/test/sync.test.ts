import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { callerOf, untilAnswered } from '@brand-data/test/e2e/caller.ts';
import { TestOperator } from '@brand-data/test/e2e/operator.ts';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../src/index.ts';
import { runBds } from './run-bds.ts';

const ROWS = 40;
/** Companies of the tests have these names. */
const FIRST = 'Kestrel';
const RENAMED = 'Falcon';

let stack: TestStack;
let folder: string;
let served = '';
let status = 200;
const server = createServer((request, response) => {
  if (status !== 200) return void response.writeHead(status).end();
  const etag = `"${hash('sha1', served)}"`;
  if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
  else response.writeHead(200, { etag }).end(served);
});

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 1 });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterAll(async () => {
  server.close();
  await stack?.stop();
});

/** Far from now, so that no test is at its time by chance. */
const DAILY = scheduleIn(12 * 60);

/** Returns the schedule of each day at this time from now. */
function scheduleIn(minutes: number): string {
  const at = new Date(Date.now() + minutes * 60_000);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}

/** Writes a file with one source of this name, which the server has. */
async function declare(source: string, more = '', { schedule = DAILY, seconds = 3_600 } = {}): Promise<void> {
  const { port } = server.address() as AddressInfo;
  await writeFile(
    join(folder, 'sources.yaml'),
    `contact: test, test@example.com
sources:
  - name: ${source}
    kind: records
    files: [{ from: "http://127.0.0.1:${port}/list.ndjson" }]
    schedule: "${schedule}"
    prune: true
    bounds: { requests_per_second: 1000, seconds: ${seconds} }
${more}`,
  );
}

/** Returns records that are known well enough for a guard, all with this name. */
function records(source: string, name: string, rows = ROWS): string {
  const lines = Array.from({ length: rows }, (_, row) =>
    JSON.stringify({
      id: `${source}-${row}`,
      name: `${name} ${source} ${row}`,
      description: `${name} makes number ${row}.`,
      rank: 950,
      links: { websites: [`https://${source}${row}.com`] },
      sources: [{ name: source }],
    }),
  );
  return lines.join('\n');
}

const sync = (...args: string[]) => syncWith({}, ...args);

async function syncWith(env: NodeJS.ProcessEnv, ...args: string[]) {
  const ran = await runBds(stack, folder, ['sync', ...args, '--json'], env);
  const { sources } = JSON.parse(ran.out || '{"sources": []}');
  return { ...ran, result: sources[0] };
}

/** Lets the last sync of the source have ended at this time. */
async function noteDone(source: string, doneAt: number): Promise<void> {
  const file = join(folder, 'fetched', source, 'state.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), doneAt }));
}

const nameOf = async (id: string) => {
  const { out } = await runBds(stack, folder, ['show', id, '--json']);
  return JSON.parse(out || '{}').record?.name;
};

async function undo(importId: string): Promise<void> {
  const connection = openConnection(stack.operator);
  onTestFinished(() => connection.close());
  let step = { more: true, after: '' };
  while (step.more) {
    const request = { source: '', importId, dryRun: false, after: step.after };
    step = await connection.catalog().call((client) => client.undoImport, request, 60_000);
  }
}

test('a source is imported when it is due, and not again before it has something new', async () => {
  await declare('due');
  served = records('due', FIRST);
  const first = await sync();
  expect(first, first.out).toMatchObject({ code: 0 });
  expect(first.result).toMatchObject({ outcome: 'imported', import: { created: ROWS, pruned: 0 } });
  expect(Date.parse(first.result.next_due)).toBeGreaterThan(Date.now());
  expect((await sync()).result).toMatchObject({ outcome: 'not_due' });
  // Its next time comes.
  await noteDone('due', 0);
  expect((await sync()).result).toMatchObject({ outcome: 'unchanged' });
  expect((await sync('--now')).result).toMatchObject({ outcome: 'imported', import: { unchanged: ROWS } });
});

test('a guard against fewer records lets as many as before pass, whatever its share', async () => {
  await declare('same', '    guards: { shrunk: 0 }');
  served = records('same', FIRST);
  await sync();
  expect((await sync('--now')).result).toMatchObject({ outcome: 'imported', import: { unchanged: ROWS } });
});

test('a dry run tells what would change, and writes nothing', async () => {
  await declare('dry');
  served = records('dry', FIRST);
  const planned = await sync('--dry-run');
  expect(planned.result, planned.out).toMatchObject({ outcome: 'planned', import: { created: ROWS } });
  expect(await nameOf('dry-0')).toBe(undefined);
  expect((await sync()).result).toMatchObject({ outcome: 'imported' });
});

test('a second sync of a source is refused while the first one runs', async () => {
  await declare('twice');
  served = records('twice', FIRST);
  const both = await Promise.all([sync(), sync()]);
  const outcomes = both.map(({ result }) => result.outcome).sort();
  // On a busy machine the first may have ended before the second begins.
  expect([
    ['failed', 'imported'],
    ['imported', 'not_due'],
  ]).toContainEqual(outcomes);
  for (const { result } of both)
    if (result.outcome === 'failed')
      expect(result.reasons).toEqual(['another sync of this source is running']);
});

test('a source that cannot be fetched is reported, and is tried again at the next sync', async () => {
  await declare('gone');
  served = '<!doctype html><title>Maintenance</title>';
  const failed = await sync();
  expect(failed).toMatchObject({ code: 1 });
  expect(failed.result).toMatchObject({
    outcome: 'failed',
    reasons: [expect.stringContaining('a page (HTML)')],
  });
  served = records('gone', FIRST);
  expect((await sync()).result).toMatchObject({ outcome: 'imported' });
});

test('a failure that may pass ends with status 75, and one that a person has to look at with 1', async () => {
  served = records('passing', FIRST);
  onTestFinished(() => {
    status = 200;
  });
  for (const [answer, code, seconds] of [
    [503, 75, 1],
    [404, 1, 3_600],
  ] as const) {
    await declare('passing', '', { seconds });
    status = answer;
    expect(await sync(), String(answer)).toMatchObject({ code, result: { outcome: 'failed' } });
  }
  status = 200;
  await declare('passing');
  const unanswered = await syncWith({ BDS_CATALOG: '127.0.0.1:1' });
  expect(unanswered).toMatchObject({ code: 75, result: { outcome: 'failed' } });
  expect((await sync()).result).toMatchObject({ outcome: 'imported' });
});

test('a secret in a URL is in no message, also not if it stands in the path', async () => {
  await declare('secret');
  const file = join(folder, 'sources.yaml');
  const yaml = await readFile(file, 'utf8');
  const secret = '$' + '{LISTS_KEY}';
  await writeFile(file, yaml.replace('/list.ndjson"', `/${secret}/list.ndjson?key=${secret}"`));
  status = 404;
  onTestFinished(() => {
    status = 200;
  });
  const { result, out, errors } = await syncWith({ LISTS_KEY: 'a key/of ours' });
  expect(result.reasons).toEqual([expect.stringContaining('/…/list.ndjson answers with status 404')]);
  expect(out + errors).not.toMatch(/a(?: |%20)key/);
});

test('a sync that begins some minutes early, by a clock that is late, counts for its time', async () => {
  await declare('early', '', { schedule: scheduleIn(5) });
  served = records('early', FIRST);
  await sync();
  await noteDone('early', Date.now() - 86_400_000 / 2);
  const early = await sync('--now');
  expect(early.result).toMatchObject({ outcome: 'imported' });
  expect(Date.parse(early.result.next_due)).toBeGreaterThan(Date.now() + 86_400_000 / 2);
  const { result } = await sync();
  expect(result).toMatchObject({ outcome: 'not_due', next_due: early.result.next_due });
  await noteDone('early', Date.now() - 86_400_000 / 2);
  expect((await sync()).result).toMatchObject({ outcome: 'unchanged' });
});

test('paths begin in the folder of the file of sources, and a URL may follow where a path was a folder', async () => {
  await mkdir(join(folder, 'elsewhere/lists'), { recursive: true });
  const file = join(folder, 'elsewhere/sources.yaml');
  await writeFile(join(folder, 'elsewhere/lists/mine.ndjson'), records('moved', FIRST));
  await declare('moved');
  const byUrl = await readFile(join(folder, 'sources.yaml'), 'utf8');
  await writeFile(file, byUrl.replace(/from: "[^"]*"/, 'from: lists, as: list.ndjson'));
  const args = ['moved', '--sources', file];
  expect((await sync(...args)).result).toMatchObject({ outcome: 'imported', import: { created: ROWS } });
  await writeFile(file, byUrl);
  served = records('moved', RENAMED);
  expect((await sync(...args, '--accept')).result).toMatchObject({ outcome: 'imported' });
});

test('mistakes of a declaration are reported before anything is fetched', async () => {
  await declare('bad', '    options: { unlisted-option: true }\n');
  expect(await runBds(stack, folder, ['sync'])).toMatchObject({
    code: 2,
    errors: expect.stringContaining(
      "sources.yaml:3: sources[0] would be refused by bds import: unknown option '--unlisted-option'",
    ),
  });
  await declare('good');
  expect(await runBds(stack, folder, ['sync', 'other'])).toMatchObject({ code: 2 });
  expect(await runBds(stack, folder, ['sync', '--accept'])).toMatchObject({ code: 2 });
});

test('a source that delivers half, then other names, then rubbish is stopped each time and told, and what was accepted can be undone', async () => {
  await declare('drill');
  served = records('drill', FIRST);
  await sync();
  const operator = new TestOperator(stack);
  const { token } = await operator.newAccount(1_000_000);
  const [gateway] = stack.gateways;
  const caller = callerOf(gateway ?? { url: '' });
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const answers = (async () => {
    for (let row = 0; !isOver; row = (row + 1) % ROWS) {
      const response = await untilAnswered(() => caller.brand(`drill${row}.com`, token));
      const text = await response.text();
      if (response.status === 404) continue;
      expect(response.status, text).toBe(200);
      // A record is of one version, whenever it is asked for.
      const isFirst = text.includes(`${FIRST} drill ${row}`);
      expect([text.includes(`${FIRST} makes`), text.includes(`${RENAMED} makes`)], text).toEqual([
        isFirst,
        !isFirst,
      ]);
    }
  })().catch((error: unknown) => error);

  served = records('drill', FIRST, ROWS / 2);
  const half = await sync('--now');
  expect(half).toMatchObject({ code: 1, result: { outcome: 'stopped' } });
  expect(half.result.reasons).toEqual([
    `${ROWS / 2} of the ${ROWS} records of the source would be removed: 50 %, more than 10 %`,
    `the source has ${ROWS / 2} records that can be used, but had ${ROWS} at its last import: 50 % or more are missing`,
  ]);
  served = records('drill', RENAMED);
  const renamed = await sync('--now');
  expect(renamed).toMatchObject({ code: 1, result: { outcome: 'stopped' } });
  expect(renamed.result.reasons).toEqual([
    `${ROWS} of the ${ROWS} records of the source would be changed: 100 %, more than 50 %`,
    expect.stringMatching(
      /^20 companies of rank 900 and above would be .*drill-\d+ \(.*, rank 950\): changed .*name/,
    ),
  ]);
  served = Array.from({ length: ROWS }, (_, row) => `rubbish ${row}`).join('\n');
  const rubbish = await sync('--now');
  expect(rubbish).toMatchObject({ code: 1, result: { outcome: 'stopped' } });
  expect(rubbish.result.reasons).toEqual([expect.stringContaining('has 0 records that can be used')]);
  expect(await nameOf('drill-0')).toBe(`${FIRST} drill 0`);

  for (const accepted of [records('drill', FIRST, ROWS / 2), records('drill', RENAMED)]) {
    served = accepted;
    const { result } = await sync('drill', '--accept');
    expect(result).toMatchObject({ outcome: 'imported' });
    await undo(result.import.import_id);
    for (const row of [0, ROWS - 1]) expect(await nameOf(`drill-${row}`)).toBe(`${FIRST} drill ${row}`);
    // What was undone does not come back with the same file.
    await noteDone('drill', 0);
    expect((await sync()).result).toMatchObject({ outcome: 'unchanged' });
  }
  isOver = true;
  expect(await answers).toBe(undefined);
});
