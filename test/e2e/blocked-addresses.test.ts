import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { untilAnswered } from './caller.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

/** The proxy of the test is the test itself. */
const PROXY = '127.0.0.1';
const [ABUSER, NEIGHBOUR, IPV6] = ['203.0.113.7', '203.0.113.8', '2001:db8:1:2::7'];

let stack: TestStack;
let operator: TestOperator;
let token: string;
let accountId: string;

beforeAll(async () => {
  const environment = { TRUSTED_PROXIES: PROXY, ACCESS_LOG: 'address' };
  stack = await startTestStack({ gateways: 2, environment });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  ({ accountId, token } = await operator.newAccount(1_000));
});
afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

const call = ({ url }: { url: string }, address: string) =>
  untilAnswered(() =>
    fetch(`${url}/v1/brands/ZPHX?token=${token}`, { headers: { 'x-forwarded-for': address } }),
  );
const statuses = async (address: string) => {
  const answers = await Promise.all(stack.gateways.map((gateway) => call(gateway, address)));
  await Promise.all(answers.map((answer) => answer.text()));
  return answers.map(({ status }) => status);
};
const used = async () => (await operator.usage(accountId)).reduce((sum, pool) => sum + pool.used, 0);
const both = (status: number) => [status, status];

test('the address of the access log can be blocked: both gateways refuse it within seconds, uncounted, and no other', async () => {
  expect(await statuses(ABUSER)).toEqual(both(200));
  const line = async () => (await stack.logs('gateway-1')).split('\n').find((each) => each.includes(ABUSER));
  await expect.poll(line).toBeDefined();
  const { client } = JSON.parse((await line()) ?? '{}');
  await stack.bds('block', client, '--for', '24h', '--reason', 'tries tokens');
  await expect.poll(() => statuses(ABUSER)).toEqual(both(403));
  const before = await used();
  const [gateway = { url: '' }] = stack.gateways;
  const problem = await (await call(gateway, ABUSER)).json();
  expect(problem).toMatchObject({ code: 'address_blocked', status: 403 });
  expect(await used()).toBe(before);
  expect(await statuses(NEIGHBOUR)).toEqual(both(200));
});

test('a gateway that starts again knows all blocks, also those that were made while it was down', async () => {
  await stack.kill('gateway-2');
  await stack.bds('block', '2001:DB8:1:2::/64', '--for', '1h', '--reason', 'tries tokens');
  await stack.restart('gateway-2');
  for (const blocked of [ABUSER, IPV6]) await expect.poll(() => statuses(blocked)).toEqual(both(403));
});

test('a lifted block ends on both gateways within seconds, and the others stay', async () => {
  await stack.bds('block', 'lift', ABUSER);
  await expect.poll(() => statuses(ABUSER)).toEqual(both(200));
  expect(await statuses(IPV6)).toEqual(both(403));
  expect(await stack.bds('block', 'list')).toMatchObject({ blocks: [{ network: '2001:db8:1:2::/64' }] });
});

test('a gateway that was without accounts keeps its blocks, and learns later which were lifted', async () => {
  await stack.kill('accounts');
  expect(await statuses(IPV6)).toEqual(both(403));
  await stack.restart('accounts');
  await stack.bds('block', 'lift', '2001:db8:1:2::/64');
  await expect.poll(() => statuses(IPV6)).toEqual(both(200));
});

test('the trusted proxy itself cannot be blocked', async () => {
  const blocking = stack.bds('block', PROXY, '--for', '1h', '--reason', 'by mistake');
  await expect(blocking).rejects.toThrow(/overlaps the trusted proxies 127\.0\.0\.1/);
});
