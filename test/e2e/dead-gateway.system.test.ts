import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const ALLOWANCE = 400;
/** Metering settles the grants of a killed gateway within 15 s. A slow machine may take longer, but far less than the minute of before. */
const BACK_WITHIN_MS = 30_000;

let stack: TestStack;
let operator: TestOperator;

beforeAll(async () => {
  stack = await startTestStack({ gateways: 2, replicas: { images: 0 } });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

test('after a gateway is killed near a small limit, its permits are soon back, and Retry-After says when', async () => {
  const { accountId, token } = await operator.newAccount(ALLOWANCE);
  const callers = stack.gateways.map(callerOf);
  let answered = 0;
  let isKilled = false;
  let isUsedUp = false;
  const refusedAt: number[] = [];
  const waits: number[] = [];
  const work = async (worker: number) => {
    while (!isUsedUp) {
      const caller = callers[isKilled ? 1 : worker % 2];
      const response = await caller?.brand('ZPHX', token).catch(() => undefined);
      await response?.arrayBuffer().catch(() => undefined);
      if (response?.status === 200) answered += 1;
      if (response?.status === 429) isUsedUp = true;
      if (response?.status !== 503) continue;
      refusedAt.push(performance.now());
      waits.push(Number(response.headers.get('retry-after')));
    }
  };
  const kill = async () => {
    await expect.poll(() => answered, { interval: 1 }).toBeGreaterThanOrEqual(ALLOWANCE * 0.4);
    await stack.kill('gateway-1');
    isKilled = true;
  };
  await Promise.all([kill(), ...Array.from({ length: 48 }, (_, worker) => work(worker))]);
  for (const seconds of waits) expect(seconds).toBeGreaterThanOrEqual(1);
  const lastedMs = (refusedAt.at(-1) ?? 0) - (refusedAt[0] ?? 0);
  expect(lastedMs).toBeLessThan(BACK_WITHIN_MS);
  const [pool] = await operator.usage(accountId);
  expect(pool?.used).toBeLessThanOrEqual(ALLOWANCE);
  expect(answered).toBeLessThanOrEqual(pool?.used ?? 0);
});
