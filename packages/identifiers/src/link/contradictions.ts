import { compareLegalFamilies } from '../names/legal-families.ts';
import { isNamedAfter } from './company-names.ts';
import type { LinkEvidence, RecordIdentity } from './identity.ts';
import { type NameAgreement, nameAgreementOf } from './name-agreement.ts';
import { areDisjoint, hasCommon } from './sets.ts';

/** A shorter label may begin another one by chance. */
const SHORTEST_LABEL = 3;

type Description = readonly [words: string, statedBy?: (identity: RecordIdentity) => Iterable<string>];

const LEGAL_FORM: Description = ['the legal forms differ', ({ names }) => names().legalFamilies];
/** The words of a report for each contradiction, with what the records state, if that is worth showing. */
const DESCRIPTIONS = {
  entity: ['the Wikidata items or the LEIs differ'],
  legalForm: LEGAL_FORM,
  converted: LEGAL_FORM,
  country: ['the headquarters are in two countries', ({ evidence }) => [evidence().sureCountry]],
  website: ['the websites differ', ({ evidence }) => evidence().domains],
  security: ['other security identifiers differ'],
  ticker: ['the tickers at home differ', ({ evidence }) => evidence().homeTickers],
  issuer: ['an exchange has other codes for their issuers'],
  firm: ['the firms differ', ({ evidence }) => [evidence().firm]],
} satisfies Readonly<Record<string, Description>>;

/**
 * A fact that speaks against one company: other Wikidata items or LEIs, legal forms that clash or that were perhaps converted,
 * two certain countries, two websites, other security identifiers, other tickers at home, other codes of issuers on one exchange. Against one superinvestor: other firms.
 */
export type Contradiction = keyof typeof DESCRIPTIONS;

/**
 * Returns what keeps a record out of a company, although it is linked with another record of the company: legal forms that clash,
 * two certain countries, two websites, or two Wikidata items or LEIs. Of a superinvestor, only another firm.
 */
export function contradictionsBetween(a: RecordIdentity, b: RecordIdentity): readonly Contradiction[] {
  if (a.isManager || b.isManager) return haveOtherFirms(a.evidence(), b.evidence()) ? ['firm'] : [];
  // The records are compared because other records are linked, so one name may be the beginning of the other.
  const names = nameAgreementOf(a, b, true);
  return contradictionsOf(a, b, { names: names === 'begins' ? 'equal' : names, mayHaveSites: true });
}

export function describeContradiction(
  contradiction: Contradiction,
  a: RecordIdentity,
  b: RecordIdentity,
): string {
  const [words, statedBy]: Description = DESCRIPTIONS[contradiction];
  if (statedBy === undefined) return words;
  const [ofA, ofB] = [a, b].map((identity) => [...statedBy(identity)].slice(0, 3).join(', '));
  return `${words}: ${ofA} and ${ofB}`;
}

/** "Pershing Square" and "Pershing Square Capital" are perhaps one firm. */
export function haveOtherFirms({ firm: a }: LinkEvidence, { firm: b }: LinkEvidence): boolean {
  return a !== '' && b !== '' && !`${a} `.startsWith(`${b} `) && !`${b} `.startsWith(`${a} `);
}

/**
 * Returns the contradictions in what the records state of the company.
 *
 * @param mayHaveSites whether a company at one address may have several websites
 */
export function contradictionsOf(
  a: RecordIdentity,
  b: RecordIdentity,
  { names, mayHaveSites }: { names: NameAgreement; mayHaveSites: boolean },
): Contradiction[] {
  const [ofA, ofB] = [a.evidence(), b.evidence()];
  const found: Contradiction[] = [];
  if (differ(ofA.qid, ofB.qid) || differ(ofA.lei, ofB.lei)) found.push('entity');
  if (haveOtherIssuers(a, b)) found.push('issuer');
  // A stated rename or merger explains another legal form, country and website.
  if (names === 'former') return found;
  if (compareLegalFamilies(a.names().legalFamilies, b.names().legalFamilies) === 'clash')
    found.push('legalForm');
  if (differ(ofA.sureCountry, ofB.sureCountry)) found.push('country');
  if (haveOtherWebsites(a, b, names === 'equal') && !(mayHaveSites && areAtOneAddress(a, b)))
    found.push('website');
  return found;
}

