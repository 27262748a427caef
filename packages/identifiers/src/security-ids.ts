import type { Brand } from '@brand-data/contracts';
import type { BrandKey } from './keys.ts';

/** Identifiers with a check digit, of a security or of its issuer, in the order in which they are tried. */
export type SecurityKind = 'isin' | 'cusip' | 'figi' | 'lei';

const CHECKS: ReadonlyMap<SecurityKind, (value: string) => boolean> = new Map([
  ['isin', isIsin],
  ['cusip', isCusip],
  ['figi', isFigi],
  ['lei', isLei],
]);
const KIND_BEFORE = /^(ISIN|CUSIP|FIGI|LEI)[\s:]+/;

/** Whether it is an ISIN (ISO 6166) whose check digit holds: country or agency, nine characters, a digit. */
export function isIsin(value: string): boolean {
  if (!/^[A-Z]{2}[A-Z0-9]{9}[0-9]$/.test(value)) return false;
  // A letter counts as two digits, and the doubling goes from the right.
  const digits = [...value].map(valueOfCharacter).join('');
  return doubleAddDouble([...digits].map(Number).reverse()) % 10 === 0;
}

/** Whether it is a CUSIP (ANSI X9.6) whose check digit holds: eight characters and a digit. */
export function isCusip(value: string): boolean {
  return /^[A-Z0-9*@#]{8}[0-9]$/.test(value) && endsInCheckDigit(value);
}

/** Whether it is a FIGI (ANSI X9.145) whose check digit holds: no vowels, "G" in the third place, a digit at its end. */
export function isFigi(value: string): boolean {
  return (
    /^(?!BS|BM|GG|GB|GH|KY|VG)[B-DF-HJ-NP-TV-Z]{2}G[B-DF-HJ-NP-TV-Z0-9]{8}[0-9]$/.test(value) &&
    endsInCheckDigit(value)
  );
}

/** Whether it is an LEI (ISO 17442) whose check digits hold: 18 characters and two digits. */
export function isLei(value: string): boolean {
  if (!/^[A-Z0-9]{18}[0-9]{2}$/.test(value)) return false;
  const digits = [...value].map(valueOfCharacter).join('');
  return [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1;
}

/** The CUSIP inside an ISIN of the United States or Canada. */
export function cusipOfIsin(isin: string): string | undefined {
  return /^(?:US|CA)/.test(isin) && isIsin(isin) ? isin.slice(2, -1) : undefined;
}

/** Keys of a company's securities and of its LEI, those whose check digits hold. */
export function securityKeys({ listings, stock, lei }: Brand): BrandKey[] {
  const isins = [...listings.map(({ isin }) => isin), stock?.isin ?? ''].map(normalId);
  const cusips = [...listings.map(({ cusip }) => cusip), stock?.cusip ?? '', ...isins.map(cusipOfIsin)];
  const figis = listings.flatMap(({ figi, compositeFigi, shareClassFigi }) => [
    shareClassFigi,
    compositeFigi,
    figi,
  ]);
  return [
    ...keysOf('isin', isins),
    ...keysOf('cusip', cusips),
    ...keysOf('figi', figis),
    ...keysOf('lei', [lei]),
  ];
}

/**
 * The security identifiers that a text may be: strict in form and check digit; case, spaces and hyphens do not count,
 * and the kind may stand before it ("ISIN: US0378331005").
 */
export function readSecurityIds(identifier: string): { readonly kind: SecurityKind; readonly key: string }[] {
  const text = identifier.normalize('NFKC').trim().toUpperCase();
  const named = KIND_BEFORE.exec(text)?.[1]?.toLowerCase();
  const value = normalId(text.replace(KIND_BEFORE, ''));
  return [...CHECKS]
    .filter(([kind, holds]) => (named ?? kind) === kind && holds(value))
    .map(([kind]) => ({ kind, key: `${kind}:${value}` }));
}

function keysOf(kind: SecurityKind, values: readonly (string | undefined)[]): BrandKey[] {
  const distinct = new Set(values.map((value) => normalId(value ?? '')));
  return [...distinct]
    .filter((value) => CHECKS.get(kind)?.(value))
    .map((value) => ({ key: `${kind}:${value}`, kind, strength: 'exact', value }));
}

function normalId(value: string): string {
  return value.replace(/[\s-]/g, '').toUpperCase();
}

/** The check digit makes up for all before it, every second of which counts twice from the left. */
function endsInCheckDigit(value: string): boolean {
  const body = [...value.slice(0, -1)].map(valueOfCharacter);
  return (doubleAddDouble(body) + Number(value.at(-1))) % 10 === 0;
}

/** The sum of the digits of each value, every second of which is doubled. Values are below 50. */
function doubleAddDouble(values: readonly number[]): number {
  let sum = 0;
  for (const [index, value] of values.entries()) {
    const counted = index % 2 === 0 ? value : value * 2;
    sum += Math.floor(counted / 10) + (counted % 10);
  }
  return sum;
}

/** Letters go on from 9, and the signs that CUSIPs have go on from "Z". */
function valueOfCharacter(character: string): number {
  const sign = '*@#'.indexOf(character);
  return sign >= 0 ? 36 + sign : Number.parseInt(character, 36);
}
