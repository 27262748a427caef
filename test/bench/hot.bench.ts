import { afterAll, beforeAll, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { createTokens } from './harness/account-tokens.ts';
import { compareInTurns, compareLatencies } from './harness/in-turns.ts';
import { linesOf, noteResult, shown } from './harness/results.ts';
import {
  cpuMicrosAt,
  metricAt,
  pinLoad,
  pinServer,
  type Server,
  startSameAnswer,
} from './harness/servers.ts';
import { runLoad } from './load.ts';

/** The least share of bare Fastify's calls for the same processor time. */
const GOAL = 0.95;
/** By how much the 99th percentile may be above bare Fastify's. */
const P99_ABOVE_MS = 3;
const BARE = 'bare Fastify with the same answer';

/**
 * V8 compiles the gateway's code for about ten seconds of calls, in threads whose time belongs to the process. Short rounds keep a
 * pause of the machine from spoiling much.
 */
const STEADY = { warmUpMs: 10_000, rounds: 9, roundMs: 1_000 };

let stack: TestStack;
let operator: TestOperator;
let gateway: Server;
let opsUrl: string;
const lines: string[] = [];

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  opsUrl = stack.opsUrls.get('gateway-1') ?? '';
  gateway = { target: stack.gateways[0]?.url ?? '', cpuMicros: () => cpuMicrosAt(opsUrl) };
  pinServer(stack.pid('gateway-1'));
  pinLoad();
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
  console.log(lines.join('\n'));
});

test('the latency at half of the highest load, compared with bare Fastify', async () => {
  const paths = (await createTokens(operator, 1)).map((token) => `/v1/brands/ZPHX?token=${token}`);
  const bare = await startSameAnswer(`${gateway.target}${paths[0]}`);
  try {
    const highest = await runLoad(gateway.target, { paths, connections: 256, forMs: 5_000 });
    const callsPerSecond = highest.callsPerSecond / 2;
    const p99 = await compareLatencies(gateway, bare, { paths, connections: 64, callsPerSecond });
    // In some rounds the gateway's may be the lower one.
    const allowed = (differenceMs: number) => P99_ABOVE_MS / Math.max(differenceMs, 0.01);
    noteResult(
      'hot, p99 at half load',
      {
        median: allowed(p99.difference.median),
        lowest: allowed(p99.difference.highest),
        highest: allowed(p99.difference.lowest),
      },
      { goal: 1, baseline: `${P99_ABOVE_MS} ms above bare Fastify's` },
    );
    lines.push(
      `p99 at ${Math.round(callsPerSecond)} calls/s, ms: gateway ${shown(2, p99.subject)}, ${BARE} ${shown(2, p99.baseline)}, ` +
        `difference ${shown(2, p99.difference)}`,
    );
  } finally {
    bare.stop();
  }
}, 180_000);

test.each([
  { name: 'one account', accounts: 1, connections: 64 },
  { name: '1,000 accounts', accounts: 1_000, connections: 256 },
  { name: 'one account', accounts: 1, connections: 256 },
])(
  'a cached answer to $name over $connections connections, compared with bare Fastify',
  async ({ name, accounts, connections }) => {
    const tokens = await createTokens(operator, accounts);
    const paths = tokens.map((token) => `/v1/brands/ZPHX?token=${token}`);
    const bare = await startSameAnswer(`${gateway.target}${paths[0]}`);
    const counted = async () => ({
      calls: await metricAt(opsUrl, 'gateway_http_requests_total'),
      acquires: await metricAt(opsUrl, 'gateway_quota_acquires_total'),
      publishes: await metricAt(opsUrl, 'gateway_usage_batch_calls_count'),
    });
    try {
      const before = await counted();
      const comparison = await compareInTurns(gateway, bare, { paths, connections, ...STEADY });
      const after = await counted();
      const calls = after.calls - before.calls;
      const what = `hot, ${name}, ${connections} connections`;
      noteResult(`${what}, processor time`, comparison.ratioOfProcessorTime, { goal: GOAL, baseline: BARE });
      noteResult(`${what}, calls a second`, comparison.ratioOfCalls, { goal: GOAL, baseline: BARE });
      const perCall = (figure: 'acquires' | 'publishes') =>
        ((after[figure] - before[figure]) / calls).toFixed(4);
      lines.push(
        `Acquires a call ${perCall('acquires')}, publishes a call ${perCall('publishes')}`,
        ...linesOf(what, BARE, comparison),
      );
    } finally {
      bare.stop();
    }
  },
  180_000,
);
