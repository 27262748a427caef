import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '@brand-data/testing/random';
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { whole } from './harness/results.ts';
import { numberFrom, useBench } from './harness/servers.ts';
import { percentilesOf } from './load.ts';
import { askFor, companyAt, importMadeUp, KINDS, writeMadeUp } from './made-up-companies.ts';

const RECORDS = numberFrom('BENCH_RECORDS', 100_000);
/** The companies that callers ask for, each by any kind of identifier. */
const ASKED = 3_000;
const IDENTIFIERS = 5_000;
/** One of this many calls asks for a company that is in no catalogue. */
const MISS_EVERY = 20;
const CALLS_PER_SECOND = numberFrom('BENCH_RATE', 1_000);
const CONNECTIONS = 32;
/** Longer than a record stays in the cache without a look-up, so that records are renewed by age before the import too. */
const WARM_UP_MS = 75_000;
const BEFORE_MS = 30_000;
const BOUND_MS = 5_000;
/** Records whose change is timed, and how often each of them is asked for. */
const PROBED = 50;
const PROBE_EVERY_MS = 200;
const MARK = 'Second edition.';
const HOUR_MS = 3_600_000;

const bench = useBench();
const metric = (name: string, labels?: Record<string, string>) =>
  bench.stack.metric('gateway-1', name, labels);

/** Makes calls at a steady rate, however long the answers take. */
function startLoad(paths: readonly string[]) {
  const { target } = bench.gateway;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const random = createRandom(3);
  let latencies: number[] = [];
  let byStatus: Record<string, number> = {};
  const count = (status: number | string = '') => {
    byStatus[status] = (byStatus[status] ?? 0) + 1;
  };
  const call = () => {
    const began = performance.now();
    get(`${target}${paths[random.whole(0, paths.length - 1)]}`, { agent }, (response) => {
      response.resume().once('end', () => {
        latencies.push(performance.now() - began);
        count(response.statusCode);
      });
    }).once('error', () => count('failed'));
  };
  const loadBegan = performance.now();
  let made = 0;
  const calling = setInterval(() => {
    const due = ((performance.now() - loadBegan) / 1_000) * CALLS_PER_SECOND;
    for (; made < due; made++) call();
  }, 5);
  const counted = async () => ({
    hits: await metric('gateway_cache_requests_total', { cache: 'records', result: 'hit' }),
    lookUps: await metric('gateway_cache_requests_total', { cache: 'records', result: 'miss' }),
    answers: await metric('gateway_http_requests_total'),
    cpuMicros: await bench.gateway.cpuMicros(),
    expiries: await metric('gateway_record_full_expiries_total'),
  });
  return {
    /** Measures while the work runs, and adds the figures to the output. */
    async measure(name: string, work: () => Promise<unknown>) {
      latencies = [];
      byStatus = {};
      const began = performance.now();
      const before = await counted();
      await work();
      const after = await counted();
      const seconds = (performance.now() - began) / 1_000;
      const per = (figure: keyof typeof after, divisor: number) => (after[figure] - before[figure]) / divisor;
      const answers = after.answers - before.answers;
      const callsPerSecond = latencies.length / seconds;
      const hitRate = per('hits', answers);
      const { p50, p99 } = percentilesOf(latencies);
      bench.lines.push(
        `${name}, ${seconds.toFixed(0)} s: ${callsPerSecond.toFixed(0)} calls/s, ${(100 * hitRate).toFixed(2)} % of them from the cache, ` +
          `${per('lookUps', seconds).toFixed(0)} look-ups/s, ${per('cpuMicros', answers).toFixed(0)} µs of the gateway's processor time a call, ` +
          `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, answers by status ${JSON.stringify(byStatus)}, ` +
          `all records expired ${per('expiries', 1)} times`,
      );
      return { callsPerSecond, hitRate };
    },
    stop() {
      clearInterval(calling);
      agent.destroy();
    },
  };
}

/** Times how long after its write each probed record is last answered as it was. */
async function probe(mongo: MongoClient, token: string) {
  const random = createRandom(11);
  const probed = new Map(
    Array.from({ length: PROBED }, () => companyAt(random.whole(0, RECORDS - 1))).map(({ id, domain }) => [
      id,
      { domain, writtenAtMs: 0, lastOldMs: 0, isSeenNew: false },
    ]),
  );
  const changes = mongo
    .db(`${bench.stack.databasePrefix}_catalog`)
    .collection<{ _id: string }>('brands')
    .watch([{ $match: { 'documentKey._id': { $in: [...probed.keys()] } } }]);
  changes.on('change', (change) => {
    const record = 'documentKey' in change && probed.get(change.documentKey._id);
    if (record) record.writtenAtMs = performance.now();
  });
  let isOver = false;
  const asking = [...probed.values()].map(async (record) => {
    while (!isOver) {
      const beganMs = performance.now();
      const response = await fetch(`${bench.gateway.target}/v1/brands/${record.domain}?token=${token}`);
      const { description = '' } = (await response.json()) as { description?: string };
      if (description.endsWith(MARK)) record.isSeenNew = true;
      else record.lastOldMs = beganMs;
      await delay(PROBE_EVERY_MS);
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(asking);
      await changes.close();
      return [...probed.values()];
    },
  };
}

test(
  'an import that changes every record leaves the rate of calls and the hit rate within 5 %, and each changed record is answered anew within 5 s',
  async () => {
    const { stack, lines } = bench;
    await importMadeUp(stack, RECORDS);
    // The load must not wait for the writing of the file, which this process does.
    await using changed = await writeMadeUp(RECORDS, MARK);
    const [token = ''] = await bench.createTokens(1);
    await using mongo = new MongoClient(stack.mongodbUrl);
    const random = createRandom(5);
    const paths = Array.from({ length: IDENTIFIERS }, (_, number) => {
      const hit = number % MISS_EVERY !== 0;
      const { identifier } = askFor(random.pick(KINDS), ASKED, random, { hit });
      return `/v1/brands/${encodeURIComponent(identifier)}?token=${token}`;
    });
    const load = startLoad(paths);
    const probes = await probe(mongo, token);
    await load.measure('warm-up', () => delay(WARM_UP_MS));
    const before = await load.measure('before', () => delay(BEFORE_MS));
    const during = await load.measure(`during the import of ${whole(RECORDS)} changed records`, () =>
      changed.importInto(stack),
    );
    await delay(BOUND_MS);
    const probed = await probes.stop();
    load.stop();
    const longest = Math.max(...probed.map(({ lastOldMs, writtenAtMs }) => lastOldMs - writtenAtMs));
    const ratio = (figure: keyof typeof before) => during[figure] / before[figure];
    lines.push(
      `ratio of calls/s ${ratio('callsPerSecond').toFixed(3)}, of the hit rate ${ratio('hitRate').toFixed(3)}`,
      `the longest time after its change that one of ${probed.length} records was answered as it was: ${whole(longest)} ms`,
    );
    expect(probed.filter(({ writtenAtMs, isSeenNew }) => writtenAtMs === 0 || !isSeenNew)).toEqual([]);
    expect(longest).toBeLessThan(BOUND_MS);
    expect.soft(ratio('callsPerSecond')).toBeGreaterThan(0.95);
    expect.soft(ratio('hitRate')).toBeGreaterThan(0.95);
  },
  HOUR_MS,
);
