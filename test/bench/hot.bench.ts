import { test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { compareInTurns } from './harness/in-turns.ts';
import { linesOf, noteResult, shown } from './harness/results.ts';
import { startSameAnswer, useBench } from './harness/servers.ts';
import { runLoad } from './load.ts';

const BARE = 'bare Fastify with the same answer';
/** The least share of bare Fastify's calls for the same processor time. */
const GOAL = { goal: 0.95, baseline: BARE };
/** By how much the 99th percentile may be above bare Fastify's. */
const P99_ABOVE_MS = 3;

/**
 * V8 compiles the gateway's code for about ten seconds of calls, in threads whose time belongs to the process. Short rounds keep a
 * pause of the machine from spoiling much.
 */
const STEADY = { warmUpMs: 10_000, rounds: 9, roundMs: 1_000 };

const bench = useBench({}, async (begun) => {
  await begun.operator.putBrands([fullStock]);
  begun.pin();
});
const { lines } = bench;

async function pathsOf(accounts: number): Promise<string[]> {
  return (await bench.createTokens(accounts)).map((token) => `/v1/brands/ZPHX?token=${token}`);
}

test('the latency at half of the highest load, compared with bare Fastify', async () => {
  const { gateway } = bench;
  const paths = await pathsOf(1);
  using bare = await startSameAnswer(`${gateway.target}${paths[0]}`);
  const highest = await runLoad(gateway.target, { paths, connections: 256, forMs: 5_000 });
  const callsPerSecond = highest.callsPerSecond / 2;
  const load = { paths, connections: 64, callsPerSecond };
  // A pause of the machine spoils the 99th percentile of the round that it falls into.
  const comparison = await compareInTurns(gateway, bare, { ...load, rounds: 15, roundMs: 1_000 });
  const { subject, baseline, differenceOfP99: difference } = comparison;
  // In some rounds the gateway's may be the lower one.
  const allowed = (differenceMs: number) => P99_ABOVE_MS / Math.max(differenceMs, 0.01);
  const spread = {
    median: allowed(difference.median),
    lowest: allowed(difference.highest),
    highest: allowed(difference.lowest),
  };
  noteResult('hot, p99 at half load', spread, {
    goal: 1,
    baseline: `${P99_ABOVE_MS} ms above bare Fastify's`,
  });
  lines.push(
    `p99 at ${Math.round(callsPerSecond)} calls/s, ms: gateway ${shown(2, subject.p99)}, ${BARE} ${shown(2, baseline.p99)}, ` +
      `difference ${shown(2, difference)}`,
  );
}, 180_000);

test.each([
  { name: 'one account', accounts: 1, connections: 64 },
  { name: '1,000 accounts', accounts: 1_000, connections: 256 },
  { name: 'one account', accounts: 1, connections: 256 },
])(
  'a cached answer to $name over $connections connections, compared with bare Fastify',
  async ({ name, accounts, connections }) => {
    const { gateway } = bench;
    const paths = await pathsOf(accounts);
    using bare = await startSameAnswer(`${gateway.target}${paths[0]}`);
    const counted = async () => ({
      calls: await bench.stack.metric('gateway-1', 'gateway_http_requests_total'),
      acquires: await bench.stack.metric('gateway-1', 'gateway_quota_acquires_total'),
      publishes: await bench.stack.metric('gateway-1', 'gateway_usage_batch_calls_count'),
    });
    const before = await counted();
    const comparison = await compareInTurns(gateway, bare, { paths, connections, ...STEADY });
    const after = await counted();
    const what = `hot, ${name}, ${connections} connections`;
    noteResult(`${what}, processor time`, comparison.ratioOfProcessorTime, GOAL);
    noteResult(`${what}, calls a second`, comparison.ratioOfCalls, GOAL);
    const perCall = (figure: 'acquires' | 'publishes') =>
      ((after[figure] - before[figure]) / (after.calls - before.calls)).toFixed(4);
    lines.push(
      `Acquires a call ${perCall('acquires')}, publishes a call ${perCall('publishes')}`,
      ...linesOf(what, BARE, comparison),
    );
  },
  180_000,
);
