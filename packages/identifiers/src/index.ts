/** Decides what identifiers mean. Derives look-up keys from a caller's text and from a brand's record. Pure, no I/O. */

export { explainMiss, flawOf } from './explain/misses.ts';
export { soundKeys, soundKeysToRead, spellingDistance } from './explain/misspellings.ts';
export {
  type BrandKey,
  IDENTIFIER_KINDS,
  type IdentifierKind,
  isWeak,
  type Strength,
} from './keys/brand-key.ts';
export { MOST_ADDRESSES, readWebHost } from './keys/domains.ts';
export { keysOfBrand } from './keys/keys-of-brand.ts';
export { cusipOf, cusipOfIsin, isCusip, isFigi, isIsin, isLei } from './keys/security-ids.ts';
export { isBareTickerKey } from './keys/tickers.ts';
export {
  type CompanyName,
  companyName,
  compareNames,
  isNamedAfter,
  isOfOnePlace,
} from './link/company-names.ts';
export { contradictionsBetween } from './link/contradictions.ts';
export { identityOf, kindOf, type RecordIdentity, secondaryKeys } from './link/identity.ts';
export { haveOneDomain, type Link, linkBetween, whyNotLinked } from './link/link.ts';
export { areDisjoint } from './link/sets.ts';
export { compareLegalFamilies, legalFamiliesOf } from './names/legal-families.ts';
export { coreName, coreOf, legalFormOf, nameForms, normalName } from './names/names.ts';
export { isTooLongForName, LONGEST_NAME, namesOfBrand } from './names/names-of-brand.ts';
export { isFirstWordOfMany, regionNames } from './names/places.ts';
export { isInCapitals, publishedName } from './names/published-names.ts';
export { hasStateMark, withoutMarks } from './names/registry-names.ts';
export {
  compareTexts,
  hasOnlyCapitals,
  isShouted,
  isTooLongForIdentifier,
  LONGEST_IDENTIFIER,
  once,
  remembered,
} from './names/texts.ts';
export { properName } from './names/weak-names.ts';
export { type Reading, type ReadOptions, readIdentifier, readNamesWithCodes } from './read/readings.ts';
export {
  CLEARLY_BETTER_KNOWN,
  isUnspecific,
  leadingKeysToRead,
  TOO_MANY_LED,
} from './resolve/leading-words.ts';
export { type Meant, type NoCompany, noCompanyMeant } from './resolve/no-company.ts';
export {
  type Candidate,
  compareRanked,
  lookupRank,
  RANK_OF_LISTED,
  RANK_OF_UNKNOWN,
  type Ranked,
  rankOfMarketCapClass,
  rankOfMarketValue,
  rankOfSitelinks,
} from './resolve/rank.ts';
export { type Resolution, resolve } from './resolve/resolve.ts';
export {
  EXCHANGES,
  type Exchange,
  exchangeOfMic,
  exchangesOfBloombergCode,
  exchangesOfCountry,
  exchangesOfPrefix,
  exchangesOfYahooSuffix,
  INCORPORATING,
} from './securities/exchanges.ts';
export { isinOfMain, orderListings } from './securities/main-listing.ts';
export { readSecurityName, type SecurityType } from './securities/security-names.ts';
export { isShareOrReceipt, typeOfSecurity, typeOfTicker } from './securities/security-types.ts';
