import type { SecurityKind } from '../keys/brand-key.ts';
import { CHECKS, KIND_BEFORE, normalId, readSecurityIds } from '../keys/security-ids.ts';

/** The form of a security identifier, whatever its check digit. Hardly any other text has so many digits. */
const FORMS: ReadonlyMap<SecurityKind, { form: RegExp; length: number }> = new Map([
  ['lei', { form: /^(?=(?:\D*\d){4})[A-Z0-9]{18}\d\d$/, length: 20 }],
  ['figi', { form: /^(?!BS|BM|GG|GB|GH|KY|VG)[B-DF-HJ-NP-TV-Z]{2}G[B-DF-HJ-NP-TV-Z0-9]{8}\d$/, length: 12 }],
  ['isin', { form: /^(?=(?:\D*\d){4})[A-Z]{2}[A-Z0-9]{9}\d$/, length: 12 }],
  ['cusip', { form: /^(?=(?:\D*\d){5})[A-Z0-9*@#]{8}\d$/, length: 9 }],
]);
/** Identifiers with one character too many or too few. */
const OTHER_LENGTHS: ReadonlyMap<SecurityKind, RegExp> = new Map([
  ['figi', /^BBG(?:[B-DF-HJ-NP-TV-Z0-9]{8}|[B-DF-HJ-NP-TV-Z0-9]{10})$/],
  ['isin', /^(?=(?:\D*\d){7})[A-Z]{2}(?:[A-Z0-9]{9}|[A-Z0-9]{11})$/],
  ['cusip', /^(?=(?:\D*\d){7})(?:[A-Z0-9]{8}|[A-Z0-9]{10})$/],
]);

/** Returns what is wrong with a text that has the form of a security identifier, or names its kind ("ISIN: …"). */
export function flawOfSecurityId(
  identifier: string,
): { readonly explanation: string; readonly instead: readonly string[] } | undefined {
  if (readSecurityIds(identifier).length > 0) return undefined;
  const text = identifier.normalize('NFKC').trim().toUpperCase();
  const named = KIND_BEFORE.exec(text)?.[1]?.toLowerCase();
  const value = normalId(text.replace(KIND_BEFORE, ''));
  for (const [kind, { form }] of FORMS) {
    if ((named ?? kind) !== kind || !form.test(value)) continue;
    const digit = kind === 'lei' ? 'check digits are' : 'check digit is';
    const explanation = `It has the form of ${nounOf(kind)}, but its ${digit} wrong: a character is mistyped.`;
    return { explanation, instead: withRightCheck(kind, value) };
  }
  for (const [kind, { length }] of FORMS) {
    if (named !== kind && !(named === undefined && OTHER_LENGTHS.get(kind)?.test(value))) continue;
    const explanation =
      value.length === length
        ? `It does not have the form of ${nounOf(kind)}.`
        : `If ${nounOf(kind)} is meant, it must have ${length} characters. This has ${value.length}.`;
    return { explanation, instead: value.length === length - 1 ? withRightCheck(kind, `${value}0`) : [] };
  }
  return undefined;
}

/** Returns the identifier with the check digit that its other characters require. */
function withRightCheck(kind: SecurityKind, value: string): string[] {
  const length = kind === 'lei' ? 2 : 1;
  const body = value.slice(0, -length);
  const digits = Array.from({ length: 10 ** length }, (_, number) => String(number).padStart(length, '0'));
  return digits
    .map((each) => body + each)
    .filter((one) => CHECKS.get(kind)?.(one))
    .slice(0, 1);
}

function nounOf(kind: SecurityKind): string {
  return `${kind === 'cusip' || kind === 'figi' ? 'a' : 'an'} ${kind.toUpperCase()}`;
}
