import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import { newSigningKeys } from '@brand-data/servers';
import { scrape } from '@brand-data/testing/exposition';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { bareMerchant, fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

let stack: TestStack;
let operator: TestOperator;

beforeAll(async () => {
  stack = await startTestStack({ gateways: 2, replicas: { images: 0 } });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock, bareMerchant]);
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

const callers = () => stack.gateways.map(callerOf);
const totalUsed = async (accountId: string) =>
  (await operator.usage(accountId)).reduce((sum, pool) => sum + pool.used, 0);

/**
 * Calls both gateways with all tokens, from `workers` at once, until 50 calls have got 429. Returns the number of each status.
 */
async function callUntilUsedUp(tokens: string[], workers: number): Promise<Map<number, number>> {
  const answers = new Map<number, number>();
  let refusals = 0;
  const work = async (worker: number) => {
    const caller = callers()[worker % stack.gateways.length];
    for (let call = 0; refusals < 50; call++) {
      const token = tokens[(worker + call) % tokens.length] ?? '';
      const identifier = ['ZPHX', "O'Brien's Corner-Shop", 'nobody knows this'][call % 3] ?? '';
      const response = await (call % 2 === 0
        ? caller?.brand(identifier, token)
        : caller?.logo(identifier, token));
      await response?.arrayBuffer();
      const status = response?.status ?? 0;
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 429) refusals += 1;
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return answers;
}

describe('the quota of an account', () => {
  test('is told by a gateway as /v1/usage tells it, after the account was used at the other gateway', async () => {
    const account = await operator.newAccount(1_000);
    const [quiet, busy] = callers();
    if (!quiet || !busy) throw new Error('the stack has two gateways');
    const toldBy = async (caller: typeof quiet) => {
      const response = await caller.brand('ZPHX', account.token);
      await response.arrayBuffer();
      const [, left] = /"month";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '') ?? [];
      return left && Number(left);
    };
    await toldBy(quiet);
    for (let call = 0; call < 300; call += 30)
      await Promise.all(Array.from({ length: 30 }, () => toldBy(busy)));
    // The gateway leaves the figure out as long as it does not know that it is true.
    await expect
      .poll(async () => (await toldBy(quiet)) || 1_000, { timeout: 15_000, interval: 500 })
      .toBeLessThanOrEqual(700 + 20);
    expect(await totalUsed(account.accountId)).toBeGreaterThanOrEqual(301);
  });

  test.each([1, 1_500])(
    'of %i calls is never exceeded by two gateways and three keys at once, and all of it can be used',
    async (allowance) => {
      const account = await operator.newAccount(allowance);
      const more = [await operator.createKey(account.accountId), await operator.createKey(account.accountId)];
      const tokens = [account.token, ...more.map(({ token }) => token)];

      let counted = 0;
      let charged = 0;
      await expect
        .poll(
          async () => {
            const answers = await callUntilUsedUp(tokens, 12);
            for (const status of [200, 304, 404]) counted += answers.get(status) ?? 0;
            charged = await totalUsed(account.accountId);
            expect(counted).toBeLessThanOrEqual(allowance);
            return { counted, charged };
          },
          { timeout: 60_000, interval: 500 },
        )
        .toEqual({ counted: allowance, charged: allowance });

      const [pool] = await operator.usage(account.accountId);
      expect(pool).toMatchObject({ limit: allowance, used: allowance, remaining: 0 });
      const cells = pool?.cells ?? [];
      expect(cells.reduce((sum, { count }) => sum + count, 0)).toBe(allowance);
      if (allowance > 1) {
        expect(new Set(cells.map(({ keyId }) => keyId)).size).toBe(3);
        expect(new Set(cells.map(({ route }) => route))).toEqual(new Set([Route.BRANDS, Route.LOGOS]));
        expect(new Set(cells.map(({ status }) => status))).toEqual(new Set([200, 404]));
      }
    },
  );

  test('gets all unspent permits back when gateways stop in order', async () => {
    const account = await operator.newAccount(1_000);
    for (const caller of callers()) expect((await caller.brand('ZPHX', account.token)).status).toBe(200);
    for (const { name } of stack.gateways) await stack.restart(name);
    const [pool] = await operator.usage(account.accountId);
    expect(pool).toMatchObject({ used: 2, out: 0, remaining: 998 });
  });

  test('grows at once when the account changes to a larger plan, and keeps the calls already used', async () => {
    const account = await operator.newAccount(2);
    const [caller] = callers();
    const status = async () => (await caller?.brand('ZPHX', account.token))?.status;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
    await operator.setPlan('larger', [{ name: 'calls', allowance: 4, routes: [Route.BRANDS] }]);
    await operator.setAccountPlan(account.accountId, 'larger');
    await expect.poll(status, { timeout: 20_000 }).toBe(200);
    expect([await status(), await status()]).toEqual([200, 429]);
    expect(await totalUsed(account.accountId)).toBe(4);
  });

  test('is served without a failed call while the key with which accounts signs it is replaced', async () => {
    const { signing, verifying } = stack.allowanceKeyFiles;
    const oldPublicKey = await readFile(verifying, 'utf8');
    const next = newSigningKeys();
    /** Replaces a file at once, and waits until its service has read it. */
    const replace = async (service: string, file: string, text: string) => {
      const read = async () => (await stack.logs(service)).split('a setting was read again').length;
      const before = await read();
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
      await expect.poll(read).toBe(before + 1);
    };
    // The allowance is so small that grants are small, too. Therefore gateways ask metering for permits all the time.
    const account = await operator.newAccount(20_000);
    const newAccounts = [
      await operator.newAccount(100),
      await operator.newAccount(100),
      await operator.newAccount(100),
    ];
    const statuses = new Map<number, number>();
    const call = async (token: string, gateway: number) => {
      const response = await callers()[gateway % stack.gateways.length]?.brand('ZPHX', token);
      await response?.arrayBuffer();
      statuses.set(response?.status ?? 0, (statuses.get(response?.status ?? 0) ?? 0) + 1);
    };
    let isOver = false;
    const load = Promise.all(
      [0, 1, 2, 3].map(async (worker) => {
        for (let calls = worker; !isOver; calls++) {
          await call(account.token, calls);
          // The load need not be high, and a busy machine would make calls fail for other reasons.
          await delay(10);
        }
      }),
    );
    const newAccountsAreServed = async () => {
      const { token = '' } = newAccounts.pop() ?? {};
      await Promise.all([call(token, 0), call(token, 1)]);
    };

    try {
      await replace('metering', verifying, `${oldPublicKey}${next.verifying}`);
      await newAccountsAreServed();
      await replace('accounts', signing, next.signing);
      await newAccountsAreServed();
      // Gateways verify the account's tokens again after a change. Otherwise the old key would be needed for 15 minutes more.
      await operator.setPlan(account.plan, [
        { name: 'calls', allowance: 20_001, routes: [Route.BRANDS, Route.LOGOS] },
      ]);
      await call(account.token, 0);
      await call(account.token, 1);
      await replace('metering', verifying, next.verifying);
      await newAccountsAreServed();
    } finally {
      isOver = true;
      await load;
    }

    expect([...statuses.keys()]).toEqual([200]);
    const counted = [...statuses.values()].reduce((sum, calls) => sum + calls, 0);
    expect(counted).toBeGreaterThan(50);
    const metrics = await scrape(stack.opsUrls.get('metering') ?? '');
    const rejections = [...metrics.matchAll(/^metering_rejected_total\{.*\} (\d+)$/gm)];
    expect(rejections.length).toBeGreaterThan(0);
    for (const [, count] of rejections) expect(count).toBe('0');
  });

  test('is repaired by bds after its ledger was given a limit of 0 with a revision that accounts never gave', async () => {
    const account = await operator.newAccount(50);
    const [caller] = callers();
    const status = async () => (await caller?.brand('ZPHX', account.token))?.status;
    expect(await status()).toBe(200);
    const mongodb = new MongoClient(stack.mongodbUrl);
    const ledgers = mongodb.db(`${stack.databasePrefix}_metering`).collection('ledgers');
    const poison = { limit: 0, limitRevision: Number.MAX_SAFE_INTEGER };
    await ledgers.updateOne({ accountId: account.accountId }, { $set: poison, $inc: { version: 1 } });
    await mongodb.close();
    await expect.poll(status).toBe(429);

    const repaired = await stack.bds('account', 'repair-limits', account.accountId);
    expect(repaired).toMatchObject({
      limits: [
        { pool: 'calls', allowance: 50, allowance_before: 0, revision_before: Number.MAX_SAFE_INTEGER },
      ],
    });
    await expect.poll(status).toBe(200);
    expect((await operator.usage(account.accountId))[0]).toMatchObject({ limit: 50 });
    const trail = () => stack.bds('audit', '--about', account.accountId, '--method', 'RepairLimits');
    await expect.poll(trail).toMatchObject({
      entries: [{ service: 'metering', outcome: 'done', counts: { calls: 1, done: 1, ledgers: 1 } }],
    });
  });

  test('is in the headers of answers that are not counted, too', async () => {
    const account = await operator.newAccount(10);
    const [caller] = callers();
    await caller?.brand('ZPHX', account.token);
    const response = await fetch(`${stack.gateways[0]?.url}/v1/brands/%?token=${account.token}`);
    expect(response.status).toBe(400);
    expect(response.headers.get('x-quota-charged')).toBe('0');
    expect(response.headers.get('ratelimit')).toMatch(/^"month";r=9;/);
  });
});

describe('the rate of an account', () => {
  test('holds two gateways and two keys together, and what is refused is not counted', async () => {
    const account = await operator.newAccount(10_000, { rate: { perSecond: 20, burst: 20 } });
    const { token } = await operator.createKey(account.accountId);
    const tokens = [account.token, token];
    const began = performance.now();
    let left = 300;
    let counted = 0;
    let refused: Response | undefined;
    const work = async (worker: number) => {
      for (; left > 0; left -= 1) {
        const response = await callers()[worker % 2]?.brand('ZPHX', tokens[worker % tokens.length] ?? '');
        await response?.arrayBuffer();
        if (response?.status === 200) counted += 1;
        else refused = response;
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
    const seconds = (performance.now() - began) / 1_000;
    expect(counted).toBeGreaterThanOrEqual(20);
    // The gateways may differ for a moment about their shares. Without shares, they would admit 40 calls at once.
    expect(counted).toBeLessThanOrEqual(1.05 * (20 + 20 * seconds) + 8);
    expect(refused?.status).toBe(429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused?.headers.get('ratelimit-policy')).toMatch(/"second";q=20;w=1$/);
    expect(refused?.headers.get('x-quota-charged')).toBe('0');
    await expect.poll(() => totalUsed(account.accountId)).toBe(counted);
    const logs = await Promise.all(stack.gateways.map(({ name }) => stack.logs(name)));
    expect(logs.join()).toContain(`"accountId":"${account.accountId}"`);
  });

  test('changes at once when the plan does, and a key can have a lower one', async () => {
    const account = await operator.newAccount(10_000);
    const limits = { rate: { perSecond: 1, burst: 1 } };
    const slow = await operator.createKey(account.accountId, { limits });
    const statusesOf = async (token: string) => {
      const statuses = new Set<number | undefined>();
      for (let call = 0; call < 10; call++) statuses.add((await callers()[0]?.brand('ZPHX', token))?.status);
      return statuses;
    };
    expect(await statusesOf(account.token)).toEqual(new Set([200]));
    expect(await statusesOf(slow.token)).toContain(429);
    await operator.setPlan(
      account.plan,
      [{ name: 'calls', allowance: 10_000, routes: [Route.BRANDS] }],
      limits,
    );
    await expect.poll(() => statusesOf(account.token)).toContain(429);
  });
});
