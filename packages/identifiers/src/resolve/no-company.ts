import type { Brand } from '@brand-data/contracts';
import { isAmericanTickerKey, isBareTickerKey, isBoardTickerKey, normalTicker } from '../keys/tickers.ts';
import { isCommonAsTicker } from '../names/common-words.ts';
import { coreName, normalName } from '../names/names.ts';
import type { ReadOptions } from '../read/readings.ts';
import { isAmerican, lookupRank, RANK_OF_OTHER_SECURITY } from './rank.ts';
import RESERVED from './reserved-codes.json' with { type: 'json' };
import type { Resolution } from './resolve.ts';

export interface NoCompany {
  /** In words: "fund", "preferred share", "currency". */
  readonly kind: string;
  readonly name: string;
}

/** A record with the way in which the identifier matches it. */
export interface Meant {
  readonly brand: Brand;
  readonly resolution: Pick<Resolution, 'kind' | 'strength' | 'keys'>;
}

const COINS = new Map(Object.entries(RESERVED.coins));
const COIN_NAMES = new Map(Object.values(RESERVED.coins).map((name) => [normalName(name), name]));
const CURRENCIES: ReadonlySet<string> = new Set(RESERVED.currencies.split(' '));
const MOST_TRADED: ReadonlySet<string> = new Set(RESERVED.mostTraded.split(' '));
const CURRENCY_NAMES = new Intl.DisplayNames('en', { type: 'currency' });

/**
 * Returns what the identifier means if that is no company: a currency or a coin by its code, a coin by its name, or the other
 * security that it finds. Undefined if it means the company that it finds, or nothing.
 *
 * @param company what the identifier means among the companies
 * @param security what it means among the other securities
 * @param options.kind as for `readIdentifier`: a code is a ticker, and a coin's name a name
 */
export function noCompanyMeant(
  identifier: string,
  company: Meant | undefined,
  security: Meant | undefined,
  { kind }: Pick<ReadOptions, 'kind'> = {},
): NoCompany | undefined {
  const reserved = reservedMeaning(identifier, kind);
  if (reserved !== undefined && !(company && precedesReserved(identifier, company, reserved)))
    return reserved;
  if (security === undefined || security.resolution.strength !== 'exact') return undefined;
  if (company !== undefined && precedesSecurity(identifier, company, security)) return undefined;
  const { category, name } = security.brand;
  return { kind: category.replaceAll('_', ' '), name };
}

/** Reads codes in capitals or small letters, other than common words ("all"), and the names of coins. */
function reservedMeaning(identifier: string, only: ReadOptions['kind']): NoCompany | undefined {
  const text = identifier.trim();
  const code = text.toUpperCase();
  const coinName = (only ?? 'name') === 'name' ? COIN_NAMES.get(normalName(text)) : undefined;
  if (coinName !== undefined) return { kind: 'coin', name: coinName };
  if ((only ?? 'ticker') !== 'ticker') return undefined;
  if (text !== code && (text !== text.toLowerCase() || isCommonAsTicker(text))) return undefined;
  const coin = COINS.get(code);
  if (coin !== undefined) return { kind: 'coin', name: coin };
  return CURRENCIES.has(code) ? { kind: 'currency', name: CURRENCY_NAMES.of(code) ?? code } : undefined;
}

/**
 * Checks whether the company is meant rather than the currency or the coin. A company that is listed in the United States keeps the
 * codes that few people know: "SVC" is Service Properties Trust, and not the Salvadoran colón.
 */
function precedesReserved(identifier: string, company: Meant, { kind: reserved }: NoCompany): boolean {
  const { brand, resolution } = company;
  const { kind, strength, keys } = resolution;
  if (isWellKnown(brand)) return true;
  if (kind === 'name') return strength === 'exact';
  const isBare = (key: string) => isBareTickerKey(key) || isAmericanTickerKey(key) || isBoardTickerKey(key);
  if (kind !== 'ticker' || !keys.some(isBare)) return true;
  const isKnownCode = reserved === 'coin' || MOST_TRADED.has(identifier.trim().toUpperCase());
  return !isKnownCode && isListedInAmerica(company);
}

/**
 * Checks whether the company is meant rather than the security. Only a security in the United States, where all securities have
 * different tickers, ever precedes a company.
 */
function precedesSecurity(identifier: string, company: Meant, security: Meant): boolean {
  const { brand, resolution } = company;
  if (lookupRank(security.brand) < RANK_OF_OTHER_SECURITY || isWellKnown(brand)) return true;
  if (resolution.kind !== 'ticker' && resolution.kind !== 'name') return true;
  const isWritten = identifier !== identifier.toUpperCase();
  const isByTicker = security.resolution.kind === 'ticker';
  if (
    isByTicker &&
    isWritten &&
    (resolution.kind === 'name' || coreName(identifier) === coreName(brand.name))
  )
    return true;
  const isRanked = !brand.derivedFields.includes('rank');
  return isRanked && isListedInAmerica(company);
}

function isWellKnown(brand: Brand): boolean {
  return brand.rank >= RANK_OF_OTHER_SECURITY;
}

/** Checks whether the ticker that matches is the company's in the United States. */
function isListedInAmerica({ brand, resolution }: Meant): boolean {
  const tickers = resolution.keys.map((key) => /^ticker:([^@]*)/.exec(key)?.[1]);
  return brand.listings.some(({ mic, ticker }) => isAmerican(mic) && tickers.includes(normalTicker(ticker)));
}
