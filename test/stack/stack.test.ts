import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { planStack, startStack } from '@brand-data/local';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from './index.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ gateways: 2, replicas: { images: 2 } });
});
afterAll(() => stack?.stop());

async function isReady(gateway: { opsUrl: string } | undefined): Promise<boolean> {
  return fetch(`${gateway?.opsUrl}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

test('every gateway is a separate process that answers at its own address', async () => {
  expect(new Set(stack.gateways.map(({ name }) => stack.pid(name))).size).toBe(2);
  for (const { url } of stack.gateways) expect((await fetch(`${url}/v1/brands/AAPL`)).status).toBe(401);
});

test('every replica of images is a separate process, and records name the first one', async () => {
  expect(stack.images.map(({ name }) => name)).toEqual(['images-1', 'images-2']);
  expect(new Set(stack.images.map(({ name }) => stack.pid(name))).size).toBe(2);
  for (const { url, opsUrl } of stack.images) {
    expect(url).toMatch(/:\d+\/images$/);
    expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200);
  }
});

test('a killed process stays down until the test restarts it, at the same address', async () => {
  const [first, second] = stack.gateways;
  await stack.kill('gateway-1');
  expect(await isReady(first)).toBe(false);
  expect(await isReady(second)).toBe(true);
  await stack.restart('gateway-1');
  expect(await isReady(first)).toBe(true);
});

test("a process's log can be read", async () => {
  expect(await stack.logs('accounts')).toContain('"msg":"ready"');
  expect(() => stack.logs('nobody')).toThrow('no "nobody" here');
});

test('if a port is taken, the start fails at once with the name of the service and the reason', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address() as AddressInfo;
  const plan = await planStack({
    dataDir: await temporaryFolder(),
    gateways: 1,
    certificates: stack.certificates,
    nats: { url: stack.natsUrl, hasUsers: false },
    mongodb: { url: stack.mongodbUrl, hasUsers: false },
  });
  const services = plan.services.map((service) =>
    service.name === 'metering' ? { ...service, opsPort: address.port } : service,
  );
  const start = startStack({ ...plan, services });
  // If the failed start did not end the other services, it would take a minute, in which the gateway waits for metering.
  await expect(start).rejects.toThrow(/^metering ended at its start: .*EADDRINUSE/);
  taken.close();
});
