import {
  type CompanyName,
  type CompanyTraits,
  type Comparison,
  compareNames,
  contradictionsOfCompany,
  cusipOfIsin,
  type Fact,
  isNamedAfter,
  isOfOnePlace,
  type NameAgreement,
} from '@brand-data/identifiers';
import { haveGermanTicker, isGerman, type Row } from './rows.ts';

/**
 * Compares two rows by the rules for records of different sources. The identifiers of a row were looked up together, and are
 * therefore one fact.
 *
 * @param haveOneCusip whether both rows have a CUSIP that is only one company's
 */
export function compareRows(a: Row, b: Row, haveOneCusip = false): Comparison {
  const facts = new Set<Fact>();
  if (haveOneFigi(a, b)) facts.add('figi');
  else if (haveOneIsin(a, b) || haveOneCusip) facts.add('security');
  if (haveGermanTicker(a, b)) facts.add('listing');
  const names = namesAgree(a, b);
  if (names === 'equal' || names === 'former' || (names === 'alike' && facts.size > 0)) facts.add('name');
  if (a.domain !== '' && a.domain === b.domain) {
    facts.add('domain');
    if (names === 'equal' && a.mic === b.mic && fitOf(a, b) >= FIT.legalForm) facts.add('uniqueName');
  }
  if (haveOneAddress(a, b)) facts.add('place');
  const contradictions = contradictionsOfCompany(traitsOf(a), traitsOf(b), names);
  // A company at one address may have several websites.
  return {
    names,
    facts,
    contradictions: contradictions.filter((each) => each !== 'website' || !facts.has('place')),
  };
}

function namesAgree(a: Row, b: Row): NameAgreement {
  if (a.issuer === undefined || b.issuer === undefined) return 'other';
  const [ofA, ofB] = [currentNamesOf(a), currentNamesOf(b)];
  const some = (some: readonly CompanyName[], others: readonly CompanyName[], likeness: string) =>
    some.some((one) => others.some((other) => compareNames(one, other) === likeness));
  if (some(ofA, ofB, 'equal')) return 'equal';
  const [allOfA, allOfB] = [
    [...ofA, ...a.formers],
    [...ofB, ...b.formers],
  ];
  if (some(allOfA, allOfB, 'equal')) return 'former';
  const isAlike =
    some(allOfA, allOfB, 'alike') || isNamedAfter(a.domain, b.issuer) || isNamedAfter(b.domain, a.issuer);
  return isAlike ? 'alike' : 'other';
}

/** Returns the row's own name, and the name in its description, unless this is that of a parent company without the place. */
function currentNamesOf({ issuer, subject }: Row): CompanyName[] {
  if (issuer === undefined) return [];
  if (subject === undefined) return [issuer];
  const isOfParent = isOfOnePlace(issuer, subject) && subject.words.length < issuer.words.length;
  return isOfParent ? [issuer] : [issuer, subject];
}

function traitsOf(row: Row): CompanyTraits {
  return {
    sureCountry: row.city === '' ? '' : row.country,
    domains: new Set(row.domain === '' ? [] : [row.domain]),
    currentNames: currentNamesOf(row),
    legalFamilies: legalNamesOf(row).flatMap(({ legalFamilies }) => legalFamilies),
  };
}

export function identifiersDiffer(a: Row, b: Row): boolean {
  return differ(a.isin, b.isin) || differ(a.shareClassFigi, b.shareClassFigi);
}

export function haveOneIsin(a: Row, b: Row): boolean {
  return a.isin !== '' && a.isin === b.isin;
}

function haveOneFigi(a: Row, b: Row): boolean {
  return a.shareClassFigi !== '' && a.shareClassFigi === b.shareClassFigi;
}

export function haveOneIdentifier(a: Row, b: Row): boolean {
  return haveOneFigi(a, b) || haveOneIsin(a, b);
}

export function areOfTwoIssuers(a: Row, b: Row): boolean {
  if (a.mic !== b.mic) return false;
  return differ(issuerCodeOf(a), issuerCodeOf(b)) || differ(issuerNumberOf(a), issuerNumberOf(b));
}

/** Tells whether both rows state a text, and not the same one. */
function differ(one = '', other = ''): boolean {
  return one !== '' && other !== '' && one !== other;
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
  return (areTwoOfOne || differ(a.domain, b.domain)) && !haveOneIsin(a, b);
}

/**
 * How well the legal forms, "Group" and "Holdings" of two equal names agree. Each that is equal adds its value. `none` if one
 * contradicts. One that only one of the names has adds nothing.
 */
export const FIT = { none: -1, collective: 1, legalForm: 2 } as const;

export function fitOf(a: Row, b: Row): number {
  const [legalsOfA, legalsOfB] = [legalFormsOf(a), legalFormsOf(b)];
  const isSame = legalsOfA.some((legal) => legalsOfB.includes(legal));
  const isSameCollective = haveOneCollective(a, b);
  if (!isSameCollective && differ(a.issuer?.collective, b.issuer?.collective)) return FIT.none;
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
const ENGLISH: ReadonlySet<string> = new Set(['inc', 'ltd']);

/** Returns the names that say the legal form: the row's, and the one in its description, which often has it if the name omits it. */
function legalNamesOf({ issuer, subject }: Row): CompanyName[] {
  if (issuer === undefined) return [];
  const isSame = subject !== undefined && compareNames(issuer, subject) !== 'other';
  const isTranslated =
    issuer.legalFamilies.length === 0 && subject?.legalFamilies.every((family) => ENGLISH.has(family));
  const names = isSame && !isTranslated ? [issuer, subject] : [issuer];
  return names.filter(({ legalFamilies }) => legalFamilies.length > 0);
}

/** Returns the legal forms, each with all its families. In Thailand a public company limited is also called a limited company. */
function legalFormsOf(row: Row): string[] {
  return legalNamesOf(row).map(({ legalFamilies }) => legalFamilies.join(' ').replace('pcl', 'ltd'));
}

export function haveOneAddress(a: Row, b: Row): boolean {
  return (
    a.zipcode !== '' && a.zipcode === b.zipcode && a.country === b.country && fitOf(a, b) >= FIT.legalForm
  );
}
