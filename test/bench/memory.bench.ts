import { createRandom } from '@brand-data/testing/random';
import { slopeOf } from '@brand-data/testing/slope';
import { expect, test } from 'vitest';
import { spreadOf } from './harness/in-turns.ts';
import { noteResult, whole } from './harness/results.ts';
import { numberFrom, useBench } from './harness/servers.ts';
import { runLoad } from './load.ts';
import { askFor, importMadeUp, KINDS } from './made-up-companies.ts';

const RECORDS = numberFrom('BENCH_RECORDS', 100_000);
const ACCOUNTS = numberFrom('BENCH_ACCOUNTS', 10_000);
const CALLS = numberFrom('BENCH_CALLS', 1_000_000);
/** Small enough that the calls fill the cache soon. */
const CACHE_BYTES = 64 * 1024 ** 2;
/** Drawn in advance. Later calls repeat them. */
const IDENTIFIERS = 500_000;
const CONNECTIONS = 64;
const SAMPLES = 40;
const HOUR_MS = 3_600_000;

/** The memory that each process may need. That of a gateway is its cache with what V8 keeps around it, and the rest of the process. */
const MEASURED = [
  { name: 'gateway', process: 'gateway-1', allowed: 1.3 * CACHE_BYTES + 110e6 },
  { name: 'catalog', process: 'catalog', allowed: 200e6 },
].map((each) => ({ ...each, samples: [] as { x: number; y: number }[] }));

const environment = { RECORD_CACHE_BYTES: String(CACHE_BYTES), LOG_LEVEL: 'warn' };
const bench = useBench({ environment }, async ({ stack }) => {
  await importMadeUp(stack, RECORDS);
  // The import needs more memory than the look-ups.
  await stack.restart('catalog');
});

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

/** Samples the memory of each process after this many calls. */
async function sample(calls: number): Promise<void> {
  for (const { process, samples } of MEASURED) {
    const bytes = await bench.stack.metric(process, 'process_resident_memory_bytes');
    samples.push({ x: calls / 1e6, y: bytes });
  }
}

test(
  `the memory of a gateway and of catalog after ${whole(CALLS)} calls of ${whole(ACCOUNTS)} accounts`,
  async () => {
    const { gateway, lines } = bench;
    const tokens = await bench.createTokens(ACCOUNTS);
    const random = createRandom(7);
    const identifiers = Array.from({ length: IDENTIFIERS }, () =>
      encodeURIComponent(askFor(random.pick(KINDS), RECORDS, random).identifier),
    );
    let asked = 0;
    // The numbers of identifiers and accounts have common factors, so the account is drawn.
    const paths = () =>
      `/v1/brands/${identifiers[asked++ % IDENTIFIERS]}?token=${tokens[random.whole(0, ACCOUNTS - 1)]}`;
    const calls = Math.ceil(CALLS / SAMPLES);
    await sample(0);
    const began = performance.now();
    for (let number = 1; number <= SAMPLES; number++) {
      const load = { paths, connections: CONNECTIONS, forMs: HOUR_MS, calls };
      const { byStatus } = await runLoad(gateway.target, load);
      expect([...byStatus.keys()]).toEqual([200]);
      await sample(number * calls);
    }
    const rate = CALLS / ((performance.now() - began) / 1_000);

    for (const { name, process, allowed, samples } of MEASURED) {
      const [{ y: atStart } = { y: 0 }, ...later] = samples;
      const peak = Math.max(...later.map(({ y }) => y));
      const growth = megabytes(slopeOf(later.slice(SAMPLES / 2)));
      const goal = { goal: 1, baseline: `${megabytes(allowed)} of memory` };
      noteResult(`memory, ${name}`, spreadOf([allowed / peak]), goal);
      const used = await bench.stack.metric(process, 'nodejs_heap_size_used_bytes');
      const heap = await bench.stack.metric(process, 'nodejs_heap_size_total_bytes');
      const external = await bench.stack.metric(process, 'nodejs_external_memory_bytes');
      lines.push(
        `${name}: ${megabytes(atStart)} at the start, at most ${megabytes(peak)} in use of ${megabytes(allowed)}, ` +
          `ratio ${(allowed / peak).toFixed(2)}; in the last half ${growth} more for each million calls; ` +
          `at the end V8's heap has ${megabytes(heap)}, of which ${megabytes(used)} are in use, and ${megabytes(external)} are outside it`,
      );
    }
    const cached = await bench.stack.metric('gateway-1', 'gateway_cache_size_bytes', { cache: 'records' });
    lines.push(
      `${whole(CALLS)} calls of ${whole(ACCOUNTS)} accounts for ${whole(RECORDS)} companies at ${whole(rate)}/s; ` +
        `cached records ${megabytes(cached)} of ${megabytes(CACHE_BYTES)}`,
    );
  },
  HOUR_MS,
);
