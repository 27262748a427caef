/** What identifiers mean: from what a caller writes, and from a brand's record, to look-up keys. Pure, no I/O. */

export { readWebHost, type WebHost } from './domains.ts';
export {
  EXCHANGES,
  type Exchange,
  exchangeOfMic,
  exchangesOfBloombergCode,
  exchangesOfPrefix,
  exchangesOfYahooSuffix,
} from './exchanges.ts';
export { type BrandKey, type Kind, keysOfBrand, type Strength } from './keys.ts';
export { coreName, normalName } from './names.ts';
export { type Reading, readIdentifier } from './readings.ts';
export { type Candidate, type Resolution, resolve } from './resolve.ts';
