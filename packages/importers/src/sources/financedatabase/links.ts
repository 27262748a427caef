import {
  type CompanyName,
  type Comparison,
  compareNames,
  compareTexts,
  cusipOfIsin,
  exchangeOfMic,
  type NameAgreement,
  showOneCompany,
} from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import { compareRows, FIT, fitOf, haveOneIsin, identifiersDiffer } from './row-evidence.ts';
import { grouped, isGerman, pairsOf, type Row, sureIdentifiersOf } from './rows.ts';

/** The reasons to join two listings, the strongest evidence first. */
export const MERGE = {
  germanFigi: 'the same FIGI and the same ticker in Germany',
  identifier: 'an identifier and the name',
  conflicting: 'an identifier and the name, though other identifiers differ',
  website: 'an identifier and the website',
  germanTicker: 'the same ticker in Germany and the name',
  nameAndPlace: 'the name and the website or the address',
  name: 'the name, and nothing that contradicts it',
  renamed: 'an identifier, though one listing has a newer name',
  nameless: 'an identifier, though one listing has no name',
} as const;
export type MergeReason = (typeof MERGE)[keyof typeof MERGE];
const STRENGTHS: readonly MergeReason[] = Object.values(MERGE);

/** A link: two listings that may belong to one company, and why. */
export interface Merge {
  a: Row;
  b: Row;
  names: NameAgreement;
  reason: MergeReason;
}

/** Returns the links between rows that have names, the strongest first. Rows are compared if they have one of these in common. */
export function linksBetween(rows: readonly Row[]): Merge[] {
  const links = [
    ...[...grouped(rows, sureIdentifiersOf).values()].flatMap((holders) => linksOf(holders)),
    ...[...grouped(rows, cusipOf)].flatMap(([cusip, holders]) => linksOf(holders, ofCusip(cusip, holders))),
    ...[...grouped(rows.filter(isGerman), ({ ticker }) => [ticker]).values()].flatMap((holders) =>
      linksOf(holders),
    ),
    ...[...grouped(rows, formsOf).values()].flatMap((holders) => linksOf(holders, ofName(holders))),
  ];
  return links.sort(byStrength);
}

function linksOf(holders: readonly Row[], { haveOneCusip, areNamesakes }: SharedKey = {}): Merge[] {
  return pairsOf(holders).flatMap(([a, b]) => {
    const comparison = compareRows(a, b, haveOneCusip?.(a, b));
    const mayBeNamesakes = comparison.contradictions.length === 0 && areNamesakes?.(a, b) === true;
    const reason = reasonOf(a, b, comparison) ?? (mayBeNamesakes ? MERGE.name : undefined);
    return reason === undefined ? [] : [{ a, b, names: comparison.names, reason }];
  });
}

function reasonOf(a: Row, b: Row, comparison: Comparison): MergeReason | undefined {
  const { facts } = comparison;
  const isNamed = facts.has('name');
  const isIdentified = facts.has('figi') || facts.has('security');
  const differ = identifiersDiffer(a, b);
  if (!showOneCompany(comparison))
    return isIdentified && !differ && (isRenamed(a, b) || isRenamed(b, a)) ? MERGE.renamed : undefined;
  if (facts.has('figi') && facts.has('listing') && (isNamed || isPlausible(a, b))) return MERGE.germanFigi;
  if (isNamed && isIdentified) return differ ? MERGE.conflicting : MERGE.identifier;
  if (isNamed) return facts.has('listing') ? MERGE.germanTicker : MERGE.nameAndPlace;
  return facts.has('domain') && !differ ? MERGE.website : undefined;
}

/** What a key that rows share says beside what the rows say. */
interface SharedKey {
  haveOneCusip?: (a: Row, b: Row) => boolean;
  areNamesakes?: (a: Row, b: Row) => boolean;
}

/**
 * A CUSIP that rows of two companies have is no fact, because most CUSIPs were looked up by ticker. If an ISIN contains it, a former
 * name confirms it.
 */
function ofCusip(cusip: string, holders: readonly Row[]): SharedKey {
  const isOfOne = pairsOf(holders).every(([a, b]) => {
    const { names, contradictions } = compareRows(a, b);
    return names !== 'other' && contradictions.length === 0;
  });
  const isWithin = ({ isin }: Row) => cusipOfIsin(isin) === cusip;
  return {
    haveOneCusip: (a, b) => isOfOne || ((isWithin(a) || isWithin(b)) && compareRows(a, b).names === 'former'),
  };
}

