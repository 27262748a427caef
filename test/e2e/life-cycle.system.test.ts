import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { bareMerchant, fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const BACKENDS = ['accounts', 'catalog', 'metering', 'images'] as const;

let stack: TestStack;
let operator: TestOperator;
let account: { accountId: string; token: string };

beforeAll(async () => {
  stack = await startTestStack({ gateways: 2 });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  account = await operator.newAccount(1_000_000);
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

describe('the stack', () => {
  test('loses no call when a gateway stops: the gateway answers the calls that it has accepted', async () => {
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
      .poll(async () => (await operator.usage(account.accountId))[0]?.used)
      .toBeGreaterThanOrEqual(before + answered);
  });

  test('starts in any order: a service becomes ready after the services that it needs, and not before', async () => {
    for (const name of [...BACKENDS, 'gateway-1', 'gateway-2']) await stack.kill(name);
    const [first] = stack.gateways;
    if (!first) throw new Error('a gateway is needed');
    const gateway = stack.restart('gateway-1');
    await expect
      .poll(async () => (await fetch(`${first.opsUrl}/livez`).catch(() => undefined))?.status)
      .toBe(200);
    expect((await fetch(`${first.opsUrl}/readyz`)).status).toBe(503);
    for (const name of ['images', 'metering', 'catalog', 'accounts', 'gateway-2']) await stack.restart(name);
    await gateway;
    for (const each of stack.gateways) {
      expect((await fetch(`${each.opsUrl}/readyz`)).status).toBe(200);
      expect((await callerOf(each).brand('ZPHX', account.token)).status).toBe(200);
    }
  });

  test('answers with new records within seconds after an import, on every gateway', async () => {
    for (const gateway of stack.gateways) {
      expect((await callerOf(gateway).brand('Newcomer', account.token)).status).toBe(404);
    }
    await operator.putBrands([{ ...bareMerchant, id: 'newcomer', name: 'Newcomer' }]);
    for (const gateway of stack.gateways) {
      await expect
        .poll(async () => (await callerOf(gateway).brand('Newcomer', account.token)).status, {
          timeout: 20_000,
        })
        .toBe(200);
    }
  });
});
