import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monthOf } from '@brand-data/contracts';
import { runBds } from '@brand-data/operator/test/run-bds.ts';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-data-accounts-'));
  stack = await startTestStack({ gateways: 1, replicas: { images: 0 } });
  await json('plan', 'set', 'team', '--pool', 'calls=100:brands,logos');
  await json('plan', 'set', 'free', '--pool', 'logos=10:logos');
});

afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

const bds = (...args: string[]) => runBds(stack, folder, args);

async function json(...args: string[]): Promise<unknown> {
  const { code, out, errors } = await bds(...args, '--json');
  expect(errors).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
}

async function newToken(account: string, plan: string, name = account) {
  await json('account', 'create', '--id', account, '--name', name, '--plan', plan);
  return (await json('key', 'create', account)) as { token: string; key: { id: string } };
}

/** Returns the status of a call. Nothing has this identifier, so it is 404 for a valid token. */
async function call(token: string): Promise<number> {
  const response = await fetch(`${stack.gateways[0]?.url}/api/logos/nothing-has-this/info?token=${token}`);
  await response.arrayBuffer();
  return response.status;
}

/** Returns the lines of a CSV as objects. No cell of these tests holds a line end. */
function parsed(text: string): Record<string, string>[] {
  const [headers = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g)]
        .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
        .slice(0, -1),
    );
  return rows.map((row) => Object.fromEntries(headers.map((header, place) => [header, row[place] ?? ''])));
}

/** Billed calls by account and pool, as the documents of the ledgers have them. */
async function billed(month: string): Promise<Map<string, number>> {
  const client = new MongoClient(stack.mongodbUrl);
  try {
    const ledgers = await client.db(`${stack.databasePrefix}_metering`).collection('ledgers').find({ month });
    const sums = new Map<string, number>();
    for await (const { accountId, pool, closedUsed, grants } of ledgers)
      sums.set(
        `${accountId} ${pool}`,
        grants.reduce((sum: number, { used }: { used: number }) => sum + used, closedUsed),
      );
    return sums;
  } finally {
    await client.close();
  }
}

const month = monthOf(Date.now());

describe('usage of all accounts', () => {
  test('has the sums of the ledgers, and a line for each account without calls', async () => {
    const calls = new Map([
      ['billed-1', 3],
      ['billed-2', 1],
      ['billed-3', 0],
    ]);
    for (const [account, count] of calls) {
      const { token } = await newToken(account, 'team', `Name, "${account}"`);
      for (let each = 0; each < count; each++) expect(await call(token)).toBe(404);
    }
    await json('account', 'set-plan', 'billed-2', 'free');
    const { code, out, errors } = await bds('usage', '--all', '--month', month, '--csv');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const lines = parsed(out);
    const sums = new Map(
      lines
        .filter(({ account, pool }) => Number.isInteger(calls.get(account ?? '')) && pool === 'calls')
        .map(({ account = '', used }) => [account, Number(used)]),
    );
    expect(sums).toEqual(calls);
    const ledgers = await billed(month);
    expect(ledgers.size).toBeGreaterThan(0);
    for (const [name, used] of ledgers) {
      const [account, pool] = name.split(' ');
      const shown = lines.filter((line) => line.account === account && line.pool === pool);
      expect(shown.map((line) => Number(line.used))).toEqual([used]);
    }
    expect(lines.find(({ account }) => account === 'billed-1')).toMatchObject({
      name: 'Name, "billed-1"',
      plan: 'team',
      state: 'active',
      month,
      pool: 'calls',
      allowance: '100',
      used: '3',
      remaining: '97',
    });
    // The pool of the earlier plan allows nothing more.
    expect(lines.filter(({ account }) => account === 'billed-2')).toMatchObject([
      { pool: 'calls', allowance: '0', used: '1', remaining: '0' },
      { pool: 'logos', allowance: '10', used: '0', remaining: '10' },
    ]);
  });

  test('also has ledgers whose account accounts does not have, so that no billed call is missing', async () => {
    const { token } = await newToken('lost', 'team');
    expect(await call(token)).toBe(404);
    const client = new MongoClient(stack.mongodbUrl);
    await client
      .db(`${stack.databasePrefix}_accounts`)
      .collection<{ _id: string }>('accounts')
      .deleteOne({ _id: 'lost' });
    await client.close();
    await expect
      .poll(async () => {
        const answer = (await json('usage', '--all')) as { accounts: { account: string }[] };
        return answer.accounts.find(({ account }) => account === 'lost');
      })
      .toMatchObject({ name: null, plan: null, state: null, pools: [{ pool: 'calls', used: 1 }] });
  });

  test('of a month without calls has only the headings', async () => {
    const { out } = await bds('usage', '--all', '--month', '2020-01', '--csv');
    expect(out).toBe('account,name,plan,state,month,pool,allowance,used,remaining,held_by_gateways\n');
  });
});

