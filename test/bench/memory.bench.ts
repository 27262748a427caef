import { createRandom } from '@brand-data/testing/random';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { askFor, KINDS } from './catalogue/identifiers.ts';
import { bytes } from './catalogue/table.ts';
import { createTokens } from './harness/account-tokens.ts';
import { spreadOf } from './harness/in-turns.ts';
import { importMadeUp } from './harness/made-up-catalogue.ts';
import { numberFrom } from './harness/number-from.ts';
import { noteResult } from './harness/results.ts';
import { metricAt } from './harness/servers.ts';
import { runLoad } from './load.ts';

const RECORDS = numberFrom('BENCH_RECORDS', 100_000);
const ACCOUNTS = numberFrom('BENCH_ACCOUNTS', 10_000);
const CALLS = numberFrom('BENCH_CALLS', 1_000_000);
/** Small enough that the calls fill the cache soon. */
const CACHE_BYTES = 64 * 1024 ** 2;
/** What a gateway may need: its cache with what V8 keeps around it, and the rest of the process. */
const ALLOWED_OF_GATEWAY = 1.3 * CACHE_BYTES + 110e6;
const ALLOWED_OF_CATALOG = 200e6;
/** Drawn in advance. Later calls repeat them. */
const IDENTIFIERS = 500_000;
const CONNECTIONS = 64;
const SAMPLES = 40;
const HOUR_MS = 3_600_000;

let stack: TestStack;
let operator: TestOperator;
const lines: string[] = [];

beforeAll(async () => {
  stack = await startTestStack({
    gateways: 1,
    environment: { RECORD_CACHE_BYTES: String(CACHE_BYTES), LOG_LEVEL: 'warn' },
  });
  operator = new TestOperator(stack);
  await importMadeUp(stack, RECORDS);
  // The import needs more memory than the look-ups.
  await stack.restart('catalog');
}, HOUR_MS);

afterAll(async () => {
  operator?.close();
  await stack?.stop();
  console.log(lines.join('\n'));
});

const metric = (service: string, name: string, label?: string) =>
  metricAt(stack.opsUrls.get(service) ?? '', name, label);
const memoryOf = (service: string) => metric(service, 'process_resident_memory_bytes');

/** Returns the slope of the line through the points (least squares). */
function slopeOf(points: readonly { x: number; y: number }[]): number {
  const mean = (of: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  return mean(({ x, y }) => (x - meanX) * (y - meanY)) / mean(({ x }) => (x - meanX) ** 2);
}

test(
  `the memory of a gateway and of catalog after ${CALLS.toLocaleString('en')} calls of ${ACCOUNTS.toLocaleString('en')} accounts`,
  async () => {
    const tokens = await createTokens(operator, ACCOUNTS);
    const random = createRandom(7);
    const identifiers = Array.from({ length: IDENTIFIERS }, () =>
      encodeURIComponent(askFor(random.pick(KINDS), RECORDS, random).identifier),
    );
    let asked = 0;
    // The numbers of identifiers and accounts have common factors, so the account is drawn.
    const paths = () =>
      `/v1/brands/${identifiers[asked++ % IDENTIFIERS]}?token=${tokens[random.whole(0, ACCOUNTS - 1)]}`;
    const atStart = { gateway: await memoryOf('gateway-1'), catalog: await memoryOf('catalog') };
    const samples: { calls: number; gateway: number; catalog: number }[] = [];
    const byStatus = new Map<number, number>();
    const began = performance.now();
    for (let sample = 1; sample <= SAMPLES; sample++) {
      const calls = Math.ceil(CALLS / SAMPLES);
      const result = await runLoad(stack.gateways[0]?.url ?? '', {
        paths,
        connections: CONNECTIONS,
        forMs: HOUR_MS,
        calls,
      });
      for (const [status, count] of result.byStatus)
        byStatus.set(status, (byStatus.get(status) ?? 0) + count);
      samples.push({
        calls: sample * calls,
        gateway: await memoryOf('gateway-1'),
        catalog: await memoryOf('catalog'),
      });
    }
    const rate = CALLS / ((performance.now() - began) / 1_000);
    // A name with another legal form may mean no company.
    expect([...byStatus.keys()].filter((status) => status !== 404)).toEqual([200]);

    const cached = await metric('gateway-1', 'gateway_cache_size_bytes', 'cache="records"');
    const lastHalf = samples.slice(SAMPLES / 2);
    for (const { service, process, allowed } of [
      { service: 'gateway', process: 'gateway-1', allowed: ALLOWED_OF_GATEWAY },
      { service: 'catalog', process: 'catalog', allowed: ALLOWED_OF_CATALOG },
    ] as const) {
      const peak = Math.max(...samples.map((sample) => sample[service]));
      const slope = slopeOf(lastHalf.map((sample) => ({ x: sample.calls / 1e6, y: sample[service] / 1e6 })));
      noteResult(`memory, ${service}`, spreadOf([allowed / peak]), {
        goal: 1,
        baseline: `${bytes(allowed)} of memory`,
      });
      const atEnd = {
        used: await metric(process, 'nodejs_heap_size_used_bytes'),
        heap: await metric(process, 'nodejs_heap_size_total_bytes'),
        external: await metric(process, 'nodejs_external_memory_bytes'),
      };
      lines.push(
        `${service}: ${bytes(atStart[service])} at the start, at most ${bytes(peak)} in use of ${bytes(allowed)}, ` +
          `ratio ${(allowed / peak).toFixed(2)}; in the last half ${slope.toFixed(1)} MB more for each million calls; ` +
          `at the end V8's heap has ${bytes(atEnd.heap)}, of which ${bytes(atEnd.used)} are in use, and ${bytes(atEnd.external)} are outside it`,
      );
    }
    lines.push(
      `${CALLS.toLocaleString('en')} calls of ${ACCOUNTS.toLocaleString('en')} accounts for ${RECORDS.toLocaleString('en')} companies ` +
        `at ${Math.round(rate)}/s, answers ${[...byStatus].map(([status, count]) => `${status}: ${count}`).join(', ')}; ` +
        `cached records ${bytes(cached)} of ${bytes(CACHE_BYTES)}`,
    );
  },
  HOUR_MS,
);
