import { type Brand, BrandType } from '@brand-data/contracts';
import { domainKeys } from './domains.ts';
import { nameForms } from './names.ts';
import { type SecurityKind, securityKeys } from './security-ids.ts';
import { tickerKeys } from './tickers.ts';

/** What sort of thing an identifier is, in the order of precedence. */
export type Kind = SecurityKind | 'ticker' | 'domain' | 'name' | 'superinvestor';

/** How much had to be left off for a match, strongest first (contracts' MatchStrength). */
export type Strength = 'exact' | 'legal_form' | 'former';

const STRENGTHS: readonly Strength[] = ['exact', 'legal_form', 'former'];

/** One way in which a brand is found. */
export interface BrandKey {
  /** Normal form behind the kind: "ticker:AAPL", "ticker:APC@XETR", "domain:apple.com", "name:apple". */
  readonly key: string;
  readonly kind: Kind;
  readonly strength: Strength;
  /** The record's own value: "AAPL", "XETR:APC", "apple.com", "Apple Inc.". */
  readonly value: string;
  /** The value's legal form, where that alone is known of it. */
  readonly form?: string;
}

/** All ways in which a brand is found, each key once at its strongest, strongest first. */
export function keysOfBrand(brand: Brand): BrandKey[] {
  const keys =
    brand.type === BrandType.SUPERINVESTOR
      ? superinvestorKeys(brand)
      : [
          ...securityKeys(brand),
          ...tickerKeys(brand.listings),
          ...domainKeys(brand),
          ...companyNameKeys(brand),
        ];
  const strongest = new Map<string, BrandKey>();
  for (const strength of STRENGTHS) {
    for (const key of keys) {
      if (key.strength === strength && !strongest.has(key.key)) strongest.set(key.key, key);
    }
  }
  return [...strongest.values()];
}

/** Below zero: `a` is the stronger. */
export function compareStrengths(a: Strength, b: Strength): number {
  return STRENGTHS.indexOf(a) - STRENGTHS.indexOf(b);
}

/** Of a company's names, current and former: each with its strength, some keys more than once. */
export function companyNameKeys(brand: Brand): BrandKey[] {
  return [
    ...[brand.name, ...brand.names].flatMap((name) => nameKeys('name', name)),
    ...(brand.history?.formerly ?? [])
      .flatMap((former) => [...new Set([withoutYears(former), former])])
      .flatMap((name) => nameKeys('name', name))
      .map((key): BrandKey => ({ ...key, strength: 'former' })),
  ];
}

/** A manager is found by name or firm and by nothing else: the firm's domain and ticker are the company's. */
function superinvestorKeys(brand: Brand): BrandKey[] {
  const { portfolioManager = '', firm = '' } = brand.manager ?? {};
  return [brand.name, ...brand.names, portfolioManager, firm].flatMap((name) =>
    nameKeys('superinvestor', name),
  );
}

function nameKeys(kind: 'name' | 'superinvestor', value: string): BrandKey[] {
  return nameForms(value).map(({ form, strength }) => ({ key: `${kind}:${form}`, kind, strength, value }));
}

/** Records write when a former name was in use: "Daimler AG (2007–2022)". */
function withoutYears(former: string): string {
  return former.replace(/\s*[(（][^()（）]*\d{4}[^()（）]*[)）]\s*$/, '');
}
