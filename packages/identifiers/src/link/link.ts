import { isCommonAsName } from '../names/common-words.ts';
import { compareLegalFamilies } from '../names/legal-families.ts';
import { isFirstWordOfMany } from '../names/places.ts';
import { exchangeOfMic } from '../securities/exchanges.ts';
import {
  areSisters,
  contradictionsOf,
  describeContradiction,
  haveOtherFirms,
  haveTwoCollectives,
  securitiesDiffer,
} from './contradictions.ts';
import { kindOf, type LinkEvidence, type Names, type RecordIdentity } from './identity.ts';
import { type NameAgreement, nameAgreementOf } from './name-agreement.ts';
import { areDisjoint, hasCommon } from './sets.ts';

/** Whether two records of different sources describe one company. */
export interface Link {
  /** Records with the greater strength fit better. 0: the records are not linked. */
  readonly strength: number;
  /** The strength if each source has only one record with the name in the country, which both records share. */
  readonly strengthIfUnique: number;
  /** Whether the facts are so many that one contradiction with another record of the company does not count. */
  readonly isFirm: boolean;
}

const NO_LINK: Link = { strength: 0, strengthIfUnique: 0, isFirm: false };
/** The link of two superinvestors. */
const SAME_MANAGER: Link = { strength: 1, strengthIfUnique: 1, isFirm: false };

/** An equal country, of listings that may belong to either of two companies, is no fact. It only decides between them. */
const SAME_COUNTRY = 1;

/** The facts that two records can have in common, with their weights. No fact implies another. */
const WEIGHTS = {
  id: 8,
  wikidata: 8,
  lei: 8,
  name: 6,
  /** ISIN or CUSIP: a North American ISIN contains its CUSIP. */
  security: 5,
  /** The FIGI of the share class or of the share in one country. */
  figi: 4,
  /** A ticker with its exchange. If the names disagree, it counts only in the company's country. */
  listing: 4,
  domain: 3,
  /** Country and city of the headquarters. */
  place: 2,
  /** The ticker at home, on whichever exchange, or any ticker of letters beside the name (areTradedAlike). */
  ticker: 2,
  /** Each source has only one record with the name in the country. */
  uniqueName: 2,
  /** One security of a venue is delisted under one name and traded under the other: "Orpea", "Emeis". */
  renamed: 2,
} as const;
type Fact = keyof typeof WEIGHTS;

/** Facts that alone say which company a record describes. */
const IDENTIFYING: ReadonlySet<Fact> = new Set(['id', 'wikidata', 'lei', 'security', 'figi']);
/** Kinds of keys from which sources make ids. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['qid', 'lei', 'isin', 'cusip', 'figi', 'ticker']);
/** A link needs one of these. A domain and a city alone may be those of a parent company. */
const ANCHORS: ReadonlySet<Fact> = new Set([...IDENTIFYING, 'name', 'listing']);
const NEEDED_FACTS = 2;
/** This many facts, the name among them, outweigh one contradiction. */
const FIRM_FACTS = 3;

/**
 * Decides whether records of different sources describe one company. Symmetric.
 *
 * A link needs two independent facts, because each single one is sometimes wrong in some source: identifiers are looked up by
 * ticker, tickers are reused, and names are common. A contradiction prevents the link, unless three facts agree, the name among
 * them.
 */
export function linkBetween(a: RecordIdentity, b: RecordIdentity): Link {
  if (a.isManager !== b.isManager) return NO_LINK;
  const common = commonKeys(a, b);
  if (common.size === 0) return NO_LINK;
  if (a.isManager) return isSameManager(a, b, common) ? SAME_MANAGER : NO_LINK;
  const comparison = compare(a, b, common);
  const { facts, names } = comparison;
  const isCertain = a.isListing && b.isListing ? isNameDistinctive(a, b) : isCountrySure(a, b);
  const haveNamesakes = a.hasNamesakes || b.hasNamesakes;
  const mayBeUnique = common.has('named') && names === 'equal' && isCertain && !haveNamesakes;
  const country = a.isListing && b.isListing && haveOneCountry(a, b) ? SAME_COUNTRY : 0;
  const unique: Comparison = { ...comparison, facts: new Set<Fact>([...facts, 'uniqueName']) };
  return {
    strength: showOneCompany(comparison) ? weightOf(facts) + country : 0,
    strengthIfUnique: mayBeUnique && showOneCompany(unique) ? weightOf(unique.facts) + country : 0,
    isFirm: isFirm(comparison),
  };
}

/** Checks whether both records state the same registrable domain. */
export function haveOneDomain(a: RecordIdentity, b: RecordIdentity): boolean {
  return hasCommon(a.evidence().domains, b.evidence().domains);
}

