import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CatalogServiceClient } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { createRandom } from '@brand-data/testing/random';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { spreadOf } from './harness/in-turns.ts';
import { shown, table, whole } from './harness/results.ts';
import { percentilesOf } from './load.ts';
import { askFor, importMadeUp, KINDS, type Kind, sizesOf } from './made-up-companies.ts';
import { writeEntities } from './made-up-entities.ts';

/** The companies that other sources know, in each catalogue. */
const KNOWN = 20_000;
const P99_GOAL = 1.3;
const SEARCH_GOAL_MS = 25;
const LONGEST_TYPED = 12;
const LARGE = 1_000_000;
const ROUNDS = 5;
const CALLS = 400;
const DEADLINE_MS = 10_000;
const HOURS = 3_600_000;
/** Prints the most memory that the process ever had. */
const REPORT = `import { readFileSync } from 'node:fs';
process.on('exit', () => process.stderr.write(/VmHWM.*/.exec(readFileSync('/proc/self/status', 'utf8'))[0]));`;

/** The running service with the known companies, and with `entities` of GLEIF in the end. */
interface Catalogue {
  readonly entities: number;
  readonly stack: TestStack;
  readonly client: CatalogServiceClient;
}

const mongo = new MongoClient(inject('mongodbUrl'));
const catalogues: Catalogue[] = [];
const tables: string[] = [];

beforeAll(async () => {
  const cacheGb = Number(process.env.BENCH_CACHE_GB ?? 4);
  const wiredTigerEngineRuntimeConfig = `cache_size=${Math.round(cacheGb * 1_024)}M`;
  await mongo.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig });
  for (const entities of [0, ...sizesOf(process.env.BENCH_SIZES).slice(1)]) {
    const stack = await startTestStack({ gateways: 0, environment: { LOG_LEVEL: 'warn' } });
    const target = stack.targets.catalog ?? '';
    const client = connectChannel(CatalogServiceClient, target, channelAs('gateway', 'catalog'));
    catalogues.push({ entities, stack, client });
    await importMadeUp(stack, KNOWN);
  }
}, 24 * HOURS);

afterAll(async () => {
  for (const { client, stack } of catalogues) {
    client.close();
    await stack.stop();
  }
  await mongo.close();
  console.log(tables.join('\n\n'));
}, HOURS);

