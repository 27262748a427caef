/** Decides what identifiers mean. Derives look-up keys from a caller's text and from a brand's record. Pure, no I/O. */

export {
  type CompanyName,
  companyName,
  comparableNames,
  compareNames,
  isNamedAfter,
} from './company-names.ts';
export { compareRanked, compareTexts } from './compare-texts.ts';
export { MOST_ADDRESSES, readWebHost, type WebHost } from './domains.ts';
export {
  EXCHANGES,
  type Exchange,
  exchangeOfMic,
  exchangesOfBloombergCode,
  exchangesOfCountry,
  exchangesOfPrefix,
  exchangesOfReutersCode,
  exchangesOfYahooSuffix,
} from './exchanges.ts';
export { type Identity, identityOf, kindOf, secondaryKeys } from './identity.ts';
export { type BrandKey, isWeak, type Kind, keysOfBrand, type Strength } from './keys.ts';
export { compareLegalFamilies, type FormsAgreement, legalFamiliesOf } from './legal-families.ts';
export { contradictionsBetween, haveOneDomain, type Link, linkBetween, whyNotLinked } from './link.ts';
export { orderListings } from './main-listing.ts';
export { explainMiss, type Flaw, flawOf } from './misses.ts';
export { soundKeys, soundKeysToRead, spellingDistance } from './misspellings.ts';
export { coreName, legalFormOf, type NameForm, nameForms, normalName } from './names.ts';
export { isTooLongForName, LONGEST_NAME, namesOfBrand } from './names-of-brand.ts';
export { type NameWithCode, readNamesWithCodes } from './names-with-codes.ts';
export { properName } from './proper-names.ts';
export {
  isBareRank,
  lookupRank,
  RANK_OF_UNKNOWN,
  rankOfMarketCapClass,
  rankOfMarketValue,
  rankOfSitelinks,
} from './rank.ts';
export { type Reading, readIdentifier } from './readings.ts';
export { type Candidate, type Resolution, resolve } from './resolve.ts';
export {
  isShareOrReceipt,
  type SecurityFacts,
  type SecurityType,
  typeOfSecurity,
  typeOfTicker,
} from './securities.ts';
export { cusipOfIsin, isCusip, isFigi, isIsin, isLei, type SecurityKind } from './security-ids.ts';
export { readSecurityName, type SecurityName } from './security-names.ts';
export { isBareTickerKey } from './tickers.ts';