/** Returns a sentence that says why two records with a key in common are not linked. */
export function whyNotLinked(a: RecordIdentity, b: RecordIdentity): string {
  if (a.isManager !== b.isManager) return 'one is a superinvestor and the other a company';
  if (a.isManager) {
    if (haveOtherFirms(a.evidence(), b.evidence())) return describeContradiction('firm', a, b);
    return commonKeys(a, b).has('superinvestor') ? 'only the names agree' : 'the names differ';
  }
  const { names, facts, contradictions } = compare(a, b, commonKeys(a, b));
  const [first] = contradictions;
  if (first !== undefined && (facts.size >= NEEDED_FACTS || !facts.has('name')))
    return describeContradiction(first, a, b);
  if (names === 'other' || !facts.has('name')) return 'the names differ, and no second fact agrees';
  if (first !== undefined) return describeContradiction(first, a, b);
  return commonKeys(a, b).has('traded')
    ? 'the names and a ticker agree, but not the country'
    : 'only the names agree';
}

/**
 * Whether two superinvestors that share a key are one manager. They are if their firms are equal. They also are if their ids are
 * equal and either a firm is unknown, or the names are equal too and one firm's name begins with the other's.
 */
function isSameManager(a: RecordIdentity, b: RecordIdentity, common: ReadonlySet<string>): boolean {
  const [ofA, ofB] = [a.evidence(), b.evidence()];
  const isFirmUnknown = ofA.firm === '' || ofB.firm === '';
  if (!isFirmUnknown && ofA.firm === ofB.firm) return true;
  if (!common.has('id') || haveOtherFirms(ofA, ofB)) return false;
  return isFirmUnknown || common.has('superinvestor');
}

/**
 * Checks whether the facts show one company: two facts that agree and none that contradicts, or three, the name among them, and one
 * that contradicts.
 */
function showOneCompany(comparison: Comparison): boolean {
  const { facts, contradictions } = comparison;
  if (facts.size < NEEDED_FACTS || ![...facts].some((fact) => ANCHORS.has(fact))) return false;
  if (contradictions.length === 0) return true;
  const [only, ...others] = contradictions;
  if (others.length > 0 || !isFirm(comparison)) return false;
  const isIdentified = [...facts].some((fact) => IDENTIFYING.has(fact));
  if (only === 'issuer') return false;
  if (only === 'entity') return isIdentified;
  return (only !== 'legalForm' && only !== 'converted') || isIdentified || facts.has('listing');
}

/** Checks whether the facts outweigh one contradiction of another record of the company. */
function isFirm({ facts, names }: Comparison): boolean {
  return facts.size >= FIRM_FACTS && isWhole(names);
}

function isWhole(names: NameAgreement): boolean {
  return names === 'equal' || names === 'former';
}

function weightOf(facts: ReadonlySet<Fact>): number {
  return [...facts].reduce((sum, fact) => sum + WEIGHTS[fact], 0);
}

type Comparison = Readonly<ReturnType<typeof compare>>;

/** Returns what two records have in common, and what speaks against one company. */
function compare(a: RecordIdentity, b: RecordIdentity, common: ReadonlySet<string>) {
  const [ofA, ofB] = [a.evidence(), b.evidence()];
  const facts = new Set<Fact>();
  if (common.has('id') && !isMadeFromKey(a, b)) facts.add('id');
  if (common.has('qid')) facts.add('wikidata');
  if (common.has('lei')) facts.add('lei');
  const areListings = a.isListing && b.isListing;
  if (common.has('figi')) facts.add('figi');
  // The identifiers of a source's listing were looked up together, and are therefore one fact.
  if ((common.has('isin') || common.has('cusip')) && !(areListings && facts.has('figi')))
    facts.add('security');
  const isIdentified = facts.size > 0;
  if (hasCommon(ofA.domains, ofB.domains)) facts.add('domain');
  if (ofA.place !== '' && ofA.place === ofB.place) facts.add('place');

  const names = nameAgreementOf(a, b, isIdentified || common.has('ticker'));
  const isNamed =
    isWhole(names) ||
    ((names === 'begins' || names === 'alike') && (isIdentified || (areListings && common.has('ticker')))) ||
    ((names === 'begins' || names === 'firstWord') && common.has('ticker'));
  if (isNamed) facts.add('name');
  if (common.has('ticker') && (isNamed || hasHomeListing(ofA, ofB))) facts.add('listing');
  else if (areTradedAlike(a, b, common) || (isNamed && common.has('named') && haveHomeTicker(ofA, ofB)))
    facts.add('ticker');

  if (hasCommon(ofA.traded, ofB.delisted) || hasCommon(ofA.delisted, ofB.traded)) facts.add('renamed');
  if (areListings && names === 'equal' && facts.has('domain') && haveOneFormAtOneVenue(a, b))
    facts.add('uniqueName');

  const contradictions = contradictionsOf(a, b, { names, mayHaveSites: names === 'equal' });
  const isSure = isIdentified || facts.has('listing') || facts.has('domain');
  if (!isWhole(names) && securitiesDiffer(ofA, ofB)) contradictions.push('security');
  const areHomesSure = ofA.isCountryKnown && ofB.isCountryKnown;
  const mayDiffer = (areListings && !areSisters(a, b)) || areNamedAlikeInFull(a, b);
  if (!isSure && !mayDiffer && areHomesSure && areDisjoint(ofA.homeTickers, ofB.homeTickers))
    contradictions.push('ticker');
  if (!isSure && compareLegalFamilies(a.names().legalFamilies, b.names().legalFamilies) === 'converted')
    contradictions.push('converted');
  return { names, facts, contradictions };
}

