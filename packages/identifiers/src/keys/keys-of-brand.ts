import { type Brand, BrandType } from '@brand-data/contracts';
import { nameForms } from '../names/names.ts';
import { type NamesOfBrand, namesOfBrand, withoutYears } from '../names/names-of-brand.ts';
import { weakFormsOf } from '../names/weak-names.ts';
import { type BrandKey, STRENGTHS, type Strength } from './brand-key.ts';
import { domainKeys } from './domains.ts';
import { securityKeys } from './security-ids.ts';
import { siteNamesOf } from './site-names.ts';
import { formerTickerKeys, tickerKeys } from './tickers.ts';

/** Returns all keys that find a brand, the strongest first. Each key comes once, with its greatest strength. */
export function keysOfBrand(brand: Brand): BrandKey[] {
  const names = namesOfBrand(brand);
  const keys =
    brand.type === BrandType.SUPERINVESTOR
      ? superinvestorKeys(names)
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
  for (const strength of STRENGTHS) {
    for (const key of keys) {
      if (key.strength === strength && !strongest.has(key.key)) strongest.set(key.key, key);
    }
  }
  return [...strongest.values()];
}

/** Returns the keys of a company's current and former names, without weak keys. A key may come more than once. */
function companyNameKeys({ current, former }: NamesOfBrand): BrandKey[] {
  return [
    ...current.flatMap((name) => nameKeys('name', name)),
    ...former
      .flatMap((name) => [...new Set([withoutYears(name), name])])
      .flatMap((name) => nameKeys('name', name))
      .map((key): BrandKey => ({ ...key, strength: 'former' })),
  ];
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

/**
 * Returns the keys of a manager, which only names and the firm's name give. The firm's domain and ticker belong to the company.
 */
function superinvestorKeys({ current }: NamesOfBrand): BrandKey[] {
  return current.flatMap((name) => nameKeys('superinvestor', name));
}

function nameKeys(kind: 'name' | 'superinvestor', value: string): BrandKey[] {
  return nameForms(value).map(({ form, strength }) => ({ key: `${kind}:${form}`, kind, strength, value }));
}
