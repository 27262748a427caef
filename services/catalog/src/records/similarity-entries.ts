import { type Brand, BrandType } from '@brand-data/contracts';
import { coreName, namesOfBrand, normalName, soundKeys } from '@brand-data/identifiers';

/**
 * From this rank on, people know a company by the first word of its name too, and its other names are indexed as well. Below it,
 * a record has one entry in place of two, because every entry makes imports slower and callers hardly ever misspell these names.
 */
export const WELL_KNOWN = 700;
const MOST_NAMES = 8;
export const SHORTEST_WORD = 4;
/** Words by which people know no company. */
export const SAYS_NOTHING = /^(?:gr(?:uppo|ou?pe?|upo?)|holdings?|company|companhia|compagnie)$/;
/** Marks the entries of superinvestors. Look-ups without superinvestors do not read them. */
export const INVESTOR = '@';

/** Returns the index entries by which misspelt names find a record: two for each name, or one if the record is little known. */
export function similarityEntriesOf(brand: Brand): string[] {
  if (brand.type === BrandType.SUPERINVESTOR)
    return entriesOfNames(namesOfInvestor(namesOfBrand(brand).current)).map((entry) => INVESTOR + entry);
  const [displayed = '', ...others] = namesOfBrand(brand).current.slice(0, MOST_NAMES);
  const name = coreName(displayed);
  if (brand.rank < WELL_KNOWN) return soundKeys(name).slice(0, 1);
  const names = [name, firstWord(name), ...others.map(coreName)];
  return entriesOfNames(names.filter((one) => one !== '').slice(0, MOST_NAMES));
}

function namesOfInvestor(names: readonly string[]): string[] {
  const all = names.slice(0, MOST_NAMES).map(normalName);
  return [lastWord(all[0] ?? ''), ...all].filter((one) => one !== '').slice(0, MOST_NAMES);
}

function entriesOfNames(names: readonly string[]): string[] {
  return [...new Set(names.flatMap(soundKeys))];
}

export function firstWord(name: string): string {
  const [word = ''] = name.split(' ');
  return word.length < SHORTEST_WORD || SAYS_NOTHING.test(word) ? '' : word;
}

export function lastWord(name: string): string {
  const word = name.split(' ').at(-1) ?? '';
  return word.length < SHORTEST_WORD ? '' : word;
}
