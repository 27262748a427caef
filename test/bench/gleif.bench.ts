import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '@brand-data/runtime';
import { createRandom, type Random } from '@brand-data/testing/random';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  type Catalogue,
  HOUR_MS,
  lookUp,
  readAll,
  search,
  startCatalogue,
  stopCatalogues,
} from './harness/catalogues.ts';
import { inSlices, spreadOf } from './harness/in-turns.ts';
import { shown, table, whole } from './harness/results.ts';
import { latenciesOf, percentilesOf } from './load.ts';
import { askFor, importMadeUp, KINDS, type Kind, sizesOf, typed } from './made-up-companies.ts';
import { writeEntities } from './made-up-entities.ts';

/** The companies that other sources know, in each catalogue. */
const KNOWN = 20_000;
const P99_GOAL = 1.3;
const SEARCH_GOAL_MS = 25;
/** Of all searches. */
const MOST_REFUSED = 5;
const LARGE = 1_000_000;
const ROUNDS = 5;
const CALLS = 2_000;
/** Prints the most memory that the process ever had. */
const REPORT = `import { readFileSync } from 'node:fs';
process.on('exit', () => process.stderr.write(/VmHWM.*/.exec(readFileSync('/proc/self/status', 'utf8'))[0]));`;

const mongo = new MongoClient(inject('mongodbUrl'));
/** Each with the known companies, and in the end with as many of GLEIF's entities as its size says. */
const catalogues: Catalogue[] = [];
const tables: string[] = [];

beforeAll(async () => {
  const cacheGb = Number(process.env.BENCH_CACHE_GB ?? 4);
  const wiredTigerEngineRuntimeConfig = `cache_size=${Math.round(cacheGb * 1_024)}M`;
  await mongo.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig });
  for (const entities of [0, ...sizesOf(process.env.BENCH_SIZES).slice(1)]) {
    const catalogue = await startCatalogue(mongo, entities);
    catalogues.push(catalogue);
    await importMadeUp(catalogue.stack, KNOWN);
  }
}, 24 * HOUR_MS);

afterAll(async () => {
  await stopCatalogues(catalogues);
  await mongo.close();
  console.log(tables.join('\n\n'));
}, HOUR_MS);

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
    for (const catalogue of catalogues.filter(({ size }) => size > 0)) {
      const { size: entities } = catalogue;
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
  24 * HOUR_MS,
);

async function lookUpKnown(catalogue: Catalogue, kind: Kind, random: Random): Promise<void> {
  const { identifier, id } = askFor(kind, KNOWN, random);
  const results = await lookUp(catalogue, [identifier]);
  const found = results[0]?.brand?.id;
  // A name that a known company has leads to a known company, whatever entities have it.
  if (id === undefined ? found?.startsWith('lei-') !== false : found !== id)
    throw new Error(`"${identifier}" gave ${found ?? 'nothing'}, not ${id ?? 'a known company'}`);
}

/** Returns the p99 of the calls in each catalogue, over rounds in turns. The first round only warms up. */
async function p99s(call: (catalogue: Catalogue, random: Random) => Promise<unknown>) {
  const rounds = catalogues.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    const latencies = await inSlices(catalogues, { calls: CALLS, seed: round }, (catalogue, seed, calls) => {
      const random = createRandom(seed);
      return latenciesOf(calls, () => call(catalogue, random));
    });
    if (round > 0)
      for (const [index, ofCatalogue] of latencies.entries())
        rounds[index]?.push(percentilesOf(ofCatalogue).p99);
  }
  const spreads = rounds.map(spreadOf);
  const large = spreads.filter((_, index) => (catalogues[index]?.size ?? 0) >= LARGE);
  return { spreads, without: spreads[0]?.median ?? 0, large: large.map(({ median }) => median) };
}

test(
  'among all entities, the p99 of a look-up of a known company is at most 1.3 times that without them, and that of a search at most 25 ms more',
  async () => {
    // Writing the last pages of the import to disk is not part of a look-up.
    await mongo.db('admin').command({ fsync: 1 });
    for (const catalogue of catalogues.toReversed()) await readAll(catalogue);
    const rows: string[][] = [];
    const note = (what: string, { spreads }: Awaited<ReturnType<typeof p99s>>) => {
      rows.push([what, ...spreads.map((spread) => shown(2, spread))]);
      console.log(rows.at(-1)?.join(' '));
    };
    for (const kind of KINDS) {
      const lookUps = await p99s((catalogue, random) => lookUpKnown(catalogue, kind, random));
      for (const p99 of lookUps.large) expect.soft(p99 / lookUps.without, kind).toBeLessThanOrEqual(P99_GOAL);
      note(kind, lookUps);
    }
    let refused = 0;
    const searches = await p99s(async (catalogue, random) => {
      // Catalog refuses a search that MongoDB does not answer in time. It counts with the time that it took.
      const isRefused = (error: unknown) => error instanceof Fault && error.kind === 'unavailable';
      await search(catalogue, typed(KNOWN, random)).catch((error) => {
        if (!isRefused(error)) throw error;
        refused += 1;
      });
    });
    expect.soft(refused, 'refused searches').toBeLessThanOrEqual(MOST_REFUSED);
    for (const p99 of searches.large)
      expect.soft(p99 - searches.without, 'search').toBeLessThanOrEqual(SEARCH_GOAL_MS);
    note('search', searches);
    const heading = ['call', ...catalogues.map(({ size }) => `${whole(size)} entities`)];
    tables.push('p99 of a call in ms, medians and ranges of the rounds', table(heading, rows));
  },
  24 * HOUR_MS,
);
