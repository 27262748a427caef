import { type Brand, BrandType } from '@brand-data/contracts';
import { nameForms } from '../names/names.ts';
import { type NamesOfBrand, namesOfBrand, withoutYears } from '../names/names-of-brand.ts';
import { weakFormsOf } from '../names/weak-names.ts';
import { type BrandKey, compareStrengths, type Strength } from './brand-key.ts';
import { domainKeys } from './domains.ts';
import { securityKeys } from './security-ids.ts';
import { siteNamesOf } from './site-names.ts';
import { formerTickerKeys, tickerKeys } from './tickers.ts';

/** Returns all keys that find a brand, the strongest first. Each key comes once, with its greatest strength. */
export function keysOfBrand(brand: Brand): BrandKey[] {
  const names = namesOfBrand(brand);
  // Only names and the firm's name find a manager. The firm's domain and ticker belong to the company.
  const keys =
    brand.type === BrandType.SUPERINVESTOR
      ? names.current.flatMap((name) => nameKeys('superinvestor', name))
      : [
          ...securityKeys(brand),
          ...tickerKeys(brand),
          ...formerTickerKeys(brand),
          ...domainKeys(brand),
          ...companyNameKeys(names),
          ...weakNameKeys(names),
          ...siteNamesOf(brand).map(({ form, name }) => nameKey(form, 'site_name', name)),
        ];
  const strongest = new Map<string, BrandKey>();
  for (const key of keys.toSorted((a, b) => compareStrengths(a.strength, b.strength)))
    if (!strongest.has(key.key)) strongest.set(key.key, key);
  return [...strongest.values()];
}

/** Returns the keys of a company's current and former names, without weak keys. A key may come more than once. */
function companyNameKeys({ current, former }: NamesOfBrand): BrandKey[] {
  const keys = (names: readonly string[]) => names.flatMap((name) => nameKeys('name', name));
  const formerly = former.flatMap((name) => [...new Set([withoutYears(name), name])]);
  return [...keys(current), ...keys(formerly).map((key) => ({ ...key, strength: 'former' as const }))];
}

/** Returns the weak keys of a company's current names: without words such as "Group", and without spaces. */
function weakNameKeys({ current }: NamesOfBrand): BrandKey[] {
  return current.flatMap((name) => {
    const { withoutGroupWords, joined } = weakFormsOf(name);
    return [
      ...withoutGroupWords.map((form) => nameKey(form, 'group_word', name)),
      ...joined.map((form) => nameKey(form, 'spacing', name)),
    ];
  });
}

function nameKey(form: string, strength: Strength, value: string): BrandKey {
  return { key: `name:${form}`, kind: 'name', strength, value };
}

function nameKeys(kind: 'name' | 'superinvestor', value: string): BrandKey[] {
  return nameForms(value).map(({ form, strength }) => ({ key: `${kind}:${form}`, kind, strength, value }));
}