test('usage of an account that does not exist is an error with a way out, and not an empty month', async () => {
  expect(await bds('usage', 'nope')).toEqual({
    code: 1,
    out: '',
    errors: 'bds: there is no account "nope": bds account list shows all\n',
  });
});

test('usage says what callers may still call, whatever gateways hold, in the words of /v1/usage', async () => {
  const { token } = await newToken('holding', 'team');
  expect(await call(token)).toBe(404);
  const shown = (await json('usage', 'holding')) as { pools: [{ held_by_gateways: number }] };
  expect(shown).toMatchObject({
    pools: [{ pool: 'calls', allowance: 100, used: 1, remaining: 99, allowance_in_metering: 100 }],
  });
  expect(shown.pools[0].held_by_gateways).toBeGreaterThan(0);
  await expect
    .poll(async () => (await fetch(`${stack.gateways[0]?.url}/v1/usage?token=${token}`)).json())
    .toMatchObject({ pools: [{ pool: 'calls', allowance: 100, used: 1, remaining: 99 }] });
  await json('plan', 'set', 'team', '--pool', 'calls=200:brands,logos');
  const { out } = await bds('usage', 'holding');
  expect(out).toMatch(/^calls +200 +1 +199 +\d+$/m);
  expect(out).toContain('Metering still uses the allowance 100 for the pool calls.');
  await json('plan', 'set', 'team', '--pool', 'calls=100:brands,logos');
});

describe('the list of accounts', () => {
  test('has plan, state, use and last call of each account that the filters fit', async () => {
    const { token } = await newToken('listed-a', 'team', 'Listed A');
    await newToken('listed-b', 'free', 'Listed B');
    await json('account', 'close', 'listed-b');
    expect(await call(token)).toBe(404);
    const today = new Date().toISOString().slice(0, 10);
    await expect
      .poll(() => json('account', 'list', '--search', 'listed'))
      .toMatchObject({
        accounts: [
          {
            id: 'listed-a',
            name: 'Listed A',
            plan: 'team',
            state: 'active',
            last_call: today,
            pools: [{ pool: 'calls', allowance: 100, used: 1, remaining: 99 }],
          },
          { id: 'listed-b', plan: 'free', state: 'closed', last_call: null, pools: [{ pool: 'logos' }] },
        ],
        next: null,
      });
    expect((await bds('account', 'list', '--search', 'listed')).out).toMatch(
      /^listed-a +Listed A +team +active +calls +1 of 100 +\d{4}-\d{2}-\d{2}$/m,
    );
    const idsOf = async (...filters: string[]) => {
      const { accounts } = (await json('account', 'list', '--search', 'listed', ...filters)) as {
        accounts: { id: string }[];
      };
      return accounts.map(({ id }) => id);
    };
    expect(await idsOf('--state', 'closed')).toEqual(['listed-b']);
    expect(await idsOf('--plan', 'team')).toEqual(['listed-a']);
    expect(await idsOf('--limit', '1')).toEqual(['listed-a']);
    expect(await idsOf('--limit', '1', '--after', 'listed-a')).toEqual(['listed-b']);
    expect((await bds('account', 'list', '--search', 'listed', '--limit', '1')).out).toContain(
      'There are further accounts: raise --limit, or add --after listed-a.',
    );
    expect(parsed((await bds('account', 'list', '--search', 'listed', '--csv')).out)).toMatchObject([
      { account: 'listed-a', used: '1', allowance: '100', last_call: today },
      { account: 'listed-b', used: '0', state: 'closed', last_call: '' },
    ]);
  });

  test('is whole, though it takes several pages', async () => {
    for (let each = 0; each < 120; each++)
      await json('account', 'create', '--id', `many-${each}`, '--name', 'Many', '--plan', 'free');
    const lines = parsed((await bds('account', 'list', '--search', 'many-', '--csv')).out);
    expect(new Set(lines.map(({ account }) => account)).size).toBe(120);
    expect(lines).toHaveLength(120);
  });
});

