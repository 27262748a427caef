import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '@brand-data/testing/random';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  type Catalogue,
  HOUR_MS,
  lookUp,
  search,
  startCatalogue,
  stopCatalogues,
} from './harness/catalogues.ts';
import { spreadOf } from './harness/in-turns.ts';
import { shown, table, whole } from './harness/results.ts';
import { latenciesOf, percentilesOf } from './load.ts';
import { askFor, importMadeUp, LONGEST_TYPED, sizesOf, typed } from './made-up-companies.ts';

/** By how many ms the p99 of a search may be above that of a bare find. */
const P99_GOAL = 25;
const ROUNDS = 5;
const CALLS = 400;
const TYPISTS = 100;
const LETTER_EVERY_MS = 200;

const mongo = new MongoClient(inject('mongodbUrl'));
const catalogues: Catalogue[] = [];
const tables: string[] = [];

beforeAll(async () => {
  for (const size of sizesOf(process.env.BENCH_SIZES)) {
    const catalogue = await startCatalogue(mongo, size);
    catalogues.push(catalogue);
    await importMadeUp(catalogue.stack, size);
  }
}, 24 * HOUR_MS);

afterAll(async () => {
  await stopCatalogues(catalogues);
  await mongo.close();
  console.log(tables.join('\n\n'));
}, HOUR_MS);

const lookUpDomain = (catalogue: Catalogue, random: Random) =>
  lookUp(catalogue, [askFor('domain', catalogue.size, random).identifier]);

const timed = async (call: () => Promise<unknown>) => percentilesOf(await latenciesOf(CALLS, call));

const overRounds = (rounds: readonly { p50: number; p99: number }[], figure: 'p50' | 'p99') =>
  shown(2, spreadOf(rounds.map((round) => round[figure])));

test(
  'the p99 of a search is at most 25 ms above that of a bare find',
  async () => {
    const rounds = catalogues.map(
      (catalogue) => ({ catalogue, searches: [], finds: [], over: [] }) as Rounds,
    );
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { catalogue, searches, finds, over } of rounds) {
        const random = createRandom(round);
        const { size, companies } = catalogue;
        const found = await timed(() => search(catalogue, typed(size, random)));
        const bare = await timed(() =>
          companies.findOne({ keys: `domain:${askFor('domain', size, random).identifier}` }),
        );
        // The first round only warms up.
        if (round === 0) continue;
        searches.push(found);
        finds.push(bare);
        over.push(found.p99 - bare.p99);
      }
    }
    const rows = await Promise.all(
      rounds.map(async ({ catalogue: { size, companies }, searches, finds, over }) => {
        const [stats] = await companies.aggregate([{ $collStats: { storageStats: {} } }]).toArray();
        const bytes = (stats as Document).storageStats.indexSizes.search / size;
        const above = spreadOf(over);
        expect.soft(above.median, `at ${whole(size)}`).toBeLessThanOrEqual(P99_GOAL);
        const figures = [searches, finds].flatMap((of) => [overRounds(of, 'p50'), overRounds(of, 'p99')]);
        return [whole(size), ...figures, shown(2, above), `${whole(bytes)} B`];
      }),
    );
    const heading = [
      'search p50',
      'search p99',
      'bare find p50',
      'bare find p99',
      'p99 above',
      'index a record',
    ];
    tables.push('ms, medians and ranges of the rounds', table(['records', ...heading], rows));
  },
  24 * HOUR_MS,
);

interface Rounds {
  readonly catalogue: Catalogue;
  readonly searches: { p50: number; p99: number }[];
  readonly finds: { p50: number; p99: number }[];
  readonly over: number[];
}

test(
  'look-ups while a hundred people type',
  async () => {
    const rows: string[][] = [];
    for (const catalogue of catalogues) {
      const alone: { p50: number; p99: number }[] = [];
      const kinds = [SIGNS, LETTERS].map((typed) => ({
        typed,
        beside: [] as { p50: number; p99: number }[],
        searches: { answered: 0, refused: 0 },
      }));
      for (let round = 0; round < ROUNDS; round++) {
        const random = createRandom(round);
        alone.push(await timed(() => lookUpDomain(catalogue, random)));
        for (const { typed, beside, searches } of kinds) {
          const over = new AbortController();
          const typing = Array.from({ length: TYPISTS }, (_, typist) =>
            type(catalogue, createRandom(typist), { typed, searches, signal: over.signal }),
          );
          beside.push(await timed(() => lookUpDomain(catalogue, random)));
          over.abort();
          await Promise.all(typing);
        }
      }
      const percentiles = [alone, ...kinds.map(({ beside }) => beside)].flatMap((of) => [
        overRounds(of, 'p50'),
        overRounds(of, 'p99'),
      ]);
      const counts = kinds.flatMap(({ searches }) => [whole(searches.answered), whole(searches.refused)]);
      rows.push([whole(catalogue.size), ...percentiles, ...counts]);
    }
    const heading = [
      ...['alone p50', 'alone p99', 'beside signs p50', 'beside signs p99', 'beside p50', 'beside p99'],
      ...['signs', 'signs refused', 'searches', 'refused'],
    ];
    tables.push('look-ups, ms', table(['records', ...heading], rows));
  },
  24 * HOUR_MS,
);

const LETTERS = (name: string) => name;
/** Catalog answers such a text without a search, so look-ups beside it show what the calls alone cost this machine. */
const SIGNS = (name: string) => '!'.repeat(name.length);

interface Typing {
  typed(name: string): string;
  searches: { answered: number; refused: number };
  signal: AbortSignal;
}

/** Types one name after another, a letter every 200 ms at most, until the signal is aborted. */
async function type(
  catalogue: Catalogue,
  random: Random,
  { typed, searches, signal }: Typing,
): Promise<void> {
  await delay(random.whole(0, LETTER_EVERY_MS));
  while (!signal.aborted) {
    const { identifier } = askFor('name', catalogue.size, random);
    for (let length = 1; length <= LONGEST_TYPED && !signal.aborted; length++) {
      const next = delay(LETTER_EVERY_MS);
      const isAnswered = await search(catalogue, typed(identifier.slice(0, length))).then(
        () => true,
        () => false,
      );
      searches[isAnswered ? 'answered' : 'refused'] += 1;
      await next;
    }
  }
}
