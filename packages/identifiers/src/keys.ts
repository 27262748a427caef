import { type Brand, BrandType } from '@brand-data/contracts';
import { domainKeys } from './domains.ts';
import { nameForms } from './names.ts';
import { type NamesOfBrand, namesOfBrand } from './names-of-brand.ts';
import { type SecurityKind, securityKeys } from './security-ids.ts';
import { siteNamesOf } from './site-names.ts';
import { formerTickerKeys, tickerKeys } from './tickers.ts';
import { weakFormsOf } from './weak-names.ts';

/** The kinds of identifiers. */
export type Kind = SecurityKind | 'ticker' | 'domain' | 'name' | 'superinvestor';

/** The strength of a match, strongest first. In the contracts, `site_name` is GROUP_WORD too. */
export type Strength = 'exact' | 'legal_form' | 'former' | 'group_word' | 'site_name' | 'spacing';

const STRENGTHS: readonly Strength[] = [
  'exact',
  'legal_form',
  'former',
  'group_word',
  'site_name',
  'spacing',
];

/** A key that finds a brand. */
export interface BrandKey {
  /** The kind, a colon and the normal form: "ticker:AAPL", "ticker:APC@XETR", "domain:apple.com", "name:apple". */
  readonly key: string;
  readonly kind: Kind;
  readonly strength: Strength;
  /** The record's own value: "AAPL", "XETR:APC", "apple.com", "Apple Inc.". */
  readonly value: string;
  /** The value's legal form, if the value itself is not known. */
  readonly form?: string;
}

/** All keys that find a brand, the strongest first. Each key comes once, with its greatest strength. */
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

/** Below zero if `a` is stronger. */
export function compareStrengths(a: Strength, b: Strength): number {
  return STRENGTHS.indexOf(a) - STRENGTHS.indexOf(b);
}

/** Whether a match of this strength counts only if a single company matches. */
export function isWeak(strength: Strength): boolean {
  return compareStrengths(strength, 'former') > 0;
}

/** The keys of a company's current and former names, without weak keys. A key may come more than once. */
function companyNameKeys({ current, former }: NamesOfBrand): BrandKey[] {
  return [
    ...current.flatMap((name) => nameKeys('name', name)),
    ...former
      .flatMap((name) => [...new Set([withoutYears(name), name])])
      .flatMap((name) => nameKeys('name', name))
      .map((key): BrandKey => ({ ...key, strength: 'former' })),
  ];
}

/** The weak keys of a company's current names: without words such as "Group", and without spaces. */
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

/** Only names and the firm's name find a manager. The firm's domain and ticker belong to the company. */
function superinvestorKeys({ current }: NamesOfBrand): BrandKey[] {
  return current.flatMap((name) => nameKeys('superinvestor', name));
}

function nameKeys(kind: 'name' | 'superinvestor', value: string): BrandKey[] {
  return nameForms(value).map(({ form, strength }) => ({ key: `${kind}:${form}`, kind, strength, value }));
}

/** Removes the years of use, which records add to a former name: "Daimler AG (2007–2022)". */
export function withoutYears(former: string): string {
  const text = former.trimEnd();
  if (!/[)）]$/.test(text)) return former;
  const inner = text.slice(0, -1);
  const open = Math.max(inner.lastIndexOf('('), inner.lastIndexOf('（'));
  const years = inner.slice(open + 1);
  return open >= 0 && /\d{4}/.test(years) && !/[)）]/.test(years) ? text.slice(0, open).trimEnd() : former;
}
