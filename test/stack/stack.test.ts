import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { freePort, startStack } from '@brand-data/local';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from './index.ts';
import { temporaryFolder } from './temporary-folder.ts';

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

test('a service whose port is taken fails the start at once, by its name and with the reason', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address() as AddressInfo;
  const portFor = async (name: string) => (name === 'metering.ops' ? address.port : freePort());
  const start = startStack({
    ...{ dataDir: await temporaryFolder(), gateways: 1, restart: false, portFor },
    natsUrl: stack.natsUrl,
    mongodbUrl: stack.mongodbUrl,
  });
  // The gateway would wait for metering for a minute.
  await expect(start).rejects.toThrow(/^metering ended at its start: .*EADDRINUSE/);
  taken.close();
});
