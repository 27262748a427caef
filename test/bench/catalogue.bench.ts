import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bareInserts } from './catalogue/bare-inserts.ts';
import { type Cost, costOf } from './catalogue/cost.ts';
import { KINDS } from './catalogue/identifiers.ts';
import { lookupClient, type Sort, type Timed } from './catalogue/lookups.ts';
import { queriesDuring } from './catalogue/queries.ts';
import { writeCatalogue } from './catalogue/record.ts';
import {
  memoryOf,
  peakMemoryDuring,
  type RunningCatalogue,
  type RunningCatalogues,
  startCatalogues,
} from './catalogue/running.ts';
import { cacheInUse, warm } from './catalogue/store.ts';
import { bytes, median, percentile, table, whole } from './catalogue/table.ts';
import { spreadOf } from './harness/in-turns.ts';
import { noteResult } from './harness/results.ts';

const REFERENCE = 10_000;
/** For fewer records the measured time is mostly the start of programs. */
const LARGE = 1_000_000;
/** The least share of the rate of bare inserts. */
const IMPORT_GOAL = 0.6;
const ROUNDS = 5;
const SINGLE_CALLS = 2_000;
const BATCH = 200;
const BATCH_CALLS = 120;
/** How many parts a round of one kind of look-up is cut into. */
const SLICES = 8;
const HOURS = 3_600_000;

const sizes = sizesOf(process.env.BENCH_SIZES);
const cacheGb = Number(process.env.BENCH_CACHE_GB ?? 4);
const SORTS: readonly Sort[] = [1, BATCH].flatMap((batch) =>
  [true, false].flatMap((hit) => KINDS.map((kind) => ({ kind, hit, batch }))),
);

/** The measurements of one import, stored in the database that it filled. */
interface Import {
  _id: 'import';
  product: Cost;
  bare: Cost;
  catalogPeak: number;
}

let running: RunningCatalogues;
const tables: string[] = [];

beforeAll(async () => {
  running = await startCatalogues(sizes, { folder: process.env.BENCH_FOLDER, cacheGb });
}, HOURS);

afterAll(async () => {
  await running?.stop();
  console.log(tables.join('\n\n'));
}, HOURS);

test(
  'an import reaches at least 0.6 times the rate of a bare insertMany of the finished documents',
  async () => {
    const imports = new Map<number, Import>();
    for (const catalogue of running.of) imports.set(catalogue.size, await importOf(catalogue));
    const ratio = ({ product, bare }: Import) => bare.seconds / product.seconds;
    const cpu = (seconds: number, size: number) => Math.round((seconds / size) * 1e6).toString();
    tables.push(
      table(
        ['records', 'bds import', 'bare insertMany', 'ratio', 'catalog memory at most'],
        [...imports].map(([size, each]) => [
          whole(size),
          `${whole(size / each.product.seconds)}/s`,
          `${whole(size / each.bare.seconds)}/s`,
          ratio(each).toFixed(2),
          bytes(each.catalogPeak),
        ]),
      ),
      'Microseconds of processor time for each record',
      table(
        ['records', 'bds', 'catalog', 'mongod', 'bare: driver', 'mongod'],
        [...imports].map(([size, { product, bare }]) => [
          whole(size),
          ...[product.own, product.catalog, product.mongod, bare.own, bare.mongod].map((seconds) =>
            cpu(seconds, size),
          ),
        ]),
      ),
    );
    for (const [size, result] of imports) {
      if (size < LARGE) continue;
      noteResult(`catalogue, import of ${whole(size)} records`, spreadOf([ratio(result)]), {
        goal: IMPORT_GOAL,
        baseline: 'insertMany of the finished documents by the bare driver',
      });
      expect.soft(ratio(result), `ratio at ${whole(size)}`).toBeGreaterThanOrEqual(IMPORT_GOAL);
    }
  },
  24 * HOURS,
);

