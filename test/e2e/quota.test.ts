import { Route } from '@brand-data/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { bareMerchant, fullStock } from './fixtures.ts';
import { type Operator, operatorOf } from './operator.ts';

let stack: TestStack;
let operator: Operator;

beforeAll(async () => {
  stack = await startTestStack({ gateways: 2 });
  operator = operatorOf(stack);
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
          { timeout: 25_000, interval: 500 },
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
    await expect.poll(status, { timeout: 5_000 }).toBe(200);
    expect([await status(), await status()]).toEqual([200, 429]);
    expect(await totalUsed(account.accountId)).toBe(4);
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
