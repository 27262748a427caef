import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Operator, operatorOf } from '../e2e/operator.ts';
import { type ApiClient, createApiClient, nameOf } from './api-call.ts';
import { type FaultStack, startFaultStack } from './stack.ts';

const ALLOWANCE = 80;
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

test('with one of two metering replicas frozen, an account near its limit is answered to its last call, and then told 429', {
  timeout: 60_000,
}, async () => {
  const account = await operator.newAccount(ALLOWANCE);
  const call = async (gateway: string) =>
    nameOf(await client.get(`${gateway}/v1/brands/nobody?token=${account.token}`));
  // Tokens are verified, connections are made.
  for (const { url } of stack.gateways) expect(await call(url)).toBe('404');
  stack.freeze('metering-2');
  const told = new Map<string, number>();
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      const url = stack.gateways[caller % stack.gateways.length]?.url ?? '';
      for (let name = ''; name !== '429'; ) {
        name = await call(url);
        told.set(name, (told.get(name) ?? 0) + 1);
        if (told.size > 2) return;
      }
    }),
  );
  expect(Object.fromEntries(told)).toEqual({ '404': ALLOWANCE - stack.gateways.length, '429': CALLERS });
  stack.thaw('metering-2');
  const [pool] = await operator.usage(account.accountId);
  expect(pool?.used).toBe(ALLOWANCE);
});
