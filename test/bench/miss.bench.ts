import { CatalogServiceClient } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { createRandom } from '@brand-data/testing/random';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import type { NaiveSettings } from './baselines/naive.ts';
import { companyAt } from './catalogue/company.ts';
import { zipfRank } from './catalogue/zipf.ts';
import { createTokens } from './harness/account-tokens.ts';
import { compareInTurns, inTurns, spreadOf } from './harness/in-turns.ts';
import { importMadeUp } from './harness/made-up-catalogue.ts';
import { numberFrom } from './harness/number-from.ts';
import { linesOf, noteResult, shown } from './harness/results.ts';
import { cpuMicrosAt, metricAt, pinLoad, pinServer, type Server, startBaseline } from './harness/servers.ts';
import { callOver, percentilesOf, runLoad } from './load.ts';

const RECORDS = numberFrom('BENCH_RECORDS', 100_000);
/** How many bytes of its cache the gateway counts for a made-up record. */
const RECORD_BYTES = 4_600;
/** The share of the records that the cache can hold. */
const CACHED_SHARE = 0.01;
const LEAST_CACHE_BYTES = 1024 ** 2;
const ACCOUNTS = 1_000;
const CONNECTIONS = 64;
/** Made in advance, since the load generator should do little. Later calls repeat them. */
const PATHS = 300_000;
const COUNTED_MS = 4_000;
const COLD_CALLS = 500;
/** A prime that divides no usual number of records, so that a record is asked for again only after all other records. */
const COLD_STEP = 611_953;
const LOGO_HOST = 'https://images.example.com/images';

const GOAL_OF_RATE = 3;
const GOAL_OF_RPCS = 5;
const BASELINE = 'a gateway without caches, three RPCs a call';

let stack: TestStack;
let operator: TestOperator;
let gateway: Server;
let tokens: string[];
let mongo: MongoClient;
const lines: string[] = [];

beforeAll(async () => {
  const cacheBytes = Math.max(LEAST_CACHE_BYTES, Math.round(RECORDS * CACHED_SHARE * RECORD_BYTES));
  stack = await startTestStack({
    gateways: 1,
    logoHost: LOGO_HOST,
    environment: { RECORD_CACHE_BYTES: String(cacheBytes), LOG_LEVEL: 'warn' },
  });
  operator = new TestOperator(stack);
  mongo = new MongoClient(stack.mongodbUrl);
  await importMadeUp(stack, RECORDS);
  tokens = await createTokens(operator, ACCOUNTS);
  const opsUrl = stack.opsUrls.get('gateway-1') ?? '';
  gateway = { target: stack.gateways[0]?.url ?? '', cpuMicros: () => cpuMicrosAt(opsUrl) };
}, 600_000);

afterAll(async () => {
  operator?.close();
  await mongo?.close();
  await stack?.stop();
  console.log(lines.join('\n'));
});

const pathOf = (index: number, token = tokens[0]) => `/v1/brands/${companyAt(index).domain}?token=${token}`;

/** Returns the gateway's cache of records. */
async function cache(): Promise<{ entries: number; hits: number; misses: number }> {
  const read = (name: string, label: string) =>
    metricAt(stack.opsUrls.get('gateway-1') ?? '', name, `cache="records"${label}`);
  return {
    entries: await read('gateway_cache_entries', ''),
    hits: await read('gateway_cache_requests_total', ',result="hit"'),
    misses: await read('gateway_cache_requests_total', ',result="miss"'),
  };
}

