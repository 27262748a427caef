import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from './index.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ gateways: 2 });
});
afterAll(() => stack?.stop());

async function isReady(gateway: { opsUrl: string } | undefined): Promise<boolean> {
  return fetch(`${gateway?.opsUrl}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

test('every gateway is a process of its own that answers at its own address', async () => {
  expect(new Set(stack.gateways.map(({ name }) => stack.pid(name))).size).toBe(2);
  for (const { url } of stack.gateways) expect((await fetch(`${url}/v1/brands/AAPL`)).status).toBe(401);
});

test('what is killed stays down until it is restarted, at the address that it had', async () => {
  const [first, second] = stack.gateways;
  await stack.kill('gateway-1');
  expect(await isReady(first)).toBe(false);
  expect(await isReady(second)).toBe(true);
  await stack.restart('gateway-1');
  expect(await isReady(first)).toBe(true);
});

test('what a process wrote can be read', async () => {
  expect(await stack.logs('accounts')).toContain('"msg":"ready"');
  expect(() => stack.logs('nobody')).toThrow('no "nobody" here');
});