/**
 * Checks whether the country in which both records share a name is known of both. If it is not, the sector, the industry or the
 * ticker at home must be the same, or a listing at home must stand for the country.
 */
function isCountrySure(a: RecordIdentity, b: RecordIdentity): boolean {
  const [ofA, ofB] = [a.evidence(), b.evidence()];
  if ((ofA.isCountryKnown && ofB.isCountryKnown) || areNamedAlikeInFull(a, b)) return true;
  if (hasCommon(ofA.business, ofB.business) || haveHomeTicker(ofA, ofB)) return true;
  if (areDisjoint(ofA.homeTickers, ofB.homeTickers) || !haveOneForm(a, b)) return false;
  return (ofA.isCountryKnown && ofB.isListedAtHome) || (ofA.isListedAtHome && ofB.isCountryKnown);
}

/**
 * Checks whether the names have a legal form in common, or neither has one. If only one has, the names must have several words:
 * "Orange" from France is listed in New York, and "Orange LLC" is another company in the United States.
 */
function haveOneForm(a: RecordIdentity, b: RecordIdentity): boolean {
  const [namesOfA, namesOfB] = [a.names(), b.names()];
  const [formsOfA, formsOfB] = [namesOfA.legalFamilies, namesOfB.legalFamilies];
  if (areDisjoint(formsOfA, formsOfB)) return false;
  return (
    formsOfA.size > 0 === formsOfB.size > 0 || hasCommon(namesOfA.ofSeveralWords, namesOfB.ofSeveralWords)
  );
}

/** An exchange has no two companies of one website with the same name and legal form. */
function haveOneFormAtOneVenue(a: RecordIdentity, b: RecordIdentity): boolean {
  const haveOneForm = hasCommon(a.names().legalFamilies, b.names().legalFamilies);
  return haveOneForm && hasCommon(a.evidence().mics, b.evidence().mics);
}

const LONG_WORD = 6;
const BLANK_CHECK = /\bacquisitions?\b/;
/** A name of fewer letters may be that of several companies, even if both have "Group" or neither has it. */
const LONG_NAME = 9;
const SHORTEST_NAME = 5;

/**
 * Checks whether one name shows that two listings of one source are one company's, if no listing with the name contradicts it. It
 * does if both listings state one country, or one legal form, or the name is long, because a listing's country is often wrong. It does
 * not if they state two countries, and one name has "Group" where the other has "Holdings".
 */
function isNameDistinctive(a: RecordIdentity, b: RecordIdentity): boolean {
  const [namesOfA, namesOfB] = [a.names(), b.names()];
  const isOneGroup = !areSisters(a, b);
  const haveOneForm = hasCommon(namesOfA.legalFamilies, namesOfB.legalFamilies);
  if (isOneGroup && (haveOneForm || haveOneCountry(a, b))) return true;
  if (areDisjoint(namesOfA.legalFamilies, namesOfB.legalFamilies)) return false;
  // Woolworths Group is in Australia, and Woolworths Holdings in South Africa.
  if (haveTwoCollectives(a, b) && haveTwoCountries(a, b)) return false;
  const shortest = isOneGroup ? SHORTEST_NAME : LONG_NAME;
  const formsOf = ({ current, currentNames }: Names) =>
    isOneGroup ? current : new Set(currentNames.flatMap(({ forms: [form = ''] }) => form));
  const formsOfB = formsOf(namesOfB);
  return [...formsOf(namesOfA)].some((form) => form.length >= shortest && formsOfB.has(form));
}

