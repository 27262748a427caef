import { mostSimilar, similarityQuery } from '@brand-data/catalog/src/lookup/similar-names.ts';
import { indexKeysOf, keyFromIndex } from '@brand-data/catalog/src/records/index-keys.ts';
import { mergeBrands, recordOfOne } from '@brand-data/catalog/src/records/merge.ts';
import { similarityEntriesOf } from '@brand-data/catalog/src/records/similarity-entries.ts';
import type { Brand } from '@brand-data/contracts';
import {
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

const LOGO_HOST = 'https://logos.example';

/** A computation on a record that the catalogue accepts, at most 5 ms of processor time. */
export type Derivation = (brand: Brand) => unknown;

/** The values that services compute for a stored record, or for a record that an import brings. */
export const OF_RECORDS: Readonly<Record<string, Derivation>> = {
  problems: (brand) => problemsOf(brand),
  keys: (brand) => keysOfBrand(brand).flatMap(indexKeysOf),
  similarity: (brand) => similarityEntriesOf({ ...brand, rank: 900 }),
  identity: (brand) => identityOf(brand).names(),
  evidence: (brand) => identityOf(brand).evidence(),
  secondary: (brand) => {
    const identity = identityOf(brand);
    return identity.keys.flatMap((key) => secondaryKeys(identity, key) ?? []);
  },
  link: (brand) => linkBetween(identityOf(brand), identityOf(twinOf(brand))),
  'refused link': (brand) => whyNotLinked(identityOf(brand), identityOf(twinOf(brand))),
  merge: (brand) =>
    mergeBrands([
      { source: 'one', brand, isQuote: false },
      { source: 'two', brand: twinOf(brand), isQuote: false },
    ]),
  alone: (brand) => recordOfOne({ source: 'one', brand, isQuote: false }),
  grouped: (brand) => presentGrouped(shown(brand), { logoHost: LOGO_HOST }),
  flat: (brand) => presentFlat(shown(brand), { logoHost: LOGO_HOST }),
  'security names': (brand) => typeOfSecurity({ name: brand.name }),
};

/** The values that services compute for an identifier of at most 256 characters. */
export const OF_IDENTIFIERS: Readonly<Record<string, (identifier: string) => unknown>> = {
  readings: (identifier) => readIdentifier(identifier, { superinvestors: true }),
  explanation: (identifier) => explainMiss(identifier, { superinvestors: true }),
  suggestions: (identifier) => similarityQuery({ identifier, superinvestors: true }),
};

/** Returns a look-up of the identifier that finds the record. */
export function lookUp(identifier: string, brand: Brand): () => unknown {
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
