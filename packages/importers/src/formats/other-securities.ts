import { isShareOrReceipt, type SecurityType } from '@brand-data/identifiers';

/** What a security is called in a reason to leave it out, and the plural under which a report counts it. */
const LABELS: Readonly<
  Record<Exclude<SecurityType, 'share' | 'receipt'>, readonly [one: string, many: string]>
> = {
  preferred: ['a preferred share', 'preferred shares'],
  warrant: ['a warrant', 'warrants'],
  right: ['a right', 'rights'],
  unit: ['a unit of several securities', 'units'],
  note: ['a note, bond or hybrid', 'notes, bonds and hybrids'],
  certificate: ['a certificate of a bank', 'certificates'],
  fund: ['an exchange-traded product', 'exchange-traded products'],
};

/** Returns the labels of a type. Undefined for shares and receipts, and if the type is unknown. */
export function labelsOf(type: SecurityType | undefined): readonly [one: string, many: string] | undefined {
  return type === undefined || isShareOrReceipt(type) ? undefined : LABELS[type as keyof typeof LABELS];
}

const TEST = /\b(?:LSE USE ONLY|LSE INJECTOR|TEST (?:STOCK|SECURITY|INSTRUMENT|ISSUE))\b/i;

/** Tells whether the name is that of a listing with which an exchange tests its systems: "NASDAQ TEST STOCK". */
export function isTestListing(name: string): boolean {
  return TEST.test(name);
}
