/** Identifiers of a security or its issuer with a check digit, in the order of precedence. */
export const SECURITY_KINDS = ['isin', 'cusip', 'figi', 'lei'] as const;
export type SecurityKind = (typeof SECURITY_KINDS)[number];

export const IDENTIFIER_KINDS = [...SECURITY_KINDS, 'ticker', 'domain', 'name', 'superinvestor'] as const;
export type IdentifierKind = (typeof IDENTIFIER_KINDS)[number];

/** Strongest first. In the contracts, `site_name` is GROUP_WORD too. */
const STRENGTHS = [
  'exact',
  'legal_form',
  'former',
  'group_word',
  'site_name',
  'spacing',
  'leading_words',
] as const;
export type Strength = (typeof STRENGTHS)[number];

export interface BrandKey {
  /** The kind, a colon and the normal form: "ticker:AAPL", "ticker:APC@XETR", "domain:apple.com", "name:apple". */
  readonly key: string;
  readonly kind: IdentifierKind;
  readonly strength: Strength;
  /** The record's own value: "AAPL", "XETR:APC", "apple.com", "Apple Inc.". */
  readonly value: string;
  /** The value's legal form, if the value itself is not known. */
  readonly form?: string;
}

/** Compares two strengths. The result is below zero if `a` is stronger. */
export function compareStrengths(a: Strength, b: Strength): number {
  return STRENGTHS.indexOf(a) - STRENGTHS.indexOf(b);
}

/** Checks whether a match of this strength counts only if a single company matches. */
export function isWeak(strength: Strength): boolean {
  return compareStrengths(strength, 'former') > 0;
}
