import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '@brand-data/testing/random';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { companyAt } from './catalogue/company.ts';
import { askFor, KINDS } from './catalogue/identifiers.ts';
import { writeCatalogue } from './catalogue/record.ts';
import { percentilesOf } from './load.ts';

const RECORDS = 100_000;
/** The companies that callers ask for, each by any kind of identifier. */
const ASKED = 3_000;
const IDENTIFIERS = 5_000;
/** One of this many calls asks for a company that is in no catalogue. */
const MISS_EVERY = 20;
const CALLS_PER_SECOND = Number(process.env.BENCH_RATE ?? 1_000);
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

let stack: TestStack;
let operator: TestOperator;
let folder: string;
let mongo: MongoClient;
const lines: string[] = [];

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  operator = new TestOperator(stack);
  folder = await temporaryFolder();
  mongo = new MongoClient(stack.mongodbUrl);
  await operator.setPlan('bench', [
    { name: 'calls', allowance: 100_000_000, routes: ['ROUTE_BRANDS', 'ROUTE_LOGOS'] },
  ]);
}, HOUR_MS);

afterAll(async () => {
  operator?.close();
  await mongo?.close();
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
  console.log(lines.join('\n'));
});

/** Returns the sum of a metric's samples whose labels contain the text. */
async function metric(name: string, label = ''): Promise<number> {
  const text = await (await fetch(`${stack.gateways[0]?.opsUrl}/metrics`)).text();
  const samples = text.matchAll(new RegExp(`^${name}(\\{.*\\})? ([0-9.e+]+)$`, 'gm'));
  return [...samples].reduce(
    (sum, [, labels = '', value]) => sum + (labels.includes(label) ? Number(value) : 0),
    0,
  );
}

interface Figures {
  seconds: number;
  calls: number;
  callsPerSecond: number;
  /** The share of calls whose answer was in the cache. */
  hitRate: number;
  lookUps: number;
  /** Processor time of the gateway for a call, in microseconds. */
  cpuMicros: number;
  p50: number;
  p99: number;
  byStatus: Map<number | string, number>;
}

/** Makes calls at a steady rate, however long the answers take. */
function startLoad(paths: readonly string[]) {
  const target = stack.gateways[0]?.url ?? '';
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const random = createRandom(3);
  let latencies: number[] = [];
  let byStatus = new Map<number | string, number>();
  const count = (status: number | string) => byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  const call = () => {
    const began = performance.now();
    const path = paths[random.whole(0, paths.length - 1)];
    get(`${target}${path}`, { agent }, (response) => {
      response.resume().once('end', () => {
        latencies.push(performance.now() - began);
        count(response.statusCode ?? 0);
      });
    }).once('error', () => count('failed'));
  };
  const loadBegan = performance.now();
  let made = 0;
  const calling = setInterval(() => {
    const due = ((performance.now() - loadBegan) / 1_000) * CALLS_PER_SECOND;
    for (; made < due; made++) call();
  }, 5);
  return {
    /** Measures while the work runs. */
    async measure(work: () => Promise<unknown>): Promise<Figures> {
      latencies = [];
      byStatus = new Map();
      const began = performance.now();
      const read = async () => ({
        hits: await metric('gateway_cache_requests_total', 'cache="records",result="hit"'),
        lookUps: await metric('gateway_cache_requests_total', 'cache="records",result="miss"'),
        answers: await metric('gateway_http_requests_total'),
        cpuSeconds: await metric('process_cpu_seconds_total'),
      });
      const before = await read();
      await work();
      const after = await read();
      const seconds = (performance.now() - began) / 1_000;
      const answers = after.answers - before.answers;
      return {
        seconds,
        calls: latencies.length,
        callsPerSecond: latencies.length / seconds,
        byStatus,
        hitRate: (after.hits - before.hits) / answers,
        lookUps: after.lookUps - before.lookUps,
        cpuMicros: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / answers,
        ...percentilesOf(latencies),
      };
    },
    stop() {
      clearInterval(calling);
      agent.destroy();
    },
  };
}

