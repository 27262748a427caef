import { Brand, BrandType } from '@brand-data/contracts';
import { problemsOf } from '@brand-data/records';
import type { Random } from '@brand-data/testing/random';
import ODD from '../odd-texts.json' with { type: 'json' };

/** A text that is made of runs: each a token, repeated. */
type Runs = readonly (readonly [token: string, times: number])[];

/** The parts of a hostile record. The search changes one part at a time. */
export interface Recipe {
  readonly name: Runs;
  /** How many further names, former names, addresses and listings the record has, as far as they fit into it. */
  readonly names: number;
  readonly former: number;
  readonly addresses: number;
  readonly listings: number;
  readonly items: number;
  readonly address: Runs;
  readonly isManager: boolean;
}

const LONGEST_TEXT = 512;
/** As many bytes as a record may have, less those of its other fields. */
const MOST_BYTES = 63 * 1_024;

export const PLAIN: Recipe = {
  name: [['Acme ', 3]],
  names: 0,
  former: 0,
  addresses: 0,
  listings: 1,
  items: 0,
  address: [['acme', 1]],
  isManager: false,
};

/** Returns a recipe that differs from the given one in one part. */
export function mutated(recipe: Recipe, random: Random): Recipe {
  const upTo = (most: number) => Math.floor(random.unit() * most);
  const changes: readonly (() => Partial<Recipe>)[] = [
    () => ({ name: mutatedRuns(recipe.name, random) }),
    () => ({ name: mutatedRuns(recipe.name, random) }),
    () => ({ name: mutatedRuns(recipe.name, random) }),
    () => ({ names: upTo(1_000) }),
    () => ({ former: upTo(1_000) }),
    () => ({ listings: upTo(1_000) }),
    () => ({ addresses: upTo(1_000) }),
    () => ({ address: mutatedRuns(recipe.address, random) }),
    () => ({ items: upTo(1_000) }),
    () => ({ isManager: !recipe.isManager }),
  ];
  return { ...recipe, ...changes[upTo(changes.length)]?.() };
}

function mutatedRuns(runs: Runs, random: Random): Runs {
  const at = Math.floor(random.unit() * runs.length);
  const token = ODD.tokens[Math.floor(random.unit() * ODD.tokens.length)] ?? 'a';
  const run = [token, 1 + Math.floor(random.unit() ** 2 * 300)] as const;
  const choice = random.unit();
  if (choice < 0.4 || runs.length === 0) return [...runs.slice(0, at), run, ...runs.slice(at)].slice(0, 8);
  if (choice < 0.6) return runs.toSpliced(at, 1);
  if (choice < 0.8) return runs.toSpliced(at, 1, run);
  return runs.toSpliced(at, 1, [runs[at]?.[0] ?? 'a', run[1]]);
}

/** Returns an identifier of at most 256 characters. */
export function identifierOf({ name }: Recipe): string {
  return textOf(name, 256) || 'a';
}

/** Returns the record, if the catalogue would accept it. */
export function recordOf(recipe: Recipe): Brand | undefined {
  const { names, former, addresses, listings, items, isManager } = recipe;
  const text = (number: number) =>
    `${number.toString(36)} ${textOf(recipe.name, LONGEST_TEXT - 8)} ${number % 10}`;
  let bytesLeft = MOST_BYTES;
  const some = <Item>(count: number, item: (number: number) => Item): Item[] => {
    const made: Item[] = [];
    for (let number = 0; number < count; number += 1) {
      const one = item(number);
      bytesLeft -=
        Buffer.byteLength(typeof one === 'string' ? one : Object.values(one as object).join('')) + 20;
      if (bytesLeft < 0) break;
      made.push(one);
    }
    return made;
  };
  const brand = Brand.fromPartial({
    id: 'hostile',
    type: isManager ? BrandType.SUPERINVESTOR : BrandType.STOCK,
    rank: 900,
    name: text(0),
    names: some(names, (number) => text(number + 1)),
    history: isManager ? undefined : { formerly: some(former, (number) => `${text(number + 1)} (2007)`) },
    links: isManager
      ? undefined
      : { websites: some(addresses, (number) => `https://a${number}.${textOf(recipe.address, 200)}.com/`) },
    listings: isManager
      ? []
      : some(listings || 1, (number) => ({
          ticker: `A.A${number.toString(36).toUpperCase()}`,
          mic: ['XNAS', 'XETR', 'XLON', 'XMEX', 'ZZZZ'][number % 5] ?? '',
        })),
    company: isManager ? undefined : { industries: some(items, text), sector: text(1), industry: text(2) },
    manager: isManager ? { portfolioManager: text(3), firm: text(4) } : undefined,
    sources: [{ name: 'hostile' }],
  });
  return problemsOf(brand).length === 0 ? brand : undefined;
}

function textOf(runs: Runs, most: number): string {
  let text = '';
  for (const [token, times] of runs)
    for (let count = 0; count < times && text.length + token.length <= most; count += 1) text += token;
  return text.replaceAll(/\p{Surrogate}/gu, '').trim();
}
