import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { type Operator, operatorOf } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { type LoadResult, runLoad } from './load.ts';

const WARM_UP_MS = 3_000;
const MEASURE_MS = 10_000;
const CONNECTIONS = 512;

let stack: TestStack;
let operator: Operator;
const lines: string[] = [];

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  operator = operatorOf(stack);
  await operator.putBrands([fullStock]);
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
  console.log(lines.join('\n'));
});

const warmUp = (target: string, paths: string[]) =>
  runLoad(target, { paths, connections: CONNECTIONS, forMs: WARM_UP_MS });
const measure = (target: string, paths: string[]) =>
  runLoad(target, { paths, connections: CONNECTIONS, forMs: MEASURE_MS });

async function bareFastify(): Promise<LoadResult> {
  const child = spawn(process.execPath, [new URL('./bare-fastify.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await once(child.stdout, 'data');
  try {
    const target = String(url).trim();
    await warmUp(target, ['/v1/brands/ZPHX?token=x']);
    return await measure(target, ['/v1/brands/ZPHX?token=x']);
  } finally {
    child.kill();
  }
}

/** The sum of a metric's samples. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${stack.gateways[0]?.opsUrl}/metrics`)).text();
  const samples = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([0-9.e+]+)$`, 'gm'));
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
}

const shown = ({ callsPerSecond, p50, p99 }: LoadResult) =>
  `${Math.round(callsPerSecond).toLocaleString('en')} calls/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

test.each([
  ['one hot account', 1],
  ['1,000 accounts', 1_000],
])(
  'a cached answer to %s, compared with bare Fastify',
  async (name, accounts) => {
    const tokens: string[] = [];
    await operator.setPlan('bench', [
      { name: 'calls', allowance: 100_000_000, routes: ['ROUTE_BRANDS', 'ROUTE_LOGOS'] },
    ]);
    for (let account = 0; account < accounts; account++) {
      tokens.push((await operator.createKey(await operator.createAccount('bench'))).token);
    }
    const base = await bareFastify();
    const paths = tokens.map((token) => `/v1/brands/ZPHX?token=${token}`);
    const target = stack.gateways[0]?.url ?? '';
    await warmUp(target, paths);
    const [acquires, batches] = [
      await metric('gateway_quota_acquires_total'),
      await metric('gateway_usage_batch_calls_count'),
    ];
    const answered = await metric('gateway_http_requests_total');
    const cpuSeconds = await metric('process_cpu_seconds_total');
    const result = await measure(target, paths);
    const cpuMicros = ((await metric('process_cpu_seconds_total')) - cpuSeconds) * 1_000_000;
    const calls = (await metric('gateway_http_requests_total')) - answered;
    const perCall = (before: number, after: number) => ((after - before) / calls).toFixed(4);
    lines.push(
      `${name}: ${shown(result)}, ${(cpuMicros / result.calls).toFixed(1)} µs of CPU a call`,
      `  bare Fastify in the same run: ${shown(base)}; ratio ${(result.callsPerSecond / base.callsPerSecond).toFixed(2)}`,
      `  Acquires a call ${perCall(acquires, await metric('gateway_quota_acquires_total'))}, ` +
        `publishes a call ${perCall(batches, await metric('gateway_usage_batch_calls_count'))}`,
    );
    expect([...result.byStatus.keys()]).toEqual([200]);
  },
  120_000,
);