test(
  'a look-up sends one query, and a second for common names; both examine no more keys than candidates and results, and no other documents',
  async () => {
    for (const { db, target, stack, size } of running.of) {
      const lookups = lookupClient({ target, certificates: stack.certificates });
      // mongod's profiler cuts off queries with more identifiers.
      for (const sort of SORTS.map((each) => ({ ...each, batch: Math.min(each.batch, 40) }))) {
        const calls = sort.batch === 1 ? 100 : 10;
        // In these calls, catalog learns which names many companies share.
        for (let time = 0; time < 3; time++) await lookups.time(sort, { size, seed: 1, calls });
        let sent = 0;
        const queries = await queriesDuring(db, async () => {
          sent = (await lookups.time(sort, { size, seed: 1, calls })).calls;
        });
        const text = `${describe(sort)} at ${whole(size)}`;
        for (const each of ['all', 'best'])
          expect.soft(queries.filter((query) => query.of === each).length, text).toBeLessThanOrEqual(sent);
        expect.soft(queries.length, text).toBeGreaterThanOrEqual(sent);
        for (const query of queries) {
          expect.soft(query.docsExamined, text).toBe(query.results);
          expect.soft(query.keysExamined, text).toBeLessThanOrEqual(query.candidateKeys + query.matches);
        }
      }
      lookups.close();
    }
  },
  HOURS,
);

// With one size there is nothing to compare.
test.skipIf(sizes.length === 1)(
  "a look-up's p99 is at most 1.3 times that at 10 thousand records",
  async () => {
    const [reference, ...others] = running.of;
    if (reference === undefined) throw new Error('there is no catalogue');
    for (const catalogue of [...others, reference]) await warm(catalogue);
    // The reference is measured again at the end. The difference between its two results shows how noisy the machine is.
    const contestants = [reference, ...others, reference].map(({ size, target, stack }, index) => ({
      size,
      stack,
      lookups: lookupClient({ target, certificates: stack.certificates }),
      label: index > others.length ? `${whole(size)} again` : whole(size),
      rounds: new Map<Sort, Timed[]>(),
    }));
    const peaks = new Map<number, number>();
    for (let round = 0; round <= ROUNDS; round++) {
      for (const sort of SORTS) {
        const slices = contestants.map((): Timed[] => []);
        // The sizes take turns with a few calls each, so that all find the machine in the same state.
        for (let slice = 0; slice < SLICES; slice++) {
          for (const [index, { size, lookups }] of contestants.entries()) {
            const seed = (round * SORTS.length + SORTS.indexOf(sort)) * SLICES + slice;
            const calls = (sort.batch === 1 ? SINGLE_CALLS : BATCH_CALLS) / SLICES;
            slices[index]?.push(await lookups.time(sort, { size, seed, calls }));
          }
        }
        // The first round only warms up.
        if (round > 0)
          for (const [index, { rounds }] of contestants.entries())
            rounds.set(sort, [...(rounds.get(sort) ?? []), together(slices[index] ?? [])]);
      }
      for (const { size, stack } of contestants)
        peaks.set(size, Math.max(peaks.get(size) ?? 0, await memoryOf(stack, 'catalog')));
      console.log(`round ${round} of ${ROUNDS}`);
    }
    for (const { lookups } of contestants) lookups.close();

    const figures = contestants.map(({ size, label, rounds }) => ({
      size,
      label,
      of: (sort: Sort) => {
        const timed = rounds.get(sort) ?? [];
        return {
          rate: median(timed.map(({ identifiers, tookMs }) => (identifiers * 1_000) / tookMs)),
          p50: median(timed.map(({ latencies }) => percentile(latencies, 0.5))),
          p99: median(timed.map(({ latencies }) => percentile(latencies, 0.99))),
        };
      },
    }));
    const ratio = (sort: Sort, { of }: (typeof figures)[number]) =>
      of(sort).p99 / (figures[0]?.of(sort).p99 ?? 1);
    for (const batch of [1, BATCH]) {
      tables.push(
        `${batch === 1 ? 'One identifier a call' : `${batch} identifiers a call`}: identifiers/s · p50 · p99 of a call in ms · ratio of p99`,
        table(
          ['look-up', ...figures.map(({ label }) => label)],
          SORTS.filter((sort) => sort.batch === batch).map((sort) => [
            `${sort.kind}, ${sort.hit ? 'hit' : 'miss'}`,
            ...figures.map((contestant, index) => {
              const { rate, p50, p99 } = contestant.of(sort);
              const cells = [whole(rate), p50.toFixed(2), p99.toFixed(2)];
              return [...cells, ...(index === 0 ? [] : [ratio(sort, contestant).toFixed(2)])].join(' · ');
            }),
          ]),
        ),
      );
    }
    tables.push(
      `mongod's cache: ${bytes(await cacheInUse(reference.client))} in use of ${cacheGb} GiB; catalog after the look-ups: ${[
        ...peaks,
      ]
        .map(([size, peak]) => `${bytes(peak)} at ${whole(size)}`)
        .join(', ')}`,
    );
    for (const sort of SORTS.filter(({ batch }) => batch === 1)) {
      for (const contestant of figures.filter(({ size }) => size >= LARGE)) {
        expect
          .soft(ratio(sort, contestant), `${describe(sort)} at ${contestant.label}`)
          .toBeLessThanOrEqual(1.3);
      }
    }
  },
  24 * HOURS,
);