/** Imports the file in a process of its own. Returns its summary, with the time and the most memory of each process in MB. */
async function importGleif({ stack }: Catalogue, file: string, ...options: string[]) {
  const began = performance.now();
  const bds = join(import.meta.dirname, '../../packages/operator/bds.mjs');
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(REPORT)}`,
      bds,
      'import',
      'gleif',
      file,
      ...options,
      '--json',
    ],
    {
      env: { ...process.env, BDS_STACK: join(stack.dataDir, 'operator.json') },
      cwd: stack.dataDir,
      maxBuffer: 1 << 28,
    },
  );
  const seconds = (performance.now() - began) / 1_000;
  const { pid } = await mongo.db('admin').command({ serverStatus: 1 });
  const statuses = [stack.pid('catalog'), Number(pid)].map((id) => readFile(`/proc/${id}/status`, 'utf8'));
  const memory = [stderr, ...(await Promise.all(statuses))].map(
    (status) => Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_000,
  );
  return { seconds, memory, summary: JSON.parse(stdout) as Record<string, number> };
}

test(
  'an import of entities brings those of known companies, and then all',
  async () => {
    const rows: string[][] = [];
    for (const catalogue of catalogues.filter(({ entities }) => entities > 0)) {
      const { entities } = catalogue;
      await using written = await writeEntities(entities, KNOWN);
      for (const options of [['--only-known'], []]) {
        const { seconds, memory, summary } = await importGleif(catalogue, written.file, ...options);
        const { read, created = 0, changed = 0, unchanged = 0, skipped = 0, refused } = summary;
        expect.soft({ read, refused }).toEqual({ read: entities, refused: 0 });
        expect.soft(created + changed + unchanged + skipped).toBe(entities);
        const figures = [created, changed, unchanged, skipped, seconds, entities / seconds, ...memory];
        rows.push([whole(entities), options[0] ?? 'all', ...figures.map(whole)]);
        console.log(rows.at(-1)?.join(' '));
      }
    }
    const counts = ['created', 'changed', 'unchanged', 'skipped'];
    const heading = [
      'entities',
      'option',
      ...counts,
      'seconds',
      'a second',
      'bds, MB',
      'catalog, MB',
      'mongod, MB',
    ];
    tables.push('imports, with the most memory that each process ever had', table(heading, rows));
  },
  24 * HOURS,
);

/** Makes look-ups of known companies one at a time. Returns their latencies in ms. */
async function timedLookUps({ client }: Catalogue, kind: Kind, seed: number): Promise<number[]> {
  const random = createRandom(seed);
  const latencies: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const { identifier, id } = askFor(kind, KNOWN, random);
    const request = {
      queries: [{ identifier, superinvestors: false, suggest: false }],
      weakMatches: true,
      maxBytes: 0,
    };
    const began = performance.now();
    const { results } = await callUnary(client, client.lookup, request, { deadlineMs: DEADLINE_MS });
    latencies.push(performance.now() - began);
    const found = results[0]?.brand?.id;
    // A name that a known company has leads to a known company, whatever entities have it.
    if (id === undefined ? found?.startsWith('lei-') !== false : found !== id)
      throw new Error(`"${identifier}" gave ${found ?? 'nothing'}, not ${id ?? 'a known company'}`);
  }
  return latencies;
}

/** Searches for the first letters of known names, one search at a time. Returns their latencies in ms. */
async function timedSearches({ client }: Catalogue, seed: number): Promise<number[]> {
  const random = createRandom(seed);
  const latencies: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const text = askFor('name', KNOWN, random).identifier.slice(0, random.whole(1, LONGEST_TYPED));
    const began = performance.now();
    await callUnary(client, client.search, { text, limit: 10, accountId: '' }, { deadlineMs: DEADLINE_MS });
    latencies.push(performance.now() - began);
  }
  return latencies;
}

/** Returns the p99 of the calls in each catalogue, over rounds in turns. The first round only warms up. */
async function p99s(timed: (catalogue: Catalogue, round: number) => Promise<number[]>) {
  const rounds = catalogues.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++)
    for (const [index, catalogue] of catalogues.entries()) {
      const { p99 } = percentilesOf(await timed(catalogue, round));
      if (round > 0) rounds[index]?.push(p99);
    }
  const spreads = rounds.map(spreadOf);
  const large = spreads.filter((_, index) => (catalogues[index]?.entities ?? 0) >= LARGE);
  return { spreads, without: spreads[0]?.median ?? 0, large: large.map(({ median }) => median) };
}

test(
  'among all entities, the p99 of a look-up of a known company is at most 1.3 times that without them, and that of a search at most 25 ms more',
  async () => {
    const rows: string[][] = [];
    const note = (what: string, { spreads }: Awaited<ReturnType<typeof p99s>>) =>
      rows.push([what, ...spreads.map((spread) => shown(2, spread))]);
    for (const kind of KINDS) {
      const lookUps = await p99s((catalogue, round) => timedLookUps(catalogue, kind, round));
      for (const p99 of lookUps.large) expect.soft(p99 / lookUps.without, kind).toBeLessThanOrEqual(P99_GOAL);
      note(kind, lookUps);
    }
    const searches = await p99s(timedSearches);
    for (const p99 of searches.large)
      expect.soft(p99 - searches.without, 'search').toBeLessThanOrEqual(SEARCH_GOAL_MS);
    note('search', searches);
    const heading = ['call', ...catalogues.map(({ entities }) => `${whole(entities)} entities`)];
    tables.push('p99 of a call in ms, medians and ranges of the rounds', table(heading, rows));
  },
  24 * HOURS,
);