/** RPCs that the services behind the gateway have answered so far. */
async function rpcs(): Promise<number> {
  const counts = ['accounts', 'catalog', 'metering'].map((service) =>
    metricAt(stack.opsUrls.get(service) ?? '', 'grpc_server_handled_total'),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

test('a call for a record that no cache has, in parts, compared with a find of the bare driver', async () => {
  let asked = 0;
  const nextIndex = () => (asked++ * COLD_STEP) % RECORDS;
  const brands = mongo.db(`${stack.databasePrefix}_catalog`).collection<{ _id: string }>('brands');
  const catalog = connectChannel(
    CatalogServiceClient,
    stack.targets.catalog ?? '',
    channelAs('gateway', 'catalog'),
  );
  /** Returns the p50 of some pieces of work one after another, in milliseconds. */
  const p50Of = async (work: () => Promise<void>): Promise<number> => {
    const latencies: number[] = [];
    for (let made = 0; made < COLD_CALLS; made++) {
      const began = performance.now();
      await work();
      latencies.push(performance.now() - began);
    }
    return percentilesOf(latencies).p50;
  };
  const calls = async (path: () => string): Promise<number> => {
    const latencies: number[] = [];
    await callOver(gateway.target, {
      next: () => (latencies.length < COLD_CALLS ? path() : undefined),
      answered: (status, tookMs) => {
        expect(status).toBe(200);
        latencies.push(tookMs);
      },
    });
    return percentilesOf(latencies).p50;
  };
  const measureOwn = async () => ({
    cold: await calls(() => pathOf(nextIndex())),
    cached: await calls(() => pathOf(0)),
    lookup: await p50Of(async () => {
      const queries = [{ identifier: companyAt(nextIndex()).domain, superinvestors: true, suggest: false }];
      const request = { queries, weakMatches: true, maxBytes: 0 };
      const { results } = await callUnary(catalog, catalog.lookup, request, { deadlineMs: 5_000 });
      expect(results[0]?.brand).toBeDefined();
    }),
  });
  const find = () =>
    p50Of(async () => expect(await brands.findOne({ _id: companyAt(nextIndex()).id })).not.toBeNull());
  try {
    // One call at a time goes from process to process. Processes that are held to a processor would wait for one another, so none is.
    for (const warmUp of [measureOwn, find, measureOwn]) await warmUp();
    const rounds = await inTurns(measureOwn, find);
    const over = (figure: (round: (typeof rounds)[number]) => number) =>
      shown(2, spreadOf(rounds.map(figure)));
    lines.push(
      `one call at a time, p50 in ms: not cached ${over(({ own }) => own.cold)}, cached ${over(({ own }) => own.cached)}, ` +
        `Lookup alone ${over(({ own }) => own.lookup)}, a bare find ${over(({ base }) => base)}`,
      `  not cached, beyond a cached call and a bare find: ${over(({ own, base }) => own.cold - own.cached - base)}`,
      `  not cached, beyond a bare find: ${over(({ own, base }) => own.cold - base)}`,
    );
  } finally {
    catalog.close();
  }
}, 180_000);

test("calls for records by Zipf's law with a cache for 1 % of them, compared with a gateway that asks the services at each call", async () => {
  const random = createRandom(1);
  const paths = Array.from({ length: PATHS }, () =>
    pathOf(zipfRank(RECORDS, random.unit()), tokens[random.whole(0, ACCOUNTS - 1)]),
  );
  let used = 0;
  const nextPath = () => paths[used++ % PATHS] ?? '';
  const settings: NaiveSettings = {
    targets: stack.targets,
    certificates: stack.certificates,
    logoHost: LOGO_HOST,
  };
  pinServer(stack.pid('gateway-1'));
  pinLoad();
  const naive = await startBaseline('naive.ts', [JSON.stringify(settings)]);
  try {
    for (const path of paths.slice(0, 50)) {
      const textOf = async (target: string) => (await fetch(`${target}${path}`)).text();
      expect(await textOf(naive.target)).toBe(await textOf(gateway.target));
    }
    const load = { paths: nextPath, connections: CONNECTIONS };
    const before = await cache();
    const comparison = await compareInTurns(gateway, naive, load);
    const rpcsPerCall = async ({ target }: Server): Promise<number> => {
      const before = await rpcs();
      const { calls } = await runLoad(target, { ...load, forMs: COUNTED_MS });
      return ((await rpcs()) - before) / calls;
    };
    const [own, ofNaive] = [await rpcsPerCall(gateway), await rpcsPerCall(naive)];
    const after = await cache();
    const hits = after.hits - before.hits;
    const hitRate = hits / (hits + after.misses - before.misses);
    const what = `miss, ${RECORDS.toLocaleString('en')} records, ${CONNECTIONS} connections`;
    const [goal, baseline] = [GOAL_OF_RATE, BASELINE];
    noteResult(`${what}, calls a second`, comparison.ratioOfCalls, { goal, baseline });
    noteResult(`${what}, processor time`, comparison.ratioOfProcessorTime, { goal, baseline });
    noteResult(`${what}, RPCs`, spreadOf([ofNaive / own]), { goal: GOAL_OF_RPCS, baseline });
    lines.push(
      `the cache holds ${after.entries} of ${RECORDS} records, and had ${(100 * hitRate).toFixed(1)} % of those that calls asked for`,
      `RPCs a call: ${own.toFixed(3)}, ${BASELINE}: ${ofNaive.toFixed(3)}, ratio ${(ofNaive / own).toFixed(1)}`,
      ...linesOf(what, BASELINE, comparison),
    );
  } finally {
    naive.stop();
  }
}, 300_000);