/** Imports a catalogue and returns the measurements. If an earlier run left the catalogue, returns that run's measurements. */
async function importOf(catalogue: RunningCatalogue): Promise<Import> {
  const { size, db, bds, stack, folder } = catalogue;
  const earlier = await db.collection<Import>('bench').findOne({ _id: 'import' });
  if (earlier !== null) return earlier;
  for (const name of ['brands', 'sources']) await db.collection(name).deleteMany({});
  const file = join(folder, 'catalogue.ndjson');
  await writeCatalogue(file, size);
  console.log(`${whole(size)} records are written`);
  let catalogPeak = 0;
  const product = await costOf(catalogue, async () => {
    catalogPeak = await peakMemoryDuring(stack, 'catalog', async () => {
      const summary = await bds('import', 'records', file, '--source', 'made-up');
      // If mongod pauses so long that an answer is lost, the repeated record counts as unchanged.
      const { read, created, unchanged, refused } = summary as Record<string, number>;
      expect({ read, refused, there: (created ?? 0) + (unchanged ?? 0) }).toEqual({
        read: size,
        refused: 0,
        there: size,
      });
    });
  });
  await rm(file);
  console.log(`${whole(size)} records are imported, in ${whole(product.seconds)} s`);
  const bare = await bareInserts(catalogue);
  const result: Import = { _id: 'import', product, bare, catalogPeak };
  await db.collection<Import>('bench').insertOne(result);
  return result;
}

function together(slices: readonly Timed[]): Timed {
  return {
    latencies: slices.flatMap(({ latencies }) => latencies),
    identifiers: slices.reduce((sum, { identifiers }) => sum + identifiers, 0),
    tookMs: slices.reduce((sum, { tookMs }) => sum + tookMs, 0),
    calls: slices.reduce((sum, { calls }) => sum + calls, 0),
  };
}

function describe({ kind, hit, batch }: Sort): string {
  return `${kind}, ${hit ? 'hit' : 'miss'}, ${batch} a call`;
}

/** Parses sizes such as "10000,1000000". The result starts with the reference. */
function sizesOf(text = ''): number[] {
  const given = text
    .split(',')
    .filter((size) => size !== '')
    .map(Number);
  if (!given.every((size) => Number.isInteger(size) && size >= REFERENCE))
    throw new Error(`BENCH_SIZES: whole numbers from ${REFERENCE} on, with commas between, not "${text}"`);
  return [...new Set([REFERENCE, ...given])].sort((a, b) => a - b);
}
