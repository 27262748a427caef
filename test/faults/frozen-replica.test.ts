import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Operator, operatorOf } from '../e2e/operator.ts';
import { type ApiClient, createApiClient, nameOf } from './api-call.ts';
import { type FaultStack, startFaultStack } from './stack.ts';

const ALLOWANCE = 40;
/** The frozen replica is asked first about half of them. */
const ACCOUNTS = 8;
const CALLERS = 4;

let stack: FaultStack;
let operator: Operator;
let client: ApiClient;
beforeAll(async () => {
  stack = await startFaultStack({ gateways: 2, meterings: 2 });
  operator = operatorOf(stack);
  client = createApiClient();
});
afterAll(async () => {
  client?.close();
  operator?.close();
  await stack?.stop();
});

test('with one of two metering replicas frozen, accounts near their limits are answered to their last call, and then told 429', {
  timeout: 60_000,
}, async () => {
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => operator.newAccount(ALLOWANCE)));
  const call = async (gateway: string, token: string) =>
    nameOf(await client.get(`${gateway}/v1/brands/nobody?token=${token}`));
  // Tokens are verified, connections are made.
  for (const { token } of accounts)
    for (const { url } of stack.gateways) expect(await call(url, token)).toBe('404');
  stack.freeze('metering-2');
  const endings = accounts.map(async ({ token }) => {
    const told = new Map<string, number>();
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      const url = stack.gateways[caller % stack.gateways.length]?.url ?? '';
      for (let name = ''; name !== '429' && told.size < 3; ) {
        name = await call(url, token);
        told.set(name, (told.get(name) ?? 0) + 1);
      }
    });
    await Promise.all(callers);
    return Object.fromEntries(told);
  });
  const wanted = { '404': ALLOWANCE - stack.gateways.length, '429': CALLERS };
  expect(await Promise.all(endings)).toEqual(accounts.map(() => wanted));
  stack.thaw('metering-2');
  for (const { accountId } of accounts) {
    const [pool] = await operator.usage(accountId);
    expect(pool?.used).toBe(ALLOWANCE);
  }
});
