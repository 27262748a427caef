import { mostSimilar, similarityQuery } from '@brand-data/catalog/src/lookup/similar-names.ts';
import {
  indexKeysOf,
  keyFromIndex,
  similarityEntriesOf,
} from '@brand-data/catalog/src/records/index-keys.ts';
import { mergeBrands, recordOfOne } from '@brand-data/catalog/src/records/merge.ts';
import type { Brand } from '@brand-data/contracts';
import {
  coreName,
  explainMiss,
  identityOf,
  keysOfBrand,
  linkBetween,
  readIdentifier,
  resolve,
  secondaryKeys,
  typeOfSecurity,
  whyNotLinked,
} from '@brand-data/identifiers';
import { presentFlat, presentGrouped } from '@brand-data/presenters';
import { problemsOf } from '@brand-data/records';
import { createRandom, type Random } from '@brand-data/testing/random';
import { identifierOf, mutated, PLAIN, type Recipe, recordOf } from './hostile-records.ts';

export const USAGE = `Usage: npm run costs -- [--seconds 20] [--seed 1] [--only NAME]

Searches for records and identifiers that are accepted and that take the most processor time, and prints the worst of each
computation. Ends with an error if a computation takes more than 5 ms.
  --seconds N   how long to search for each computation
  --seed N      the search's random numbers
  --only NAME   search for one computation`;

const SHOWN = { logoHost: 'https://logos.example', monogramKey: 'any' };
const MOST_MS = 5;
/** How often an input is measured. The least time counts, because other processes and garbage only make a run longer. */
const FEWEST_RUNS = 3;
const MOST_RUNS = 12;
/** Each search begins again as often, from a plain record, because it may end where no small change costs more. */
const STARTS = 4;

export const OPTIONS = {
  seconds: { type: 'string', default: '20' },
  seed: { type: 'string', default: '1' },
  only: { type: 'string' },
} as const;

/** A computation on what a recipe makes. Undefined if the catalogue would not accept it. */
type Cost = (recipe: Recipe) => (() => unknown) | undefined;

const ofRecord =
  (derive: (brand: Brand) => unknown): Cost =>
  (recipe) => {
    const brand = recordOf(recipe);
    return brand && (() => derive(brand));
  };
const ofIdentifier =
  (derive: (identifier: string) => unknown): Cost =>
  (recipe) =>
  () =>
    derive(identifierOf(recipe));

/** The values that services compute for a record that is stored or imported, and for an identifier of at most 256 characters. */
const COSTS: Readonly<Record<string, Cost>> = {
  'look-up': (recipe) => {
    const brand = recordOf(recipe);
    return brand && lookUp(identifierOf(recipe), brand);
  },
  problems: ofRecord((brand) => problemsOf(brand)),
  keys: ofRecord((brand) => keysOfBrand(brand).flatMap(indexKeysOf)),
  similarity: ofRecord((brand) => similarityEntriesOf({ ...brand, rank: 900 })),
  identity: ofRecord((brand) => identityOf(brand).names()),
  evidence: ofRecord((brand) => identityOf(brand).evidence()),
  secondary: ofRecord((brand) => {
    const identity = identityOf(brand);
    return identity.keys.flatMap((key) => secondaryKeys(identity, key) ?? []);
  }),
  link: ofRecord((brand) => linkBetween(identityOf(brand), identityOf(twinOf(brand)))),
  'refused link': ofRecord((brand) => whyNotLinked(identityOf(brand), identityOf(twinOf(brand)))),
  merge: ofRecord((brand) =>
    mergeBrands([
      { source: 'one', brand, isQuote: false },
      { source: 'two', brand: twinOf(brand), isQuote: false },
    ]),
  ),
  alone: ofRecord(shown),
  grouped: ofRecord((brand) => presentGrouped(shown(brand), SHOWN)),
  flat: ofRecord((brand) => presentFlat(shown(brand), SHOWN)),
  'security names': ofRecord((brand) => typeOfSecurity({ name: brand.name })),
  readings: ofIdentifier((identifier) => readIdentifier(identifier, { superinvestors: true })),
  explanation: ofIdentifier((identifier) => explainMiss(identifier, { superinvestors: true })),
  suggestions: ofIdentifier((identifier) => similarityQuery({ identifier, superinvestors: true })),
};

export function run({ seconds, seed, only }: Record<string, string | undefined>): void {
  let isTooCostly = false;
  for (const [name, cost] of Object.entries(COSTS)) {
    if (only !== undefined && only !== name) continue;
    const { ms, recipe } = worstOf(cost, Number(seconds) * 1_000, createRandom(Number(seed)));
    isTooCostly ||= ms > MOST_MS;
    console.log(`${ms.toFixed(2).padStart(8)} ms  ${name}  ${JSON.stringify(recipe)}`);
  }
  process.exitCode = isTooCostly ? 1 : 0;
}

/** Climbs from a plain record to the costliest that it finds in the time. */
function worstOf(cost: Cost, withinMs: number, random: Random): { ms: number; recipe: Recipe } {
  let worst = { ms: 0, recipe: PLAIN };
  for (let start = 0; start < STARTS; start += 1) {
    const until = performance.now() + withinMs / STARTS;
    let best = { ms: msOf(cost, PLAIN, 0), recipe: PLAIN };
    while (performance.now() < until) {
      const recipe = mutated(random.chance(0.3) ? mutated(best.recipe, random) : best.recipe, random);
      const ms = msOf(cost, recipe, best.ms);
      if (ms > best.ms) best = { ms, recipe };
    }
    if (best.ms > worst.ms) worst = best;
  }
  return worst;
}

/** Returns the least time of several runs, of fewer runs if it is below `atLeast`. */
function msOf(cost: Cost, recipe: Recipe, atLeast: number): number {
  const derive = cost(recipe);
  if (derive === undefined) return 0;
  let least = Number.POSITIVE_INFINITY;
  for (let run = 1; ; run += 1) {
    forgetNames();
    const before = performance.now();
    derive();
    least = Math.min(least, performance.now() - before);
    // Further runs only lower it.
    const isLess = run >= FEWEST_RUNS && least < atLeast;
    if (isLess || run === MOST_RUNS) return least;
  }
}

let forgotten = 0;

/** Pure functions of names remember their last results, and must compute them again. */
function forgetNames(): void {
  for (let count = 0; count < 65; count += 1) {
    forgotten += 1;
    coreName(`forget ${forgotten}`);
  }
}

/** Returns a look-up of the identifier that finds the record. */
function lookUp(identifier: string, brand: Brand): () => unknown {
  const entries = keysOfBrand(brand).flatMap(indexKeysOf);
  return () => {
    const keys = entries.map(keyFromIndex);
    const query = similarityQuery({ identifier, superinvestors: true });
    return [
      resolve(identifier, [{ id: brand.id, rank: brand.rank, keys }], { superinvestors: true }),
      query && mostSimilar(query, [{ id: brand.id, rank: 900, keys: entries }]),
    ];
  };
}

/** Returns a record of another source that shares keys with this record, but not its names. */
function twinOf(brand: Brand): Brand {
  const other = (name: string) => `${name.slice(1)}x`;
  return {
    ...brand,
    name: other(brand.name),
    names: brand.names.map(other),
    listings: brand.listings.toReversed(),
  };
}

function shown(brand: Brand): Brand {
  return recordOfOne({ source: 'one', brand, isQuote: false });
}
