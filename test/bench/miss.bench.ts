import { CatalogServiceClient } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { createRandom } from '@brand-data/testing/random';
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import type { NaiveSettings } from './baselines/naive.ts';
import { compareInTurns, inTurns, spreadOf } from './harness/in-turns.ts';
import { linesOf, noteResult, shown, whole } from './harness/results.ts';
import { numberFrom, type Server, startBaseline, useBench } from './harness/servers.ts';
import { latenciesOf, percentilesOf, runLoad } from './load.ts';
import { companyAt, importMadeUp, zipfRank } from './made-up-companies.ts';

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

const BASELINE = 'a gateway without caches, three RPCs a call';
const GOAL_OF_RATE = { goal: 3, baseline: BASELINE };
const GOAL_OF_RPCS = { goal: 5, baseline: BASELINE };

let tokens: string[];
const cacheBytes = Math.max(LEAST_CACHE_BYTES, Math.round(RECORDS * CACHED_SHARE * RECORD_BYTES));
const environment = { RECORD_CACHE_BYTES: String(cacheBytes), LOG_LEVEL: 'warn', LOGO_HOST };
const bench = useBench({ environment }, async (begun) => {
  await importMadeUp(begun.stack, RECORDS);
  tokens = await begun.createTokens(ACCOUNTS);
});

const pathOf = (index: number, token = tokens[0]) => `/v1/brands/${companyAt(index).domain}?token=${token}`;

/** RPCs that the services behind the gateway have answered so far. */
const rpcs = () => bench.stack.metric(['accounts', 'catalog', 'metering'], 'grpc_server_handled_total');

/** Returns the p50 of some pieces of work one after another, in milliseconds. */
const p50Of = async (work: () => Promise<unknown>) => percentilesOf(await latenciesOf(COLD_CALLS, work)).p50;

test('a call for a record that no cache has, in parts, compared with a find of the bare driver', async () => {
  const { gateway, stack, lines } = bench;
  await using mongo = new MongoClient(stack.mongodbUrl);
  const brands = mongo.db(`${stack.databasePrefix}_catalog`).collection<{ _id: string }>('brands');
  const channel = channelAs('gateway', 'catalog');
  const catalog = connectChannel(CatalogServiceClient, stack.targets.catalog ?? '', channel);
  let asked = 0;
  const nextIndex = () => (asked++ * COLD_STEP) % RECORDS;
  const calls = async (path: () => string): Promise<number> => {
    const load = { paths: path, connections: 1, forMs: 60_000, calls: COLD_CALLS };
    const { byStatus, p50 } = await runLoad(gateway.target, load);
    expect([...byStatus.keys()]).toEqual([200]);
    return p50;
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
  const { gateway, lines } = bench;
  const random = createRandom(1);
  const paths = Array.from({ length: PATHS }, () =>
    pathOf(zipfRank(RECORDS, random.unit()), tokens[random.whole(0, ACCOUNTS - 1)]),
  );
  const { targets, certificates, secrets } = bench.stack;
  const { monogramKey } = secrets;
  const settings: NaiveSettings = { targets, certificates, logoHost: LOGO_HOST, monogramKey };
  bench.pin();
  using naive = await startBaseline('naive.ts', [JSON.stringify(settings)]);
  for (const path of paths.slice(0, 50)) {
    const textOf = async (target: string) => (await fetch(`${target}${path}`)).text();
    expect(await textOf(naive.target)).toBe(await textOf(gateway.target));
  }
  let used = 0;
  const load = { paths: () => paths[used++ % PATHS] ?? '', connections: CONNECTIONS };
  const cacheCount = (result: string) =>
    bench.stack.metric('gateway-1', 'gateway_cache_requests_total', { cache: 'records', result });
  const before = { hits: await cacheCount('hit'), misses: await cacheCount('miss') };
  const comparison = await compareInTurns(gateway, naive, load);
  const rpcsPerCall = async ({ target }: Server): Promise<number> => {
    const before = await rpcs();
    const { calls } = await runLoad(target, { ...load, forMs: COUNTED_MS });
    return ((await rpcs()) - before) / calls;
  };
  const [own, ofNaive] = [await rpcsPerCall(gateway), await rpcsPerCall(naive)];
  const hits = (await cacheCount('hit')) - before.hits;
  const hitRate = hits / (hits + (await cacheCount('miss')) - before.misses);
  const entries = await bench.stack.metric('gateway-1', 'gateway_cache_entries', { cache: 'records' });
  const what = `miss, ${whole(RECORDS)} records, ${CONNECTIONS} connections`;
  noteResult(`${what}, calls a second`, comparison.ratioOfCalls, GOAL_OF_RATE);
  noteResult(`${what}, processor time`, comparison.ratioOfProcessorTime, GOAL_OF_RATE);
  noteResult(`${what}, RPCs`, spreadOf([ofNaive / own]), GOAL_OF_RPCS);
  lines.push(
    `the cache holds ${entries} of ${RECORDS} records, and had ${(100 * hitRate).toFixed(1)} % of those that calls asked for`,
    `RPCs a call: ${own.toFixed(3)}, ${BASELINE}: ${ofNaive.toFixed(3)}, ratio ${(ofNaive / own).toFixed(1)}`,
    ...linesOf(what, BASELINE, comparison),
  );
}, 300_000);
