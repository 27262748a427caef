import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callOver } from '../bench/load.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const CALLS = 4_000;
const CONNECTIONS = 64;

let stack: TestStack;
let counts: string;
let path: string;

beforeAll(async () => {
  counts = await temporaryFolder();
  const counting = `--import=${fileURLToPath(new URL('./count-work.mjs', import.meta.url))}`;
  const environment = {
    COUNTS_FOLDER: counts,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${counting}`,
  };
  stack = await startTestStack({ gateways: 1, environment });
  const operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  const { token } = await operator.newAccount(10_000_000);
  operator.close();
  path = `/v1/brands/ZPHX?token=${token}`;
  // The gateway gets to know the token, fetches the record and compresses it, and has permits for the calls to come.
  await makeCalls(CALLS);
});

afterAll(async () => {
  await stack?.stop();
  await rm(counts, { recursive: true, force: true });
});

async function makeCalls(calls: number): Promise<void> {
  let sent = 0;
  const statuses = new Set<number>();
  const connection = () =>
    callOver(stack.gateways[0]?.url ?? '', {
      next: () => (sent++ < calls ? path : undefined),
      answered: (status) => statuses.add(status),
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  expect([...statuses]).toEqual([200]);
}

async function countsOfGateway(): Promise<Record<string, number>> {
  const pid = stack.pid('gateway-1') ?? 0;
  const file = join(counts, `${pid}.json`);
  await rm(file, { force: true });
  process.kill(pid, 'SIGWINCH');
  return expect
    .poll(() => readFile(file, 'utf8').then(JSON.parse, () => undefined), { timeout: 30_000 })
    .toBeDefined()
    .then(() => readFile(file, 'utf8').then(JSON.parse));
}

const publishes = () => stack.metric('gateway-1', 'gateway_usage_batch_calls_count');

test('a call that the gateway can answer from its caches costs one write, one digest and a share of a publish, and no other work of note', async () => {
  const [before, publishedBefore, beganMs] = [await countsOfGateway(), await publishes(), performance.now()];
  await makeCalls(CALLS);
  const [after, published] = [await countsOfGateway(), (await publishes()) - publishedBefore];
  const seconds = (performance.now() - beganMs) / 1_000;
  const did = Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
  // For the gateway's own sweeps, probes and connections.
  const aside = 50 + 100 * seconds;

  // A publish is a write to the socket and one to the TLS layer above it.
  expect(did.writes).toBeGreaterThanOrEqual(CALLS);
  expect(did.writes).toBeLessThan(CALLS + 4 * published + aside);
  expect(did['heads made by Node']).toBeLessThan(aside);
  expect(did['headers set one by one']).toBeLessThan(aside);
  expect(did['writes before the end']).toBeLessThan(aside);
  expect(did.compressions).toBe(0);
  // An answer is put together in one buffer, which serves the next answer too.
  expect(did.buffers).toBeLessThan(2 * published + aside);
  expect(did['buffers made into text']).toBeLessThan(2 * published + aside);
  expect(did.RPCs).toBeLessThan(20);
  expect(did['encodings of JSON']).toBeLessThan(aside);
  expect(did.digests).toBeLessThan(CALLS + aside);
  expect(did.promises).toBeLessThan(5 * CALLS + 60 * published + 10 * aside);
  // Calls of some milliseconds share a publish, which has a signature, an answer in JSON and three timers. On a busy machine these are few.
  expect(published).toBeLessThan(CALLS / 2);
  expect(did.signatures).toBeLessThan(published + aside);
  expect(did['decodings of JSON']).toBeLessThan(published + aside);
  expect(did.timers).toBeLessThan(3 * published + aside);
});