/** Writes the same records with another description each, so that the import changes every record. */
async function writeChanged(from: string, to: string): Promise<void> {
  const out = createWriteStream(to);
  for await (const line of createInterface({ input: createReadStream(from) })) {
    const record = JSON.parse(line) as { description: string };
    const changed = { ...record, description: `${record.description} ${MARK}` };
    if (!out.write(`${JSON.stringify(changed)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}

/** Times how long after its write each probed record is last answered as it was. */
async function probe(token: string) {
  const random = createRandom(11);
  const companies = Array.from({ length: PROBED }, () => companyAt(random.whole(0, RECORDS - 1)));
  const writtenAtMs = new Map<string, number>();
  const lastOldMs = new Map<string, number>();
  const seenNew = new Set<string>();
  const changes = mongo
    .db(`${stack.databasePrefix}_catalog`)
    .collection<{ _id: string }>('brands')
    .watch([{ $match: { 'documentKey._id': { $in: companies.map(({ id }) => id) } } }]);
  changes.on('change', (change) => {
    if ('documentKey' in change) writtenAtMs.set(change.documentKey._id, performance.now());
  });
  let isOver = false;
  const ask = async (id: string, domain: string) => {
    while (!isOver) {
      const beganMs = performance.now();
      const response = await fetch(`${stack.gateways[0]?.url}/v1/brands/${domain}?token=${token}`);
      const { description = '' } = (await response.json()) as { description?: string };
      if (description.endsWith(MARK)) seenNew.add(id);
      else lastOldMs.set(id, beganMs);
      await delay(PROBE_EVERY_MS);
    }
  };
  const asking = companies.map(({ id, domain }) => ask(id, domain));
  return {
    async stop() {
      isOver = true;
      await Promise.all(asking);
      await changes.close();
      const late = companies.map(({ id }) => (lastOldMs.get(id) ?? 0) - (writtenAtMs.get(id) ?? 0));
      return {
        seen: seenNew.size,
        written: writtenAtMs.size,
        different: new Set(companies.map(({ id }) => id)).size,
        late,
      };
    },
  };
}

const shown = (name: string, { callsPerSecond, hitRate, lookUps, cpuMicros, p50, p99, seconds }: Figures) =>
  `${name}, ${seconds.toFixed(0)} s: ${callsPerSecond.toFixed(0)} calls/s, ${(100 * hitRate).toFixed(2)} % of them from the cache, ` +
  `${(lookUps / seconds).toFixed(0)} look-ups/s, ${cpuMicros.toFixed(0)} µs of the gateway's processor time a call, ` +
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

test(
  'an import that changes every record leaves the rate of calls and the hit rate within 5 %, and each changed record is answered anew within 5 s',
  async () => {
    const [first, second] = [join(folder, 'first.ndjson'), join(folder, 'second.ndjson')];
    await writeCatalogue(first, RECORDS);
    await writeChanged(first, second);
    await stack.bds('import', 'records', first, '--source', 'made-up');

    const { token } = await operator.createKey(await operator.createAccount('bench'));
    const random = createRandom(5);
    const paths = Array.from({ length: IDENTIFIERS }, (_, number) => {
      const { identifier } =
        number % MISS_EVERY === 0
          ? { identifier: `no such company ${number}` }
          : askFor(random.pick(KINDS), ASKED, random);
      return `/v1/brands/${encodeURIComponent(identifier)}?token=${token}`;
    });
    const load = startLoad(paths);
    const probes = await probe(token);
    await load.measure(() => delay(WARM_UP_MS));
    const before = await load.measure(() => delay(BEFORE_MS));
    const expiries = await metric('gateway_record_full_expiries_total');
    const during = await load.measure(() => stack.bds('import', 'records', second, '--source', 'made-up'));
    const fullExpiries = (await metric('gateway_record_full_expiries_total')) - expiries;
    await delay(BOUND_MS);
    const { seen, written, different, late } = await probes.stop();
    load.stop();
    const longest = Math.max(...late);
    lines.push(
      shown('before', before),
      shown(`during the import of ${RECORDS.toLocaleString('en')} changed records`, during),
      `ratio of calls/s ${(during.callsPerSecond / before.callsPerSecond).toFixed(3)}, of the hit rate ${(during.hitRate / before.hitRate).toFixed(3)}`,
      `answers by status: before ${JSON.stringify([...before.byStatus])}, during ${JSON.stringify([...during.byStatus])}`,
      `times that all records expired: ${fullExpiries}`,
      `the longest time after its change that one of ${different} records was answered as it was: ${Math.round(longest)} ms`,
    );
    expect({ seen, written }).toEqual({ seen: different, written: different });
    expect(longest).toBeLessThan(BOUND_MS);
    expect.soft(during.callsPerSecond / before.callsPerSecond).toBeGreaterThan(0.95);
    expect.soft(during.hitRate / before.hitRate).toBeGreaterThan(0.95);
  },
  HOUR_MS,
);
