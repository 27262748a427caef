import { exchangeOfMic } from '@brand-data/identifiers';
import { compareNames, type Name } from './issuer-names.ts';
import { isNamedAfter, whyNoCompany, withoutMisattributedFacts } from './misattributed-facts.ts';
import { grouped, haveGermanTicker, identifiersOf, isGerman, type Row, sureIdentifiersOf } from './rows.ts';

/** Why two listings are of one company, the strongest evidence first. */
const MERGE = {
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

interface Merge {
  a: Row;
  b: Row;
  reason: MergeReason;
}

const CONFLICT = {
  joined: 'joined: the names agree, though identifiers differ',
  described: 'apart: they are described as different companies',
  identifiers: 'apart: the names differ, and so do other identifiers',
  names: 'apart: the names differ, and nothing else tells that it is one company',
  websites: 'apart: a name in common, but other websites',
  legalForms: 'apart: a name in common, but not the legal form or the country',
} as const;
export type ConflictReason = (typeof CONFLICT)[keyof typeof CONFLICT];

/** Two listings that have identifiers or the name in common, and contradict each other otherwise. */
interface RowConflict {
  a: Row;
  b: Row;
  /** The identifiers in common: "figi:BBG001SL9402", "isin:US53814L1089"; none: only the name is. */
  identifiers: string[];
  reason: ConflictReason;
}

export interface Joined {
  /** The listings of each company, without misattributed facts; companies and listings in the order of symbols. */
  companies: Row[][];
  merges: Merge[];
  conflicts: RowConflict[];
  refused: { row: Row; reason: string }[];
}

/**
 * Listings by the company that issued them. The order of rows does not matter. Links between two listings are taken
 * from the strongest to the weakest. A link is not taken where the names that most listings of the two groups have do not
 * agree, so that one wrong identifier does not chain companies together.
 */
export function joinRows(unordered: readonly Row[]): Joined {
  const given = unordered.toSorted(bySymbol);
  const refused: Joined['refused'] = [];
  const companies = given.filter((row) => {
    const reason = whyNoCompany(row);
    if (reason !== undefined) refused.push({ row, reason });
    return reason === undefined;
  });
  const rows = withoutMisattributedFacts(companies);
  const named = rows.filter(({ issuer }) => issuer !== undefined);
  const byName = grouped(named, (row) => [...new Set(row.issuer?.forms)]);
  const clusters = new Clusters(rows);
  const merges: Merge[] = [];

  const links = [...identifierLinks(named), ...germanLinks(named), ...nameLinks(byName)];
  for (const link of links.sort(byStrength)) {
    if (clusters.together(link.a, link.b)) continue;
    if (!clusters.mayUnite(link)) continue;
    clusters.unite(link.a, link.b);
    merges.push(link);
  }

  const holders = grouped(rows, sureIdentifiersOf);
  for (const row of rows) {
    if (row.issuer !== undefined) continue;
    const found = holdersWithName(row, holders);
    const other = found.find((each) => isEvidence(row, each));
    const isOne =
      other !== undefined &&
      found.every((each) => clusters.together(each, other)) &&
      !clusters.of(other).some((each) => areOfTwoIssuers(each, row));
    if (isOne) {
      clusters.unite(other, row);
      merges.push({ a: other, b: row, reason: MERGE.nameless });
    } else {
      refused.push({ row, reason: whyNameless(row, found) });
    }
  }

  const out = new Set(refused.map(({ row }) => row));
  return {
    companies: clusters.all().filter(([first]) => first !== undefined && !out.has(first)),
    merges,
    conflicts: conflictsOf(companies, rows, clusters).filter(({ a, b }) => !out.has(a) && !out.has(b)),
    refused,
  };
}

/** Sets of rows that are united step by step. */
class Clusters {
  readonly #sets: Map<Row, Row[]>;

  constructor(rows: readonly Row[]) {
    this.#sets = new Map(rows.map((row) => [row, [row]]));
  }

  of(row: Row): readonly Row[] {
    return this.#sets.get(row) ?? [row];
  }

  together(a: Row, b: Row): boolean {
    return this.of(a) === this.of(b);
  }

  unite(a: Row, b: Row): void {
    const united = [...this.of(a), ...this.of(b)].sort(bySymbol);
    for (const row of united) this.#sets.set(row, united);
  }

  /** Whether nothing in either set contradicts a link between two of their rows. */
  mayUnite(link: Merge): boolean {
    const [ofA, ofB] = [this.of(link.a), this.of(link.b)];
    const anyPair = (test: (a: Row, b: Row) => boolean) => ofA.some((a) => ofB.some((b) => test(a, b)));
    if (anyPair(areOfTwoIssuers)) return false;
    if (BY_NAME.has(link.reason) && anyPair(areSisters)) return false;
    const isSafe =
      link.reason === MERGE.germanFigi ||
      (link.reason === MERGE.nameAndPlace && haveOneAddress(link.a, link.b));
    return isSafe || this.#leadersAgree(link);
  }

  #leadersAgree({ a, b, reason }: Merge): boolean {
    const [leaderOfA, leaderOfB] = [leaderOf(this.of(a)), leaderOf(this.of(b))];
    return (
      agreementOf(leaderOfA, leaderOfB) !== 'other' ||
      (reason === MERGE.renamed && !areAtOdds(leaderOfA, leaderOfB))
    );
  }

  all(): Row[][] {
    return [...new Set(this.#sets.values())];
  }
}

/** Joins that rest on the name, as no identifier is common and uncontradicted. */
const BY_NAME: ReadonlySet<MergeReason> = new Set([MERGE.conflicting, MERGE.nameAndPlace, MERGE.name]);

/**
 * The code of which an exchange gives an issuer only one: in Tokyo the four figures or letters (preferred shares have a
 * fifth), in Toronto the part before the hyphen (delisted shares may have had another one).
 */
function issuerCodeOf({ mic, ticker, delisted }: Row): string | undefined {
  if (mic === 'XTKS') return ticker.length === 4 ? ticker : undefined;
  return mic === 'XTSE' && !delisted ? ticker.split('-', 1)[0] : undefined;
}

function areOfTwoIssuers(a: Row, b: Row): boolean {
  if (a.mic !== b.mic) return false;
  const [codeOfA, codeOfB] = [issuerCodeOf(a), issuerCodeOf(b)];
  return codeOfA !== undefined && codeOfB !== undefined && codeOfA !== codeOfB;
}

/**
 * "SoftBank Corp." and "SoftBank Group Corp.", "Toho Co." and "Toho Holdings": a group or holding in one name alone
 * often comes and goes, but not between two tickers of one exchange (of Germany's, which abbreviate, it does), nor
 * between two websites.
 */
function areSisters(a: Row, b: Row): boolean {
  if (a.issuer === undefined || b.issuer === undefined) return false;
  if (a.issuer.collective === b.issuer.collective || haveOneCollective(a, b)) return false;
  if (compareNames(a.issuer, b.issuer) !== 'equal') return false;
  const areTwoOfOne =
    a.mic === b.mic && !isGerman(a) && a.ticker.split('-', 1)[0] !== b.ticker.split('-', 1)[0];
  return (areTwoOfOne || (a.domain !== '' && b.domain !== '' && a.domain !== b.domain)) && !haveOneIsin(a, b);
}

function haveOneIsin(a: Row, b: Row): boolean {
  return a.isin !== '' && a.isin === b.isin;
}

/** The row with the most frequent name; among these, the one with the most facts. */
function leaderOf(rows: readonly Row[]): Row {
  const weight = (row: Row) =>
    rows.filter((other) => row.issuer?.forms[0] === other.issuer?.forms[0]).length * 4 +
    (row.domain === '' ? 0 : 2) +
    (row.subject === undefined ? 0 : 1);
  return rows.reduce((best, row) => (weight(row) > weight(best) ? row : best));
}

/**
 * "name": the names, those in the descriptions too, say the same or one is short for the other. "website": they differ,
 * but the website is the same, or is named after the other.
 */
type RowAgreement = 'name' | 'website' | 'other';

function agreementOf(a: Row, b: Row): RowAgreement {
  if (a.issuer === undefined || b.issuer === undefined || areAtOdds(a, b)) return 'other';
  const areAlike = namesOn(a).some((one) => namesOn(b).some((other) => compareNames(one, other) !== 'other'));
  if (areAlike) return 'name';
  const isSameSite =
    (a.domain !== '' && a.domain === b.domain) ||
    isNamedAfter(a.domain, b.issuer) ||
    isNamedAfter(b.domain, a.issuer);
  return isSameSite ? 'website' : 'other';
}

/** The row's own name, that in its description, and its former names. */
function namesOn({ issuer, subject, formers }: Row): Name[] {
  return [issuer, subject, ...formers].filter((name) => name !== undefined);
}

function namesMeet(a: Name | undefined, b: Name | undefined): boolean {
  return a !== undefined && b !== undefined && compareNames(a, b) !== 'other';
}

/** Descriptions of two companies with two websites. */
function areAtOdds(a: Row, b: Row): boolean {
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

function identifiersDiffer(a: Row, b: Row): boolean {
  const differ = (one: string, other: string) => one !== '' && other !== '' && one !== other;
  return differ(a.isin, b.isin) || differ(a.shareClassFigi, b.shareClassFigi);
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
  return (
    a.subject === undefined &&
    a.domain === '' &&
    a.country === b.country &&
    a.country !== '' &&
    COUNTRY_NAMES.of(exchangeOfMic(a.mic)?.country ?? 'ZZ') === a.country &&
    a.ticker !== b.ticker
  );
}

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' });

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

/** Its own, or those of the companies of its name that it fits best. */
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

/** How well names that say the same go together: below zero not at all; what one of them leaves out counts nothing. */
const FIT = { none: -1, collective: 1, legalForm: 2 } as const;

function fitOf(a: Row, b: Row): number {
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

function sayingTheSame({ issuer, subject }: Row): Name[] {
  if (issuer === undefined) return [];
  return subject !== undefined && compareNames(subject, issuer) === 'equal' ? [issuer, subject] : [issuer];
}

/** Those that descriptions write in English for others' ("Suominen Corporation" for an Oyj) say nothing. */
const ENGLISH: ReadonlySet<string> = new Set(['corp', 'inc', 'ltd']);

/** Of its name; and of the same name in its description, which often has the legal form that the other lacks. */
function legalFormsOf({ issuer, subject }: Row): string[] {
  const own = issuer === undefined || issuer.legal === '' ? [] : [issuer.legal];
  if (issuer === undefined || subject === undefined || subject.legal === '') return own;
  if (compareNames(issuer, subject) === 'other') return own;
  return own.length === 0 && ENGLISH.has(subject.legal) ? [] : [...own, subject.legal];
}

function haveOneAddress(a: Row, b: Row): boolean {
  return (
    a.zipcode !== '' && a.zipcode === b.zipcode && a.country === b.country && fitOf(a, b) >= FIT.legalForm
  );
}

function holdersWithName(row: Row, holders: ReadonlyMap<string, Row[]>): Row[] {
  return sureIdentifiersOf(row)
    .flatMap((identifier) => holders.get(identifier) ?? [])
    .filter(({ issuer }) => issuer !== undefined);
}

/** Wrong identifiers came with the ticker: the same ticker on another country's exchange is none. */
function isEvidence(row: Row, other: Row): boolean {
  return other.ticker !== row.ticker || haveGermanTicker(row, other);
}

function whyNameless({ symbol, name }: Row, found: readonly Row[]): string {
  const what = name === '' ? 'it has no name' : `its name, "${name}", is on many securities`;
  const which =
    found.length === 0 ? 'no identifier of a listing that has one' : 'identifiers that are not sure';
  return `${symbol}: ${what}, and ${which}`;
}

/**
 * Listings with an identifier or the name in common that are not of one company; and of each company whose listings
 * have several identifiers of a kind, two of them. As the rows were given: what was hung on a listing and taken from
 * it is a conflict, too.
 */
function conflictsOf(given: readonly Row[], rows: readonly Row[], clusters: Clusters): RowConflict[] {
  const rowOf = new Map(rows.map((row) => [row.symbol, row]));
  const apart = new Map<string, RowConflict>();
  const joined = new Map<readonly Row[], RowConflict>();
  const common = grouped(given, (row) => {
    const name = rowOf.get(row.symbol)?.issuer === undefined ? [] : (row.issuer?.forms.slice(0, 1) ?? []);
    return [...identifiersOf(row), ...name];
  });
  for (const [key, holders] of common) {
    const identifiers = /^(?:figi|isin|cusip):/.test(key) ? [key] : [];
    const cleaned = holders.flatMap(({ symbol }) => rowOf.get(symbol) ?? []);
    for (const [a, b] of pairsOf(cleaned)) {
      const known = apart.get(`${a.symbol} ${b.symbol}`);
      if (known !== undefined) known.identifiers.push(...identifiers);
      else if (!clusters.together(a, b))
        apart.set(`${a.symbol} ${b.symbol}`, {
          a,
          b,
          identifiers: [...identifiers],
          reason: whyApart(a, b, identifiers),
        });
      else if (identifiers.length > 0 && identifiersDiffer(a, b) && !joined.has(clusters.of(a)))
        joined.set(clusters.of(a), { a, b, identifiers, reason: CONFLICT.joined });
    }
  }
  return [...joined.values(), ...apart.values()];
}

function whyApart(a: Row, b: Row, identifiers: readonly string[]): ConflictReason {
  if (identifiers.length === 0)
    return a.domain !== '' && b.domain !== '' ? CONFLICT.websites : CONFLICT.legalForms;
  if (areAtOdds(a, b)) return CONFLICT.described;
  return identifiersDiffer(a, b) ? CONFLICT.identifiers : CONFLICT.names;
}

function byStrength(one: Merge, other: Merge): number {
  return (
    STRENGTHS.indexOf(one.reason) - STRENGTHS.indexOf(other.reason) ||
    compareTexts(one.a.symbol, other.a.symbol) ||
    compareTexts(one.b.symbol, other.b.symbol)
  );
}

function bySymbol(one: Row, other: Row): number {
  return compareTexts(one.symbol, other.symbol);
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function pairsOf<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((a, index) => items.slice(index + 1).map((b): [T, T] => [a, b]));
}
