import {
  type CompanyName,
  type Comparison,
  compareNames,
  compareTexts,
  exchangeOfMic,
  type NameAgreement,
  showOneCompany,
} from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import { compareRows, FIT, fitOf, haveOneIsin, identifiersDiffer } from './row-evidence.ts';
import { grouped, identifiersOf, isGerman, pairsOf, type Row } from './rows.ts';

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

/** Returns the links between rows that have names, the strongest first. */
export function linksBetween(rows: readonly Row[]): Merge[] {
  const byName = grouped(rows, (row) => [...new Set(fullNamesOf(row).flatMap(({ forms }) => forms))]);
  return [...identifierLinks(rows), ...germanLinks(rows), ...nameLinks(byName)].sort(byStrength);
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

function identifierLinks(rows: readonly Row[]): Merge[] {
  return [...grouped(rows, identifiersOf)].flatMap(([identifier, holders]) => {
    const pairs = pairsOf(holders);
    const isCusip = identifier.startsWith('cusip:');
    const isOfOne = isCusip && pairs.every(([a, b]) => mayBeOne(compareRows(a, b)));
    return pairs.flatMap(([a, b]): Merge[] => {
      const comparison = compareRows(a, b, isOfOne);
      const { names } = comparison;
      const differ = identifiersDiffer(a, b);
      if (showOneCompany(comparison)) {
        if (!comparison.facts.has('name')) return differ ? [] : [{ a, b, names, reason: MERGE.website }];
        return [{ a, b, names, reason: differ ? MERGE.conflicting : MERGE.identifier }];
      }
      const isNewName = !isCusip && !differ && (isRenamed(a, b) || isRenamed(b, a));
      return isNewName ? [{ a, b, names, reason: MERGE.renamed }] : [];
    });
  });
}

/** Whether the names agree and nothing speaks against one company. */
function mayBeOne({ names, contradictions }: Comparison): boolean {
  return names !== 'other' && contradictions.length === 0;
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

function germanLinks(rows: readonly Row[]): Merge[] {
  const byTicker = grouped(rows.filter(isGerman), ({ ticker }) => [ticker]);
  return [...byTicker.values()].flatMap((holders) =>
    pairsOf(holders).flatMap(([a, b]): Merge[] => {
      const comparison = compareRows(a, b);
      const { facts } = comparison;
      if (!showOneCompany(comparison)) return [];
      if (facts.has('figi') && (facts.has('name') || isPlausible(a, b)))
        return [{ a, b, names: comparison.names, reason: MERGE.germanFigi }];
      return facts.has('name') ? [{ a, b, names: comparison.names, reason: MERGE.germanTicker }] : [];
    }),
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

function nameLinks(byName: ReadonlyMap<string, Row[]>): Merge[] {
  return [...byName.values()].flatMap((holders) => {
    const sites = [...new Set(holders.map(({ domain }) => domain).filter((domain) => domain !== ''))];
    return pairsOf(holders).flatMap(([a, b]): Merge[] => {
      const comparison = compareRows(a, b);
      if (showOneCompany(comparison)) return [{ a, b, names: comparison.names, reason: MERGE.nameAndPlace }];
      const isOne = comparison.contradictions.length === 0 && isSameIssuer(a, b, holders, sites);
      return isOne ? [{ a, b, names: comparison.names, reason: MERGE.name }] : [];
    });
  });
}

/**
 * Tells whether two rows with equal names are one issuer, if at most one of them has a website. A row's country without a city or
 * website was looked up by ticker, and is wrong in one of ten rows. Therefore an equal country confirms the match, but a
 * different one does not contradict it.
 */
function isSameIssuer(a: Row, b: Row, ofName: readonly Row[], sites: readonly string[]): boolean {
  if (isSure(a) && isSure(b) && a.country !== b.country) return false;
  const fit = fitOf(a, b);
  if (sites.length > 1) {
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
