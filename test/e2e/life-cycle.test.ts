import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { bareMerchant, fullStock } from './fixtures.ts';
import { type Operator, operatorOf } from './operator.ts';

const BACKENDS = ['accounts', 'catalog', 'metering'] as const;

let stack: TestStack;
let operator: Operator;
let account: { accountId: string; token: string };

beforeAll(async () => {
  stack = await startTestStack({ gateways: 2 });
  operator = operatorOf(stack);
  await operator.putBrands([fullStock]);
  account = await operator.newAccount(1_000_000);
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

/** Callers that go on until `stop`, and what they were answered. */
function startLoad(): { statuses: Map<number, number>; stop(): Promise<void> } {
  const statuses = new Map<number, number>();
  let going = true;
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const workers = stack.gateways.flatMap((gateway) =>
    [1, 2].map(async () => {
      const caller = callerOf(gateway);
      while (going) {
        try {
          const response = await caller.brand('ZPHX', account.token);
          await response.arrayBuffer();
          count(response.status);
        } catch {
          count(0);
        }
      }
    }),
  );
  return {
    statuses,
    stop: async () => {
      going = false;
      await Promise.all(workers);
    },
  };
}

describe('the stack', () => {
  test.each(BACKENDS)('goes on answering a warm account while %s is killed and comes back', async (name) => {
    for (const gateway of stack.gateways) {
      expect((await callerOf(gateway).brand('ZPHX', account.token)).status).toBe(200);
    }
    const load = startLoad();
    await expect.poll(() => load.statuses.get(200) ?? 0).toBeGreaterThan(20);
    await stack.kill(name);
    const before = load.statuses.get(200) ?? 0;
    await expect.poll(() => load.statuses.get(200) ?? 0).toBeGreaterThan(before + 20);
    await stack.restart(name);
    const after = load.statuses.get(200) ?? 0;
    await expect.poll(() => load.statuses.get(200) ?? 0).toBeGreaterThan(after + 20);
    await load.stop();
    expect(new Set(load.statuses.keys())).toEqual(new Set([200]));
  });

  test('answers on one gateway while the other is killed, and on both when it is back', async () => {
    const [first, second] = stack.gateways;
    if (!first || !second) throw new Error('two gateways are needed');
    await stack.kill(first.name);
    for (let call = 0; call < 20; call++) {
      expect((await callerOf(second).brand('ZPHX', account.token)).status).toBe(200);
    }
    await stack.restart(first.name);
    expect((await callerOf(first).brand('ZPHX', account.token)).status).toBe(200);
  });

  test('loses no call to a gateway that is told to stop: it answers what it has accepted', async () => {
    const [, second] = stack.gateways;
    if (!second) throw new Error('two gateways are needed');
    const before = (await operator.usage(account.accountId))[0]?.used ?? 0;
    const calls = Array.from({ length: 50 }, () => callerOf(second).brand('ZPHX', account.token));
    const answers = Promise.allSettled(calls);
    await calls[0];
    await stack.restart(second.name);
    const settled = await answers;
    const answered = settled.filter(
      (call) => call.status === 'fulfilled' && call.value.status === 200,
    ).length;
    await expect
      .poll(async () => (await operator.usage(account.accountId))[0]?.used, { timeout: 15_000 })
      .toBeGreaterThanOrEqual(before + answered);
  });

  test('starts in any order: a service is not ready before what it needs, and is ready after', async () => {
    for (const name of [...BACKENDS, 'gateway-1', 'gateway-2']) await stack.kill(name);
    const [first] = stack.gateways;
    if (!first) throw new Error('a gateway is needed');
    const gateway = stack.restart('gateway-1');
    await expect
      .poll(async () => (await fetch(`${first.opsUrl}/livez`).catch(() => undefined))?.status, {
        timeout: 10_000,
      })
      .toBe(200);
    expect((await fetch(`${first.opsUrl}/readyz`)).status).toBe(503);
    for (const name of ['metering', 'catalog', 'accounts', 'gateway-2']) await stack.restart(name);
    await gateway;
    for (const each of stack.gateways) {
      expect((await fetch(`${each.opsUrl}/readyz`)).status).toBe(200);
      expect((await callerOf(each).brand('ZPHX', account.token)).status).toBe(200);
    }
  });

  test('answers new records after an import, on every gateway, within seconds', async () => {
    for (const gateway of stack.gateways) {
      expect((await callerOf(gateway).brand('Newcomer', account.token)).status).toBe(404);
    }
    await operator.putBrands([{ ...bareMerchant, id: 'newcomer', name: 'Newcomer' }]);
    for (const gateway of stack.gateways) {
      await expect
        .poll(async () => (await callerOf(gateway).brand('Newcomer', account.token)).status, {
          timeout: 5_000,
        })
        .toBe(200);
    }
  });
});