/** Checks whether both records have a value, and not the same one. */
function differ(a: string, b: string): boolean {
  return a !== '' && b !== '' && a !== b;
}

/** Two listings of one source are of two issuers if an exchange that has one code for each issuer has other codes for them. */
function haveOtherIssuers(a: RecordIdentity, b: RecordIdentity): boolean {
  if (!a.isListing || !b.isListing) return false;
  const codesOfB = b.evidence().issuerCodes;
  return [...a.evidence().issuerCodes].some(([kind, code]) => (codesOfB.get(kind) ?? code) !== code);
}

/** Checks whether the names differ in their words like "Group", as "SoftBank" and "SoftBank Group" of two companies. */
export function areSisters(a: RecordIdentity, b: RecordIdentity): boolean {
  const collectivesOf = ({ names }: RecordIdentity) =>
    new Set(names().currentNames.map(({ collective }) => collective));
  return areDisjoint(collectivesOf(a), collectivesOf(b));
}

/** Checks whether the names of both records have a word like "Group" or "Holdings", and not the same one. */
export function haveTwoCollectives(a: RecordIdentity, b: RecordIdentity): boolean {
  const hasOne = ({ names }: RecordIdentity) =>
    names().currentNames.some(({ collective }) => collective !== '');
  return hasOne(a) && hasOne(b) && areSisters(a, b);
}

/** Checks whether two listings state one place and one legal form. A company there may have several websites. */
function areAtOneAddress(a: RecordIdentity, b: RecordIdentity): boolean {
  const { place } = a.evidence();
  const isOnePlace = a.isListing && b.isListing && place !== '' && place === b.evidence().place;
  return isOnePlace && hasCommon(a.names().legalFamilies, b.names().legalFamilies) && !areSisters(a, b);
}

/**
 * Checks whether the records share one security identifier but differ in another: the same FIGI, but other ISINs of one country,
 * or the same ISIN, but other share classes. Other ISINs alone say nothing, because share classes and receipts have their own.
 */
export function securitiesDiffer(a: LinkEvidence, b: LinkEvidence): boolean {
  const countriesOfB = new Set([...b.isins].map((isin) => isin.slice(0, 2)));
  const isOfOneCountry = [...a.isins].some((isin) => countriesOfB.has(isin.slice(0, 2)));
  return (areDisjoint(a.isins, b.isins) && isOfOneCountry) || areDisjoint(a.shareClasses, b.shareClasses);
}

/**
 * Checks whether the records' websites are those of two companies. Toyota.co.jp and toyota.com may be one company's. If the names
 * are equal, so may tesco.com and tescoplc.com, and two websites that are both named after the company.
 */
function haveOtherWebsites(a: RecordIdentity, b: RecordIdentity, areNamesEqual: boolean): boolean {
  const [ofA, ofB] = [a.evidence().domains, b.evidence().domains];
  if (!areDisjoint(ofA, ofB)) return false;
  const [labelsOfA, labelsOfB] = [labelsOf(ofA), labelsOf(ofB)];
  if (labelsOfA.some((label) => labelsOfB.includes(label))) return false;
  if (!areNamesEqual) return true;
  const isLonger = labelsOfA.some((one) =>
    labelsOfB.some((other) => Math.min(one.length, other.length) >= SHORTEST_LABEL && areLonger(one, other)),
  );
  const isNamed = (domains: ReadonlySet<string>, { names }: RecordIdentity) =>
    [...domains].some((domain) => names().currentNames.some((name) => isNamedAfter(domain, name)));
  return !isLonger && !(isNamed(ofA, b) && isNamed(ofB, a));
}

function labelsOf(domains: ReadonlySet<string>): string[] {
  return [...domains].map((domain) => domain.split('.', 1)[0] ?? '');
}

function areLonger(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}
