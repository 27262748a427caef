import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createToken, monthOf } from '@brand-data/contracts';
import { runBds } from '@brand-data/operator/test/run-bds.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 1, replicas: { images: 0 } });
  await json('plan', 'set', 'team', '--pool', 'calls=100:brands,logos');
  await json('plan', 'set', 'free', '--pool', 'logos=10:logos');
});

afterAll(() => stack?.stop());

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
    await json('account', 'set-plan', 'billed-2', 'free', '--yes');
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
    await json('account', 'close', 'listed-b', '--yes');
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
  await json('account', 'close', 'again', '--yes');
  await expect.poll(() => call(token)).toBe(401);
  expect(await json('account', 'reopen', 'again')).toMatchObject({
    account: { state: 'active' },
  });
  await expect.poll(() => call(token), { timeout: 30_000 }).toBe(404);
  expect(await json('account', 'rename', 'again', 'Once More')).toMatchObject({
    account: { id: 'again', name: 'Once More', plan: 'team' },
  });
});

test('a deleted account is refused at once, and its billed calls stay under its id', async () => {
  const { token } = await newToken('leaving', 'team', 'Leaving Inc.');
  let answered = 0;
  const counted = async () => {
    const status = await call(token);
    if (status === 404) answered += 1;
    return status;
  };
  expect(await counted()).toBe(404);
  const { out } = await bds('account', 'delete', 'leaving', '--dry-run');
  expect(out).toMatch(/^Nothing was deleted.*\n(.*\n)*.*Leaving Inc\./);
  expect(await bds('account', 'delete', 'leaving')).toMatchObject({
    code: 2,
    errors: expect.stringMatching(/cannot be undone: add --yes/),
  });
  expect(await counted()).toBe(404);
  for (let times = 0; times < 2; times++)
    expect(await json('account', 'delete', 'leaving', '--yes')).toMatchObject({
      account: { id: 'leaving', name: '', plan: '', state: 'deleted', deleted_at: expect.any(String) },
    });
  await expect.poll(counted).toBe(401);
  expect(await json('usage', 'leaving')).toMatchObject({
    account: 'leaving',
    pools: [{ pool: 'calls', used: answered, breakdown: [{ count: answered }] }],
  });
  const { accounts } = (await json('usage', '--all')) as { accounts: { account: string }[] };
  expect(accounts).toContainEqual(
    expect.objectContaining({
      account: 'leaving',
      name: null,
      pools: [expect.objectContaining({ used: answered })],
    }),
  );
  const { out: trail } = await bds('audit', '--about', 'leaving');
  expect(trail).toMatch(/accounts\.DeleteAccount .*account=leaving keys=1 before=open/);
  expect(trail).not.toContain('Leaving');
  await json('plan', 'set', 'for-nobody', '--pool', 'calls=1:brands');
  await json('account', 'create', '--id', 'staying', '--name', 'Staying Inc.', '--plan', 'team');
  expect((await bds('plan', 'delete', 'team')).errors).toMatch(/on the plan \(.*: give them another one/);
  expect(await json('plan', 'delete', 'for-nobody')).toMatchObject({ deleted: { name: 'for-nobody' } });
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
  await json('key', 'edit', key.id, '--origin', 'https://shop.example', '--yes');
  await expect.poll(() => call(token)).toBe(403);
  // Nothing is lost, so nothing is asked, in whatever way the same origin is written.
  for (const same of ['https://SHOP.example', 'https://shop.example:443'])
    expect(await json('key', 'edit', key.id, '--origin', same)).toMatchObject({
      key: { origins: ['https://shop.example'] },
    });
  expect(await json('key', 'edit', key.id, '--all-origins')).toMatchObject({ key: { origins: [] } });
  await expect.poll(() => call(token)).toBe(404);
});

describe('a plan', () => {
  const rate = fc.integer({ min: 1, max: 90 });
  const pool = fc.oneof(
    fc.constant('none'),
    fc.integer({ min: 0, max: 1_000 }).map((allowance) => `${allowance}:`),
  );
  const named = fc.record(
    {
      brands: pool,
      logos: pool,
      rate: fc.oneof(fc.constant('none'), rate.map(String)),
      concurrency: fc.oneof(fc.constant('none'), rate.map(String)),
    },
    { requiredKeys: [] },
  );

  test('changes in what the options name and in nothing else, and the trail has all that was before', async () => {
    await json('plan', 'set', 'changing', '--pool', 'brands=1:brands', '--pool', 'logos=1:logos');
    let before = await planNamed('changing');
    const change = async (change: {
      brands?: string;
      logos?: string;
      rate?: string;
      concurrency?: string;
    }) => {
      const options = Object.entries(change).flatMap(([name, value]) => {
        const isPool = name === 'brands' || name === 'logos';
        return isPool
          ? ['--pool', `${name}=${value === 'none' ? value : `${value}${name}`}`]
          : [`--${name}`, value];
      });
      if (options.length === 0) return;
      await json('plan', 'set', 'changing', ...options, '--yes');
      const after = await planNamed('changing');
      for (const name of ['brands', 'logos'] as const) {
        const [was, is] = [before, after].map(({ pools }) => pools.find((one) => one.name === name));
        if (change[name] === undefined) expect(is).toEqual(was);
        else if (change[name] === 'none') expect(is).toBeUndefined();
        else expect(is).toEqual({ name, allowance: Number.parseInt(change[name], 10), routes: [name] });
      }
      const limit = (text: string | undefined, was: unknown, is: (value: number) => unknown) =>
        text === undefined ? was : text === 'none' ? null : is(Number(text));
      expect(after).toMatchObject({
        rate: limit(change.rate, before.rate, (value) => ({ per_second: value, burst: value })),
        concurrency: limit(change.concurrency, before.concurrency, (value) => value),
      });
      const { entries } = (await json('audit', '--about', 'changing', '--limit', '1')) as {
        entries: [{ details: Record<string, string> }];
      };
      const { details } = entries[0];
      expect(details.before ?? '').toBe(before.pools.map(poolText).join('; '));
      expect(details.rate_before).toBe(
        before.rate ? `${before.rate.per_second}:${before.rate.burst}` : undefined,
      );
      expect(details.concurrency_before).toBe(before.concurrency?.toString());
      before = after;
    };
    await fc.assert(fc.asyncProperty(named, change), { numRuns: 15 });
  });

  test('does not lose what customers have or use unless somebody agrees to the difference', async () => {
    const { token } = await newToken('in-use', 'team');
    await json('plan', 'set', 'used', '--pool', 'calls=10:brands,logos', '--rate', '50:100');
    await json('account', 'set-plan', 'in-use', 'used', '--yes');
    for (let made = 0; made < 3; made++) expect(await call(token)).toBe(404);
    await expect
      .poll(async () => (await json('usage', 'in-use')) as object)
      .toMatchObject({ pools: [{ used: 3 }] });
    const before = await planNamed('used');
    for (const [options, difference] of [
      [
        ['--pool', 'calls=3:brands,logos'],
        'calls: 10 (brands, logos) → 3 (brands, logos). in-use has used as much',
      ],
      [['--pool', 'calls=10:brands'], 'calls: 10 (brands, logos) → 10 (brands)'],
      [['--rate', 'none'], 'rate: 50 a second, 100 at once → none'],
      [['--rate', '50'], 'rate: 50 a second, 100 at once → 50 a second, 50 at once'],
      [['--concurrency', '1'], 'concurrency: none → 1 under way'],
    ] as const) {
      const { code, errors } = await bds('plan', 'set', 'used', ...options);
      expect({ code, errors }).toEqual({ code: 2, errors: expect.stringContaining(difference) });
      const asked: string[] = [];
      const refuse = async (question: string) => {
        asked.push(question);
        return 'no';
      };
      const refused = await runBds(stack, folder, ['plan', 'set', 'used', ...options], {}, refuse);
      expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('nothing was changed') });
      expect(asked).toEqual([expect.stringContaining(difference)]);
    }
    expect(await planNamed('used')).toEqual(before);
    await json('plan', 'set', 'tiny', '--pool', 'calls=3:brands,logos', '--rate', '50:100');
    expect(await bds('account', 'set-plan', 'in-use', 'tiny')).toMatchObject({ code: 2 });
    const { out } = await bds('plan', 'set', 'used', '--pool', 'calls=4:brands,logos');
    expect(out).toContain('calls: 10 (brands, logos) → 4 (brands, logos)');
  });

  test('is not overwritten by a command that has not seen its last change', async () => {
    await json('plan', 'set', 'raced', '--pool', 'calls=10:brands', '--rate', '9');
    const change = async () => {
      await json('plan', 'set', 'raced', '--concurrency', '7', '--yes');
      return 'yes';
    };
    const late = await runBds(stack, folder, ['plan', 'set', 'raced', '--rate', 'none'], {}, change);
    expect(late).toMatchObject({ code: 1, errors: expect.stringContaining('run the command again') });
    expect(await planNamed('raced')).toMatchObject({ rate: { per_second: 9 }, concurrency: 7 });
  });
});