/**
 * Checks whether both records have one name, without "Group" and the like, and one ticker of letters, on whichever exchanges.
 * Many short names are also tickers: APA Group is in Sydney, and APA Corporation in Houston. Therefore either the country must be
 * the same too, or the names must have several words and be equal with "Group" and the like.
 */
function areTradedAlike(a: RecordIdentity, b: RecordIdentity, common: ReadonlySet<string>): boolean {
  const [ofA, ofB] = [a.evidence(), b.evidence()];
  if (!common.has('traded') || securitiesDiffer(ofA, ofB)) return false;
  if (haveOneCountry(a, b) || (isInAmerica(ofA) && isInAmerica(ofB))) return true;
  return hasCommon(a.names().ofSeveralWords, b.names().ofSeveralWords) || areNamedAlike(a, b);
}

/** Checks for a listing in the United States, where no two companies have one ticker at a time, also over the counter. */
function isInAmerica({ mics }: LinkEvidence): boolean {
  return [...mics].some((mic) => exchangeOfMic(mic)?.country === 'US');
}

/** Checks whether the names have one legal form, and both or neither have "Group" or the like. */
function areNamedAlike(a: RecordIdentity, b: RecordIdentity): boolean {
  const [ofA, ofB] = [a.names(), b.names()];
  const haveOneForm =
    hasCommon(ofA.legalFamilies, ofB.legalFamilies) || hasCommon(ofA.legalForms, ofB.legalForms);
  return haveOneForm && !areSisters(a, b);
}

/**
 * Checks whether the names are so alike, and have so many words or one so long, that seldom two companies have them: neither another
 * ticker nor an unknown country speaks against one company. The names of companies that are founded to acquire one are used again by
 * their sponsors, and a registry marks the names of namesakes.
 */
function areNamedAlikeInFull(a: RecordIdentity, b: RecordIdentity): boolean {
  const [ofA, ofB] = [a.names(), b.names()];
  if (!areNamedAlike(a, b) || ofA.isMarked || ofB.isMarked) return false;
  const namesOfB = new Set(ofB.currentNames.map(({ words }) => words.join(' ')));
  const isOneForm = hasCommon(ofA.legalForms, ofB.legalForms);
  return ofA.currentNames.some(({ words }) => {
    const name = words.join(' ');
    const isSpecific = words.length > 1 || (isOneForm && isDistinctive(name));
    return isSpecific && !BLANK_CHECK.test(name) && namesOfB.has(name);
  });
}

/** Few companies share a long name of one word that is no common word: "EchoStar". */
function isDistinctive(word: string): boolean {
  return word.length >= LONG_WORD && !isCommonAsName(word) && !isFirstWordOfMany(word);
}

function haveOneCountry(a: RecordIdentity, b: RecordIdentity): boolean {
  return areCountriesKnown(a, b) && hasCommon(a.evidence().countries, b.evidence().countries);
}

function haveTwoCountries(a: RecordIdentity, b: RecordIdentity): boolean {
  return areCountriesKnown(a, b) && areDisjoint(a.evidence().countries, b.evidence().countries);
}

function areCountriesKnown(a: RecordIdentity, b: RecordIdentity): boolean {
  return a.evidence().isCountryKnown && b.evidence().isCountryKnown;
}

/** Returns the kinds of keys that both records have in common. */
function commonKeys(a: RecordIdentity, b: RecordIdentity): ReadonlySet<string> {
  const { keys } = b.evidence();
  return new Set(a.keys.filter((key) => keys.has(key)).map(kindOf));
}

/** Checks whether the shared id is made from another shared identifier ("figi-bbg001s5n8v8"), so that it is not a second fact. */
function isMadeFromKey(a: RecordIdentity, b: RecordIdentity): boolean {
  const { keys } = b.evidence();
  const shared = a.keys.filter((key) => keys.has(key));
  const id = lettersOf(shared.find((key) => kindOf(key) === 'id') ?? '');
  return shared.some((key) => {
    const [value = '', venue = ''] = key.slice(key.indexOf(':') + 1).split('@');
    return IDENTIFIERS.has(kindOf(key)) && id.includes(lettersOf(value)) && id.includes(lettersOf(venue));
  });
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function hasHomeListing(a: LinkEvidence, b: LinkEvidence): boolean {
  const common = a.keys.intersection(b.keys);
  return hasCommon(common, a.homeListings) || hasCommon(common, b.homeListings);
}

function haveHomeTicker(a: LinkEvidence, b: LinkEvidence): boolean {
  const keys = new Set(b.nameSecondaryKeys);
  return a.nameSecondaryKeys.some((key) => key.startsWith('ticker:') && keys.has(key));
}
