import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../../../test/stack/index.ts';
import { main } from '../src/index.ts';

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-data-bds-'));
  stack = await startTestStack({ gateways: 1 });
});

afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Ran {
  code: number;
  out: string;
  errors: string;
}

/** Runs one command line against the stack. */
async function bds(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { accounts, catalog, metering, operatorToken } = stack.operator;
  const ran = { code: 0, out: '', errors: '' };
  const take = (stream: 'out' | 'errors') => ({ write: (text: string) => (ran[stream] += text) });
  ran.code = await main(args, {
    env: {
      BDS_ACCOUNTS: accounts,
      BDS_CATALOG: catalog,
      BDS_METERING: metering,
      BDS_OPERATOR_TOKEN: operatorToken,
      ...env,
    },
    cwd: folder,
    stdout: take('out'),
    stderr: take('errors'),
  });
  return ran;
}

async function json(...args: string[]): Promise<unknown> {
  const { code, out, errors } = await bds([...args, '--json']);
  expect(errors).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
}

const acme = {
  id: 'acme',
  type: 'brand',
  name: 'Acme',
  description: 'Acme makes anvils.',
  category: 'tools',
  rank: 500,
  sources: [{ name: 'hand-written' }],
};

async function recordsFile(name: string, ...lines: (object | string)[]): Promise<string> {
  const file = join(folder, name);
  await writeFile(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return file;
}

test('an operator sets up a plan, an account and a key, and ends them again', async () => {
  expect(await json('plan', 'set', 'pro', '--pool', 'calls=10000:brands,logos')).toMatchObject({
    plan: { name: 'pro', pools: [{ name: 'calls', allowance: 10_000, routes: ['brands', 'logos'] }] },
  });
  expect(await json('plan', 'set', 'free', '--pool', 'logos=50:logos')).toBeDefined();
  expect(await json('plan', 'list')).toMatchObject({ plans: [{ name: 'free' }, { name: 'pro' }] });
  const created = { account: { id: 'one', name: 'One', plan: 'free', state: 'active' } };
  expect(await json('account', 'create', '--id', 'one', '--name', 'One', '--plan', 'free')).toMatchObject(
    created,
  );
  expect(await json('account', 'set-plan', 'one', 'pro')).toMatchObject({ account: { plan: 'pro' } });
  const made = await json('key', 'create', 'one', '--label', 'web', '--expires', '2999-01-31');
  expect(made).toMatchObject({
    key: { label: 'web', state: 'active', expires_at: '2999-01-31T00:00:00.000Z' },
    token: expect.stringMatching(/^pk_/),
  });
  const { key } = made as { key: { id: string } };
  expect(await json('key', 'revoke', key.id)).toMatchObject({ key: { state: 'revoked' } });
  expect(await json('account', 'show', 'one')).toMatchObject({ keys: [{ id: key.id, state: 'revoked' }] });
  expect(await json('usage', 'one')).toMatchObject({ account: 'one', pools: [] });
  expect(await json('account', 'close', 'one')).toMatchObject({ account: { state: 'closed' } });
});

test('a token is shown when its key is made, and never again', async () => {
  await json('plan', 'set', 'pro', '--pool', 'calls=10000:brands,logos');
  await json('account', 'create', '--id', 'two', '--name', 'Two', '--plan', 'pro');
  const { out } = await bds(['key', 'create', 'two']);
  const token = /pk_\w+/.exec(out)?.[0];
  expect(token).toBeDefined();
  expect(out).toMatch(/cannot be shown again/);
  for (const args of [
    ['key', 'list', 'two'],
    ['account', 'show', 'two'],
  ]) {
    expect((await bds(args)).out).not.toContain('pk_');
    expect((await bds([...args, '--json'])).out).not.toContain('pk_');
  }
});

test('records are imported from all kinds of files, and a second import changes nothing', async () => {
  const files = [
    await recordsFile('one.json', acme),
    await recordsFile('list.json', JSON.stringify([{ ...acme, id: 'globex' }])),
    await recordsFile('lines.ndjson', { ...acme, id: 'initech' }, '', { ...acme, id: 'hooli' }),
  ];
  const command = ['import', 'records', ...files, '--source', 'kinds'];
  expect(await json(...command)).toMatchObject({ source: 'kinds', read: 4, created: 4, refused: [] });
  expect(await json(...command)).toMatchObject({ read: 4, created: 0, changed: 0, unchanged: 4 });
  expect(await json('show', 'hooli')).toEqual({ ...acme, id: 'hooli' });
  expect(await json('status')).toMatchObject({ services: [{}, { service: 'catalog', answers: true }, {}] });
});

test('pruning takes back what the files no longer have', async () => {
  const both = await recordsFile('both.ndjson', { ...acme, id: 'first' }, { ...acme, id: 'second' });
  const first = await recordsFile('first.json', { ...acme, id: 'first' });
  await json('import', 'records', both, '--source', 'pruned');
  expect(await json('import', 'records', first, '--source', 'pruned', '--prune')).toMatchObject({
    pruned: 1,
  });
  expect(await bds(['show', 'second'])).toMatchObject({ code: 1, out: '' });
});

test('what is refused is named with its reason, the rest is in, and nothing is pruned', async () => {
  await json('import', 'records', await recordsFile('old.json', { ...acme, id: 'old' }), '--source', 'mixed');
  const file = await recordsFile(
    'mixed.ndjson',
    { ...acme, id: 'good' },
    { ...acme, id: 'shapeless', rank: 'high' },
    {
      ...acme,
      id: 'wrong',
      type: 'stock',
      listings: [{ ticker: 'W', mic: 'XNAS' }],
      stock: { isin: 'US0378331006' },
    },
    '{"id": "cut off',
    { ...acme, id: 'good' },
  );
  const { code, out, errors } = await bds([
    'import',
    'records',
    file,
    '--source',
    'mixed',
    '--prune',
    '--json',
  ]);
  expect(code).toBe(1);
  expect(errors).toBe('bds: 4 of 5 records were refused: correct and import again\n');
  const summary = JSON.parse(out);
  expect(summary).toMatchObject({ created: 1, unchanged: 0 });
  expect(summary).not.toHaveProperty('pruned');
  expect(
    Object.fromEntries(summary.refused.map(({ id, reason }: Record<string, string>) => [id, reason])),
  ).toEqual({
    shapeless: expect.stringContaining('rank must be integer'),
    wrong: expect.stringContaining('stock.isin'),
    [`${file}:4`]: expect.stringContaining('not JSON'),
    good: expect.stringContaining('another record of this id'),
  });
  expect(await json('show', 'old')).toBeDefined();
});

test.each([
  [['nonsense']],
  [['plan', 'set', 'pro']],
  [['plan', 'set', 'pro', '--pool', 'calls=many:brands']],
  [['plan', 'set', 'pro', '--pool', 'calls=1:images']],
  [['key', 'create', 'one', '--expires', 'tomorrow']],
  [['usage', 'one', '--month', '2026-13']],
  [['import', 'simple-icons']],
  [['plan', 'list', '--accounts', 'nowhere']],
  [['plan', 'list', '--operator-token', 'secret']],
])('wrong usage exits with 2 and one line: %j', async (args) => {
  const { code, out, errors } = await bds(args);
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(errors.trimEnd().split('\n')).toHaveLength(1);
});

test.each([
  [['account', 'show', 'nobody'], {}],
  [['plan', 'list'], { BDS_ACCOUNTS: '127.0.0.1:1' }],
  [['plan', 'list'], { BDS_OPERATOR_TOKEN: 'not the credential' }],
  [['import', 'records', '/no/such/file.json'], {}],
])('a failure exits with 1 and one line, which never holds the credential: %j %j', async (args, env) => {
  const { code, out, errors } = await bds(args, env);
  expect(code).toBe(1);
  expect(out).toBe('');
  expect(errors).toMatch(/^bds: [^\n]+\n$/);
  for (const secret of [stack.operator.operatorToken, 'not the credential'])
    expect(errors).not.toContain(secret);
});

test('help is no failure', async () => {
  expect(await bds(['--help'])).toMatchObject({ code: 0, errors: '' });
  expect(await bds(['import', 'records', '--help'])).toMatchObject({ code: 0, errors: '' });
});