test('a closed account is reopened with its tokens, and renamed', async () => {
  const { token } = await newToken('again', 'team');
  await json('account', 'close', 'again');
  await expect.poll(() => call(token)).toBe(401);
  expect(await json('account', 'reopen', 'again')).toMatchObject({
    account: { state: 'active' },
  });
  await expect.poll(() => call(token), { timeout: 30_000 }).toBe(404);
  expect(await json('account', 'rename', 'again', 'Once More')).toMatchObject({
    account: { id: 'again', name: 'Once More', plan: 'team' },
  });
});

test('a key is rotated: both tokens are answered during the overlap, and only the new one after it', async () => {
  const { token, key } = await newToken('rotating', 'team');
  await json('key', 'edit', key.id, '--label', 'shop');
  const rotated = (await json('key', 'rotate', key.id, '--overlap', '24h', '--yes')) as {
    token: string;
    key: { id: string };
    replaced: object;
  };
  expect(rotated).toMatchObject({
    key: { label: 'shop', state: 'active' },
    replaced: { id: key.id, state: 'active', replaced_by: rotated.key.id, expires_at: expect.any(String) },
  });
  expect(rotated.key).not.toHaveProperty('expires_at');
  expect(await Promise.all([call(token), call(rotated.token)])).toEqual([404, 404]);
  const last = (await json('key', 'rotate', rotated.key.id, '--overlap', '0m', '--yes')) as { token: string };
  await expect.poll(() => call(rotated.token)).toBe(401);
  expect(await Promise.all([call(token), call(last.token)])).toEqual([404, 404]);
});

test("a key's origins are edited in place", async () => {
  const { token, key } = await newToken('edited', 'team');
  expect(await call(token)).toBe(404);
  await json('key', 'edit', key.id, '--origin', 'https://shop.example');
  await expect.poll(() => call(token)).toBe(403);
  expect(await json('key', 'edit', key.id, '--all-origins')).toMatchObject({ key: { origins: [] } });
  await expect.poll(() => call(token)).toBe(404);
});

describe('what cannot be undone', () => {
  test('is refused without --yes where nobody can be asked, and changes nothing', async () => {
    const { key } = await newToken('careful', 'team');
    for (const command of [
      ['key', 'revoke', key.id],
      ['key', 'rotate', key.id, '--overlap', '1h'],
      ['operator', 'revoke', 'ana'],
      ['delete', 'apple'],
    ]) {
      const { code, errors } = await bds(...command);
      expect({ code, errors }).toEqual({
        code: 2,
        errors: expect.stringMatching(/cannot be undone: add --yes\n$/),
      });
    }
    expect(await json('key', 'list', 'careful')).toMatchObject({
      keys: [{ state: 'active', replaced_by: null }],
    });
  });

  test('is asked about at a terminal, and done only if the answer is yes', async () => {
    const { key } = await newToken('asked', 'team');
    const asked: string[] = [];
    const revokeWith = (answer: string) => {
      const ask = async (question: string) => {
        asked.push(question);
        return answer;
      };
      return runBds(stack, folder, ['key', 'revoke', key.id], {}, ask);
    };
    for (const answer of ['', 'n', 'yesterday'])
      expect(await revokeWith(answer)).toMatchObject({ code: 1, out: '' });
    expect(await json('key', 'list', 'asked')).toMatchObject({ keys: [{ state: 'active' }] });
    expect(await revokeWith('y')).toMatchObject({ code: 0, errors: '' });
    expect(asked).toEqual(Array(4).fill(`Revoking ${key.id} cannot be undone. Go on? [y/N] `));
  });
});
