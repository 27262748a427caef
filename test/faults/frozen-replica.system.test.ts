import { until } from '@brand-data/testing/until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CallOutcome, nameOf } from './api-call.ts';
import { type Harness, startHarness } from './stack.ts';

const ALLOWANCE = 80;
const CALLERS = 4;

const bodyOf = (outcome: CallOutcome) => (outcome.kind === 'answered' ? outcome.body.toString() : '');

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ gateways: 2, meterings: 2, others: 2 }, []);
});
afterAll(() => harness?.stop());

test('with either of two metering replicas frozen, no call of an account near its limit fails until its last permit is used', async () => {
  const { stack, operator, client } = harness;
  const account = await operator.newAccount(ALLOWANCE);
  const call = async (gateway: string) =>
    nameOf(await client.get(`${gateway}/v1/brands/nobody?token=${account.token}`));
  // After these calls the gateways have verified the token and opened their connections.
  for (const { url } of stack.gateways) expect(await call(url)).toBe('404');
  const told = new Map<string, number>([['404', stack.gateways.length]]);
  const count = (name: string) => told.get(name) ?? 0;
  const callUntil = (isOver: (name: string) => boolean) =>
    Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        const url = stack.gateways[caller % stack.gateways.length]?.url ?? '';
        for (let name = ''; !isOver(name) && told.size < 3; ) {
          name = await call(url);
          told.set(name, count(name) + 1);
        }
      }),
    );
  // The test freezes each replica in turn, so one of them is the replica that gateways ask first about the account.
  stack.freeze('metering-1');
  await callUntil(() => count('404') >= ALLOWANCE / 2);
  stack.thaw('metering-1');
  stack.freeze('metering-2');
  await callUntil((name) => name === '429');
  stack.thaw('metering-2');
  expect(Object.fromEntries(told)).toEqual({ '404': ALLOWANCE, '429': CALLERS });
  const [pool] = await operator.usage(account.accountId);
  expect(pool?.used).toBe(ALLOWANCE);
});

test('with either of two catalog replicas frozen, every look-up is answered', async () => {
  const { stack, operator, client } = harness;
  const account = await operator.newAccount(1_000);
  const others: string[] = [];
  for (const replica of ['catalog-1', 'catalog-2']) {
    stack.freeze(replica);
    for (let call = 0; call < 10; call++) {
      // No gateway has cached an answer for these names.
      const asked = stack.gateways.map(({ url }) =>
        client.get(`${url}/v1/brands/nobody-${replica}-${call}?token=${account.token}`),
      );
      for (const answer of await Promise.all(asked))
        if (nameOf(answer) !== '404')
          others.push(`${replica} frozen, call ${call}: ${nameOf(answer)}, ${bodyOf(answer)}`);
    }
    stack.thaw(replica);
    // A replica that was frozen for long has to connect to MongoDB again. Until then both replicas are away.
    const isConnected = async () => (await stack.metric(replica, 'mongodb_connected')) === 1;
    await until(`${replica} is connected to MongoDB`, isConnected, { withinMs: 30_000 });
  }
  expect(others).toEqual([]);
});