interface PlanJson {
  name: string;
  pools: { name: string; allowance: number; routes: string[] }[];
  rate: { per_second: number; burst: number } | null;
  concurrency: number | null;
}

async function planNamed(name: string): Promise<PlanJson> {
  const { plans } = (await json('plan', 'list')) as { plans: PlanJson[] };
  return plans.find((plan) => plan.name === name) as PlanJson;
}

function poolText({ name, allowance, routes }: PlanJson['pools'][number]): string {
  return `${name}: ${allowance} for ${routes.join(' and ')}`;
}

test('a leaked token leads to its key, and neither command line, output nor log ever has it', async () => {
  const { token, key } = await newToken('leaky', 'team');
  await json('key', 'create', 'leaky');
  const asked: unknown[] = [];
  const paste = async (...question: unknown[]) => {
    asked.push(question);
    return ` ${token}\n`;
  };
  const found = await runBds(stack, folder, ['key', 'find'], {}, paste);
  expect(found).toMatchObject({ code: 0, out: expect.stringContaining(key.id), errors: '' });
  expect(asked).toEqual([['Token: ', true]]);
  await json('key', 'revoke', key.id, '--yes');
  const again = await runBds(stack, folder, ['key', 'find', '--json'], {}, paste);
  expect(JSON.parse(again.out)).toMatchObject({ key: { id: key.id, account: 'leaky', state: 'revoked' } });
  const shown = [found, again];
  for (const [typed, status, says] of [
    [createToken(), 1, 'no key of this installation'],
    [token.slice(0, -1), 2, 'no token'],
    ['', 2, 'no token'],
  ] as const) {
    const ran = await runBds(stack, folder, ['key', 'find'], {}, async () => typed);
    expect(ran).toMatchObject({ code: status, errors: expect.stringContaining(says) });
    shown.push(ran);
  }
  for (const words of [['key', 'revoke', token], ['audit', `--about=${token}`], [`--as=x${' '}${token}`]]) {
    const ran = await bds(...words);
    expect(ran).toMatchObject({ code: 2, errors: expect.stringContaining('bds key find') });
    shown.push(ran);
  }
  expect(JSON.stringify(shown)).not.toContain(token.slice(3, 20));
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

test('an operator gives the credential on standard input, before a token, and the trail names the operator', async () => {
  const { credential } = (await json('operator', 'create', 'ida', '--role', 'keys')) as {
    credential: string;
  };
  const { token, key } = await newToken('by-stdin', 'team');
  const script = join(import.meta.dirname, '../../packages/operator/bds.mjs');
  const { accounts, metering } = stack.operator;
  const env = {
    BDS_ACCOUNTS: accounts,
    BDS_METERING: metering,
    BDS_OPERATOR_TOKEN: stack.operator.operatorToken,
  };
  const run = async (input: string, ...args: string[]) => {
    const command = [script, '--operator-token-file', '-', ...args, '--json'];
    const child = spawn(process.execPath, command, {
      env: { ...process.env, ...env, BDS_CERTIFICATES: join(stack.certificates, 'bds') },
    });
    const ended = once(child, 'close');
    child.stdin.end(input);
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: (await ended)[0], out, errors };
  };
  const found = await run(`${credential}\n${token}\n`, 'key', 'find');
  expect(found).toMatchObject({ code: 0, errors: '' });
  expect(JSON.parse(found.out)).toMatchObject({ key: { id: key.id } });
  expect(await run(`${credential}\n`, 'key', 'edit', key.id, '--label', 'idas')).toMatchObject({ code: 0 });
  expect(await json('audit', '--about', key.id)).toMatchObject({
    entries: [
      { operator: 'ida', method: 'UpdateKey' },
      { operator: 'installation', method: 'CreateKey' },
    ],
  });
  const empty = await run('', 'key', 'find');
  expect(empty).toMatchObject({ code: 2, errors: expect.stringContaining('standard input') });
});
