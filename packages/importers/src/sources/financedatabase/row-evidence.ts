import { type CompanyName, compareNames, cusipOfIsin, isNamedAfter } from '@brand-data/identifiers';
import { isGerman, type Row } from './rows.ts';

/**
 * "name": the rows' names, or those in their descriptions, are equal, or one abbreviates the other.
 * "website": the names differ, but the website is the same, or is named after the other row's name.
 */
export type RowAgreement = 'name' | 'website' | 'other';

export function agreementOf(a: Row, b: Row): RowAgreement {
  if (a.issuer === undefined || b.issuer === undefined || areAtOdds(a, b)) return 'other';
  const areAlike = namesOn(a).some((one) => namesOn(b).some((other) => compareNames(one, other) !== 'other'));
  if (areAlike) return 'name';
  const isSameSite =
    (a.domain !== '' && a.domain === b.domain) ||
    isNamedAfter(a.domain, b.issuer) ||
    isNamedAfter(b.domain, a.issuer);
  return isSameSite ? 'website' : 'other';
}

/** Returns the row's own name, the name in its description, and its former names. */
function namesOn({ issuer, subject, formers }: Row): CompanyName[] {
  return [issuer, subject, ...formers].filter((name) => name !== undefined);
}

function namesMeet(a: CompanyName | undefined, b: CompanyName | undefined): boolean {
  return a !== undefined && b !== undefined && compareNames(a, b) !== 'other';
}

/** Tells whether the rows have descriptions of two companies and two websites, and neither equal names nor one address. */
export function areAtOdds(a: Row, b: Row): boolean {
  return (
    a.subject !== undefined &&
    b.subject !== undefined &&
    a.domain !== '' &&
    b.domain !== '' &&
    a.domain !== b.domain &&
    !namesMeet(a.subject, b.subject) &&
    !(namesMeet(a.issuer, b.issuer) && haveOneAddress(a, b))
  );
}

export function identifiersDiffer(a: Row, b: Row): boolean {
  const differ = (one: string, other: string) => one !== '' && other !== '' && one !== other;
  return differ(a.isin, b.isin) || differ(a.shareClassFigi, b.shareClassFigi);
}

export function haveOneIsin(a: Row, b: Row): boolean {
  return a.isin !== '' && a.isin === b.isin;
}

export function areOfTwoIssuers(a: Row, b: Row): boolean {
  if (a.mic !== b.mic) return false;
  return differ(issuerCodeOf(a), issuerCodeOf(b)) || differ(issuerNumberOf(a), issuerNumberOf(b));
}

function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Returns the issuer's number in a North American ISIN: "88162G" of Tetra Tech, "88162F" of TETRA Technologies. */
function issuerNumberOf({ isin }: Row): string | undefined {
  return cusipOfIsin(isin)?.slice(0, 6);
}

/**
 * Returns the issuer's code, if the exchange gives each issuer only one. In Tokyo this is a ticker of four characters; preferred
 * shares have five. In Seoul it is the first five of six characters, and the sixth is the kind of share. In Toronto it is the
 * part before the hyphen; delisted shares may have had another one.
 */
function issuerCodeOf({ mic, ticker, delisted }: Row): string | undefined {
  if (mic === 'XKRX' || mic === 'XKOS') return ticker.length === 6 ? ticker.slice(0, 5) : undefined;
  if (mic === 'XTKS') return ticker.length === 4 ? ticker : undefined;
  return mic === 'XTSE' && !delisted ? ticker.split('-', 1)[0] : undefined;
}

/**
 * Tells whether the rows are two related companies, such as "SoftBank Corp." and "SoftBank Group Corp.", or "Toho Co." and "Toho
 * Holdings". Many spellings of a name omit "Group" or "Holdings". But if only one of two names has the word, two tickers of one
 * exchange or two websites show two companies. German exchanges are an exception, because they abbreviate names.
 */
export function areSisters(a: Row, b: Row): boolean {
  if (a.issuer === undefined || b.issuer === undefined) return false;
  if (a.issuer.collective === b.issuer.collective || haveOneCollective(a, b)) return false;
  if (compareNames(a.issuer, b.issuer) !== 'equal') return false;
  const areTwoOfOne =
    a.mic === b.mic && !isGerman(a) && a.ticker.split('-', 1)[0] !== b.ticker.split('-', 1)[0];
  return (areTwoOfOne || (a.domain !== '' && b.domain !== '' && a.domain !== b.domain)) && !haveOneIsin(a, b);
}

/**
 * How well the legal forms, "Group" and "Holdings" of two equal names agree. Each that is equal adds its value. `none` if one
 * contradicts. One that only one of the names has adds nothing.
 */
export const FIT = { none: -1, collective: 1, legalForm: 2 } as const;

export function fitOf(a: Row, b: Row): number {
  const differ = (one: string, other: string) => one !== '' && other !== '' && one !== other;
  const [legalsOfA, legalsOfB] = [legalFormsOf(a), legalFormsOf(b)];
  const isSame = legalsOfA.some((legal) => legalsOfB.includes(legal));
  const isSameCollective = haveOneCollective(a, b);
  if (!isSameCollective && differ(a.issuer?.collective ?? '', b.issuer?.collective ?? '')) return FIT.none;
  if (!isSame && legalsOfA.length > 0 && legalsOfB.length > 0) return FIT.none;
  return (isSame ? FIT.legalForm : 0) + (isSameCollective ? FIT.collective : 0);
}

function haveOneCollective(a: Row, b: Row): boolean {
  return sayingTheSame(a).some((one) =>
    sayingTheSame(b).some((other) => one.collective === other.collective),
  );
}

function sayingTheSame({ issuer, subject }: Row): CompanyName[] {
  if (issuer === undefined) return [];
  return subject !== undefined && compareNames(subject, issuer) === 'equal' ? [issuer, subject] : [issuer];
}

/**
 * English legal forms that descriptions also use for forms of other countries ("Suominen Corporation" for an Oyj). Therefore they
 * do not count as evidence in a description.
 */
const ENGLISH: ReadonlySet<string> = new Set(['corp', 'inc', 'ltd']);

/** Returns the legal forms in the row's name and in its description. The description often has the form if the name omits it. */
function legalFormsOf({ issuer, subject }: Row): string[] {
  const own = issuer === undefined || issuer.legal === '' ? [] : [issuer.legal];
  if (issuer === undefined || subject === undefined || subject.legal === '') return own;
  if (compareNames(issuer, subject) === 'other') return own;
  return own.length === 0 && ENGLISH.has(subject.legal) ? [] : [...own, subject.legal];
}

export function haveOneAddress(a: Row, b: Row): boolean {
  return (
    a.zipcode !== '' && a.zipcode === b.zipcode && a.country === b.country && fitOf(a, b) >= FIT.legalForm
  );
}
