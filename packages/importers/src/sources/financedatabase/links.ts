import { compareTexts, exchangeOfMic } from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import {
  agreementOf,
  areAtOdds,
  FIT,
  fitOf,
  haveOneAddress,
  haveOneIsin,
  identifiersDiffer,
} from './row-evidence.ts';
import { grouped, identifiersOf, isGerman, pairsOf, type Row } from './rows.ts';

/** The reasons to join two listings, the strongest evidence first. */
export const MERGE = {
  germanFigi: 'the same FIGI and the same ticker in Germany',
  identifier: 'an identifier and the name',
  conflicting: 'an identifier and the name, though other identifiers differ',
  website: 'an identifier and the website',
  germanTicker: 'the same ticker in Germany and the name',
  nameAndPlace: 'the name and the website or the address',
  name: 'the name, and nothing against it',
  renamed: 'an identifier, one of them newly named',
  nameless: 'an identifier, one of them without a name',
} as const;
export type MergeReason = (typeof MERGE)[keyof typeof MERGE];
const STRENGTHS: readonly MergeReason[] = Object.values(MERGE);

/** Two listings that may be of one company. */
export interface Merge {
  a: Row;
  b: Row;
  reason: MergeReason;
}

/** The links between rows that have names, the strongest first. */
export function linksBetween(rows: readonly Row[]): Merge[] {
  const byName = grouped(rows, (row) => [...new Set(row.issuer?.forms)]);
  return [...identifierLinks(rows), ...germanLinks(rows), ...nameLinks(byName)].sort(byStrength);
}

function byStrength(one: Merge, other: Merge): number {
  return (
    STRENGTHS.indexOf(one.reason) - STRENGTHS.indexOf(other.reason) ||
    compareTexts(one.a.symbol, other.a.symbol) ||
    compareTexts(one.b.symbol, other.b.symbol)
  );
}

function identifierLinks(rows: readonly Row[]): Merge[] {
  return [...grouped(rows, identifiersOf)].flatMap(([identifier, holders]) => {
    const isSure = !identifier.startsWith('cusip:');
    return pairsOf(holders).flatMap(([a, b]): Merge[] => {
      const agreement = agreementOf(a, b);
      if (agreement === 'name')
        return [{ a, b, reason: identifiersDiffer(a, b) ? MERGE.conflicting : MERGE.identifier }];
      if (identifiersDiffer(a, b)) return [];
      if (agreement === 'website') return [{ a, b, reason: MERGE.website }];
      return isSure && (isRenamed(a, b) || isRenamed(b, a)) ? [{ a, b, reason: MERGE.renamed }] : [];
    });
  });
}

/**
 * Whether `a` is a listing at home with nothing but a new name yet. Not with the other's ticker: wrong identifiers were
 * looked up by ticker.
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
      const agree = agreementOf(a, b);
      if (
        a.shareClassFigi !== '' &&
        a.shareClassFigi === b.shareClassFigi &&
        (agree !== 'other' || isPlausible(a, b))
      )
        return [{ a, b, reason: MERGE.germanFigi }];
      return agree === 'name' ? [{ a, b, reason: MERGE.germanTicker }] : [];
    }),
  );
}

/**
 * A ticker goes to another company in time, and old names stay on listings: not where they are described as different
 * companies, unless the ISIN is the same too or the names have a significant word in common.
 */
function isPlausible(a: Row, b: Row): boolean {
  if (identifiersDiffer(a, b)) return false;
  if (a.subject === undefined || b.subject === undefined || haveOneIsin(a, b)) return true;
  return a.issuer?.words.some((word) => word.length >= 5 && b.issuer?.words.includes(word)) ?? false;
}

function nameLinks(byName: ReadonlyMap<string, Row[]>): Merge[] {
  return [...byName.values()].flatMap((holders) => {
    const sites = [...new Set(holders.map(({ domain }) => domain).filter((domain) => domain !== ''))];
    return pairsOf(holders).flatMap(([a, b]): Merge[] => {
      if (areAtOdds(a, b)) return [];
      if ((a.domain !== '' && a.domain === b.domain) || haveOneAddress(a, b))
        return [{ a, b, reason: MERGE.nameAndPlace }];
      return isSameIssuer(a, b, holders, sites) ? [{ a, b, reason: MERGE.name }] : [];
    });
  });
}

/**
 * Of rows whose names say the same and do not both have a website. A country that stands without a city and a website
 * was filled in by the ticker and is wrong in one of ten, so it may confirm, but contradicts nothing.
 */
function isSameIssuer(a: Row, b: Row, ofName: readonly Row[], sites: readonly string[]): boolean {
  if (isSure(a) && isSure(b) && a.country !== b.country) return false;
  const fit = fitOf(a, b);
  if (sites.length > 1) {
    // Websites tell companies of one name apart: a listing without one is of the one that it fits best.
    const [siteOfA, ...othersOfA] = bestSites(a, ofName);
    const [siteOfB, ...othersOfB] = bestSites(b, ofName);
    return fit > 0 && siteOfA === siteOfB && othersOfA.length + othersOfB.length === 0;
  }
  if (a.country !== '' && a.country === b.country) return true;
  const letters = a.issuer?.forms[0]?.length ?? 0;
  const isShort = fit === FIT.legalForm + FIT.collective ? false : letters < (fit === FIT.collective ? 5 : 9);
  return fit >= 0 && !isShort;
}

/** The row's own website, or else the websites of the companies of its name that it fits best. */
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
