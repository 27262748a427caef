import { afterAll, beforeAll, expect, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { type Operator, operatorOf } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { createTokens } from './harness/account-tokens.ts';
import { metricAt } from './harness/servers.ts';
import { callOver } from './load.ts';

const ACCOUNTS = 1_000;
const CONNECTIONS = 512;
const MEASURE_MS = 8_000;

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

const metric = (service: string, name: string, label?: string) =>
  metricAt(stack.opsUrls.get(service) ?? '', name, label);

const SERVICES = ['gateway-1', 'accounts', 'metering'];
const cpuSeconds = () => Promise.all(SERVICES.map((name) => metric(name, 'process_cpu_seconds_total')));

test('calls of 1,000 accounts at once to a gateway that knows none of them', async () => {
  const tokens = await createTokens(operator, ACCOUNTS);
  for (const ledgers of ['new ledgers', 'ledgers in use']) {
    await stack.restart('gateway-1');
    const target = stack.gateways[0]?.url ?? '';
    const before = await cpuSeconds();
    const received = () => metric('metering', 'grpc_server_handled_total', '"Acquire"');
    const receivedBefore = await received();
    const byStatus = new Map<number, number>();
    const ofSecond: number[] = [];
    const answered = new Set<number>();
    let allAnsweredMs = Number.NaN;
    let slowestFirst = 0;
    let sent = 0;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: CONNECTIONS }, () => {
        let account = 0;
        return callOver(target, {
          next: () => {
            if (performance.now() >= began + MEASURE_MS) return undefined;
            account = sent++ % ACCOUNTS;
            return `/v1/brands/ZPHX?token=${tokens[account]}`;
          },
          answered: (status, tookMs) => {
            byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
            const atMs = performance.now() - began;
            const second = Math.floor(atMs / 1_000);
            ofSecond[second] = (ofSecond[second] ?? 0) + 1;
            if (status !== 200 || answered.has(account)) return;
            answered.add(account);
            slowestFirst = Math.max(slowestFirst, tookMs);
            if (answered.size === ACCOUNTS) allAnsweredMs = atMs;
          },
        });
      }),
    );
    const after = await cpuSeconds();
    const cpu = SERVICES.map(
      (name, index) => `${name} ${((after[index] ?? 0) - (before[index] ?? 0)).toFixed(1)}`,
    );
    lines.push(
      `${ledgers}: every account had an answer after ${Math.round(allAnsweredMs)} ms, the slowest first one took ${Math.round(slowestFirst)} ms`,
      `  answers ${[...byStatus].map(([status, count]) => `${status}: ${count}`).join(', ')}; in each second ${ofSecond.join(' ')}`,
      `  Acquires ${await metric('gateway-1', 'gateway_quota_acquires_total')}, of which without an answer ${await metric('gateway-1', 'gateway_quota_acquires_total', '"unavailable"')}, received by metering ${(await received()) - receivedBefore}`,
      `  seconds of processor time: ${cpu.join(', ')}`,
    );
    expect(answered.size).toBe(ACCOUNTS);
  }
}, 240_000);
