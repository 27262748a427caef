import type { Brand } from '@brand-data/contracts';
import type { BrandKey, SecurityKind } from './brand-key.ts';

/** Whether a value has the form of its kind and a valid check digit. */
export const CHECKS: ReadonlyMap<SecurityKind, (value: string) => boolean> = new Map([
  ['isin', isIsin],
  ['cusip', isCusip],
  ['figi', isFigi],
  ['lei', isLei],
]);
export const KIND_BEFORE = /^(ISIN|CUSIP|FIGI|LEI)[\s:]+/;
const NORMAL_ID = /^[A-Z0-9]+$/;
const NUMBERS = new Uint8Array(128);
for (const [number, character] of [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ*@#'].entries())
  NUMBERS[character.charCodeAt(0)] = number;

/** Checks whether the value is an ISIN (ISO 6166) with a valid check digit: country or agency, nine characters, a digit. */
export function isIsin(value: string): boolean {
  if (!/^[A-Z]{2}[A-Z0-9]{9}[0-9]$/.test(value)) return false;
  let sum = 0;
  let factor = 1;
  // A letter stands for two digits. Every second digit from the right is doubled.
  for (let at = value.length - 1; at >= 0; at -= 1) {
    const number = numberAt(value, at);
    sum += digitSum((number % 10) * factor);
    factor = 3 - factor;
    if (number < 10) continue;
    sum += digitSum(Math.floor(number / 10) * factor);
    factor = 3 - factor;
  }
  return sum % 10 === 0;
}

/** Checks whether the value is a CUSIP (ANSI X9.6) with a valid check digit: eight characters and a digit. */
export function isCusip(value: string): boolean {
  return /^[A-Z0-9*@#]{8}[0-9]$/.test(value) && endsInCheckDigit(value);
}

/** Checks whether the value is a FIGI (ANSI X9.145) with a valid check digit: no vowels, "G" in the third place, a final digit. */
export function isFigi(value: string): boolean {
  return (
    /^(?!BS|BM|GG|GB|GH|KY|VG)[B-DF-HJ-NP-TV-Z]{2}G[B-DF-HJ-NP-TV-Z0-9]{8}[0-9]$/.test(value) &&
    endsInCheckDigit(value)
  );
}

/** Checks whether the value is an LEI (ISO 17442) with valid check digits: 18 characters and two digits. */
export function isLei(value: string): boolean {
  if (!/^[A-Z0-9]{18}[0-9]{2}$/.test(value)) return false;
  let rest = 0;
  for (let at = 0; at < value.length; at += 1) {
    const number = numberAt(value, at);
    rest = (rest * (number < 10 ? 10 : 100) + number) % 97;
  }
  return rest === 1;
}

/** Returns the CUSIP inside an ISIN of the United States or Canada. The check digits are not validated. */
export function cusipOfIsin(isin: string): string | undefined {
  return /^(?:US|CA)[A-Z0-9]{10}$/.test(isin) ? isin.slice(2, -1) : undefined;
}

/** Returns the CUSIP in a security's ISIN, else the stated one. '' if neither is valid. */
export function cusipOf(isin: string, stated: string): string {
  return [cusipOfIsin(isin) ?? '', stated].find(isCusip) ?? '';
}

/** Returns keys of a company's securities and of its LEI. Omits identifiers with a wrong check digit. */
export function securityKeys({ listings, stock, lei }: Brand): BrandKey[] {
  const isins = valid('isin', [...listings.map(({ isin }) => isin), stock?.isin]);
  const cusips = [...listings.map(({ cusip }) => cusip), stock?.cusip, ...isins.map(cusipOfIsin)];
  const figis = listings.flatMap((each) => [each.shareClassFigi, each.compositeFigi, each.figi]);
  return [
    ...keysOf('isin', isins),
    ...keysOf('cusip', valid('cusip', cusips)),
    ...keysOf('figi', valid('figi', figis)),
    ...keysOf('lei', valid('lei', [lei])),
  ];
}

/** Returns the valid security identifiers that a text may be, also with its kind before it ("ISIN: US0378331005"). */
export function readSecurityIds(identifier: string): { readonly kind: SecurityKind; readonly key: string }[] {
  const text = identifier.normalize('NFKC').trim().toUpperCase();
  const named = KIND_BEFORE.exec(text)?.[1]?.toLowerCase();
  const value = normalId(text.replace(KIND_BEFORE, ''));
  return [...CHECKS]
    .filter(([kind, holds]) => (named ?? kind) === kind && holds(value))
    .map(([kind]) => ({ kind, key: `${kind}:${value}` }));
}

function keysOf(kind: SecurityKind, values: readonly string[]): BrandKey[] {
  return values.map((value) => ({ key: `${kind}:${value}`, kind, strength: 'exact', value }));
}

function valid(kind: SecurityKind, values: readonly (string | undefined)[]): string[] {
  const distinct = new Set(values.flatMap((value) => (value ? normalId(value) : [])));
  return [...distinct].filter((value) => CHECKS.get(kind)?.(value));
}

/** Returns the value without spaces and hyphens, in upper case. */
export function normalId(value: string): string {
  return NORMAL_ID.test(value) ? value : value.replace(/[\s-]/g, '').toUpperCase();
}

/** Checks whether the last digit completes the sum to a multiple of 10. Every second character before it is doubled. */
function endsInCheckDigit(value: string): boolean {
  const last = value.length - 1;
  let sum = numberAt(value, last);
  for (let at = 0; at < last; at += 1) sum += digitSum(numberAt(value, at) * (at % 2 === 0 ? 1 : 2));
  return sum % 10 === 0;
}

function digitSum(number: number): number {
  return Math.floor(number / 10) + (number % 10);
}

/** Returns the value of a character: letters follow 9, and the signs in CUSIPs follow "Z". */
function numberAt(value: string, at: number): number {
  return NUMBERS[value.charCodeAt(at)] ?? 0;
}
