import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

/** The time from the end of the drain until a process kills itself. */
const STOP_WITHIN_MS = 25_000;
const SERVERS = ['nats-server', 'mongod'];
const SERVICES = ['gateway-1', 'accounts', 'catalog', 'metering', 'images'];

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1, ownMongod: true });
  const operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  const { token } = await operator.newAccount(1_000);
  operator.close();
  const [gateway = { url: '' }] = stack.gateways;
  expect((await callerOf(gateway).brand('ZPHX', token)).status).toBe(200);
});

afterAll(async () => {
  for (const name of SERVERS) signal(name, 'SIGCONT');
  await stack?.stop();
});

function signal(name: string, how: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(stack.pid(name) ?? 0, how);
  } catch {
    return false;
  }
}

test('services stop in order and in time even if NATS and the database hang', async () => {
  for (const name of SERVERS) signal(name, 'SIGSTOP');
  const pids = new Map(SERVICES.map((name) => [name, stack.pid(name)]));
  for (const name of SERVICES) signal(name, 'SIGTERM');
  const isThere = (name: string) => pids.get(name) === stack.pid(name) && signal(name, 0);
  await expect.poll(() => SERVICES.filter(isThere), { timeout: STOP_WITHIN_MS }).toEqual([]);
  for (const name of SERVICES) expect(await stack.logs(name)).toContain('"msg":"stopped"');
});
