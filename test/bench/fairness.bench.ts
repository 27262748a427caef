import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createToken } from '@brand-data/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { type Operator, operatorOf } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { type LoadResult, runLoad } from './load.ts';

const MEASURE_MS = 8_000;
/** Connections of each flood, and of the callers that are measured. */
const FLOOD = 128;
const OTHERS = 8;

let stack: TestStack;
let operator: Operator;
let good: string;
const lines: string[] = [];

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  operator = operatorOf(stack);
  await operator.putBrands([fullStock]);
  good = (await operator.newAccount(100_000_000)).token;
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
  console.log(lines.join('\n'));
});

const target = () => stack.gateways[0]?.url ?? '';
const others = (): Promise<LoadResult> =>
  runLoad(target(), { paths: [`/v1/brands/ZPHX?token=${good}`], connections: OTHERS, forMs: MEASURE_MS });
/** Resolves to the answers a second. */
const flood = async (paths: string[]): Promise<number> => {
  const workerData = { target: target(), paths, connections: FLOOD, forMs: MEASURE_MS };
  const [callsPerSecond] = await once(
    new Worker(new URL('./flood.ts', import.meta.url), { workerData }),
    'message',
  );
  return callsPerSecond;
};
const shown = ({ callsPerSecond, p50, p99 }: LoadResult) =>
  `${Math.round(callsPerSecond)} calls/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

/** Reports the other callers' latency without and with these floods. All calls of the others must be answered. */
async function compare(name: string, floods: string[][]): Promise<void> {
  await others();
  const alone = await others();
  const [together, ...flooding] = await Promise.all([others(), ...floods.map(flood)]);
  const sent = flooding.reduce((sum, callsPerSecond) => sum + callsPerSecond, 0);
  lines.push(
    `${name}: others alone ${shown(alone)}; beside it ${shown(together)}; ` +
      `p99 × ${(together.p99 / alone.p99).toFixed(1)}; the flood got ${Math.round(sent)} answers/s`,
  );
  expect([...together.byStatus.keys()]).toEqual([200]);
}

test('128 connections each on 429, 403, 404 of a route and /v1/usage', { timeout: 120_000 }, async () => {
  const spent = await operator.newAccount(1);
  await operator.setPlan('logos-only', [{ name: 'calls', allowance: 10, routes: ['ROUTE_LOGOS'] }]);
  const free = await operator.createKey(await operator.createAccount('logos-only'));
  await compare('answers that are not counted', [
    [`/v1/brands/ZPHX?token=${spent.token}`],
    [`/v1/brands/ZPHX?token=${free.token}`],
    ['/nowhere'],
    [`/v1/usage?token=${good}`],
  ]);
});

test('128 connections with tokens that are made up', { timeout: 120_000 }, async () => {
  const plain = Array.from({ length: 50_000 }, () => `/v1/brands/ZPHX?token=${createToken()}`);
  await compare('made-up tokens', [plain]);
});

test("128 connections of one account's counted calls", { timeout: 120_000 }, async () => {
  const { token } = await operator.newAccount(100_000_000);
  await compare("one account's flood", [[`/v1/brands/ZPHX?token=${token}`]]);
});

test('a drain of 100,000 calls by one token is held to its rate', { timeout: 120_000 }, async () => {
  const { token } = await operator.newAccount(1_000_000, { rate: { perSecond: 100, burst: 100 } });
  const began = performance.now();
  const paths = [`/v1/brands/ZPHX?token=${token}`];
  const { byStatus } = await runLoad(target(), { paths, connections: FLOOD, forMs: 20_000, calls: 100_000 });
  const seconds = (performance.now() - began) / 1_000;
  const counted = byStatus.get(200) ?? 0;
  lines.push(
    `a drain at 100 calls/s: ${counted} counted in ${seconds.toFixed(1)} s, ${byStatus.get(429)} refused`,
  );
  expect(counted).toBeLessThanOrEqual(1.05 * (100 + 100 * seconds));
});