function ofName(holders: readonly Row[]): SharedKey {
  const sites = new Set(holders.map(({ domain }) => domain).filter((domain) => domain !== ''));
  return { areNamesakes: (a, b) => isSameIssuer(a, b, holders, sites.size > 1) };
}

function cusipOf({ cusip }: Row): string[] {
  return cusip === '' ? [] : [cusip];
}

function formsOf(row: Row): string[] {
  return [...new Set(fullNamesOf(row).flatMap(({ forms }) => forms))];
}

/** Returns the row's name, and the one in its description if it is the same name in full: Berlin abbreviates. */
function fullNamesOf({ issuer, subject }: Row): CompanyName[] {
  if (issuer === undefined) return [];
  return subject !== undefined && compareNames(issuer, subject) === 'alike' ? [issuer, subject] : [issuer];
}

function byStrength(one: Merge, other: Merge): number {
  return (
    STRENGTHS.indexOf(one.reason) - STRENGTHS.indexOf(other.reason) ||
    Number(other.names === 'equal') - Number(one.names === 'equal') ||
    compareTexts(one.a.symbol, other.a.symbol) ||
    compareTexts(one.b.symbol, other.b.symbol)
  );
}

/**
 * Tells whether `a` is a listing in its home country that has a new name, but no description or website yet. Its ticker must differ
 * from that of `b`, because wrong identifiers were looked up by ticker.
 */
function isRenamed(a: Row, b: Row): boolean {
  const home = exchangeOfMic(a.mic)?.country;
  return (
    a.subject === undefined &&
    a.domain === '' &&
    a.country === b.country &&
    home !== undefined &&
    countryCodeOf(a.country) === home &&
    a.ticker !== b.ticker
  );
}

/**
 * Whether two listings with the same German ticker may be one company although their names differ. Exchanges reuse tickers, but
 * listings also keep old names. Therefore, if both listings have descriptions, the ISIN or a significant word of the names must
 * be equal.
 */
function isPlausible(a: Row, b: Row): boolean {
  if (a.subject === undefined || b.subject === undefined || haveOneIsin(a, b)) return true;
  return a.issuer?.words.some((word) => word.length >= 5 && b.issuer?.words.includes(word)) ?? false;
}

/**
 * Tells whether two rows with equal names are one issuer, if at most one of them has a website. A row's country without a city or
 * website was looked up by ticker, and is wrong in one of ten rows. Therefore an equal country confirms the match, but a
 * different one does not contradict it.
 */
function isSameIssuer(a: Row, b: Row, ofName: readonly Row[], haveSites: boolean): boolean {
  if (isSure(a) && isSure(b) && a.country !== b.country) return false;
  const fit = fitOf(a, b);
  if (haveSites) {
    // Several companies have this name, each with its website. A row without a website belongs to the one it fits best.
    const [siteOfA, ...othersOfA] = bestSites(a, ofName);
    const [siteOfB, ...othersOfB] = bestSites(b, ofName);
    return fit > 0 && siteOfA === siteOfB && othersOfA.length + othersOfB.length === 0;
  }
  if (a.country !== '' && a.country === b.country) return true;
  const letters = a.issuer?.forms[0]?.length ?? 0;
  const isShort = fit === FIT.legalForm + FIT.collective ? false : letters < (fit === FIT.collective ? 5 : 9);
  return fit >= 0 && !isShort;
}

/** Returns the row's own website, or else the websites of those companies with its name that the row fits best. */
function bestSites(row: Row, ofName: readonly Row[]): string[] {
  if (row.domain !== '') return [row.domain];
  const located = ofName
    .filter(({ domain }) => domain !== '')
    .map((other) => ({ ...other, fit: fitOf(row, other) }));
  const best = Math.max(...located.map(({ fit }) => fit));
  return [...new Set(located.filter(({ fit }) => fit === best).map(({ domain }) => domain))];
}

function isSure({ country, city, domain }: Row): boolean {
  return country !== '' && (city !== '' || domain !== '');
}
