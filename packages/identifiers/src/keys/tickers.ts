import type { Brand, Listing } from '@brand-data/contracts';
import { type Exchange, exchangeOfMic } from '../securities/exchanges.ts';
import { isShareOrReceipt, typeOfTicker } from '../securities/security-types.ts';
import type { BrandKey } from './brand-key.ts';

const DASHES = /[\p{Pd}\u2212]/gu;
const CLASS_MARKS = /[\s./_-]+/g;
/** Signs around a ticker: "(NASDAQ: AAPL)" in the press, "$AAPL" in social networks, "*" after a sole series in Mexico. */
const AROUND = /^[($\s]+|(?<![)*\s])[)*\s]+$/g;
/** The marks of preference shares: "ALA.PR.A", "ALA-PRA" and "ALA^A" all mean "ALA-PA", as Yahoo writes it. */
const PREFERENCE = /-(?:PR|P)-?([A-Z])$|\^([A-Z])$/;
const TICKER = /^[A-Z0-9&]{1,12}(?:-[A-Z0-9&]{1,6}){0,2}$/;
/** Matches tickers that are already in their normal form, as most are. */
const PLAIN_TICKER = /^[A-Z0-9&]{1,12}(?:-[A-Z0-9&])?$/;
/** The form of a MIC, in upper case. */
export const MIC = /^[A-Z0-9]{4}$/;
/** Tickers in the United States have up to five letters and a share class. */
const AMERICAN_TICKER = /^[A-Z]{1,5}(?:-[A-Z]{1,2})?$/;
const AMERICAN = '@US';
/** Mexico's international board lists American shares under their tickers at home, which some have changed since. */
export const BOARD_OF_HOME_TICKERS = 'XMEX';
const ON_BOARD = '@US-MX';

/**
 * Returns the keys of a company's listings: `ticker:APC@XETR` of every listing, `ticker:AAPL` also of main listings, `ticker:TM@US`
 * of another listing in the United States, and `ticker:AMC@US-MX` of Mexico's board if no listing at home is known. "Tickers" in
 * packages/identifiers/README.md tells which listings are main ones. If the form of a ticker shows a preferred share or another
 * security, and it has only letters (AGNCP), or also one after a sign that may be left out ("AV-B"), then it has no bare key unless
 * it is the first listing. With other signs or digits ("ALA-PA", "005935") it cannot be a word or another ticker.
 */
export function tickerKeys({ listings, company }: Pick<Brand, 'listings' | 'company'>): BrandKey[] {
  const firstMic = venueMic(listings[0]?.mic ?? '');
  const mainMic = isAbroadUnderOwnTicker(firstMic, company?.headquarters?.countryCode) ? undefined : firstMic;
  const isFromUnlistedAmerica =
    company?.headquarters?.countryCode === 'US' &&
    listings.every(({ mic }) => exchangeOfMic(venueMic(mic))?.country !== 'US');
  return listings.flatMap((listing, index): BrandKey[] => {
    const ticker = normalTicker(listing.ticker);
    if (ticker === undefined) return [];
    const mic = venueMic(listing.mic);
    const exchange = exchangeOfMic(mic);
    const written = `${listing.mic}:${listing.ticker}`;
    const atExchange = MIC.test(mic) ? [tickerKey(tickerKeyAt(mic, ticker), written)] : [];
    const isFirst = index === 0 && mic === mainMic;
    if (!isFirst && isOtherSecurityInLetters(listing.ticker, mic)) return atExchange;
    if (listing.primary || mic === mainMic) return [bareKey(exchange, ticker, listing.ticker), ...atExchange];
    const further = (keys: readonly string[]) => [
      ...keys.map((key) => tickerKey(key, listing.ticker)),
      ...atExchange,
    ];
    if (mic === BOARD_OF_HOME_TICKERS && isFromUnlistedAmerica) return further(boardTickerKeys(ticker));
    return exchange?.country === 'US' ? further(americanTickerKeys(ticker)) : atExchange;
  });
}

/** Returns the keys of tickers that the company no longer has. They find it only if nothing else has the ticker or the name. */
export function formerTickerKeys({ history }: Pick<Brand, 'history'>): BrandKey[] {
  return (history?.formerTickers ?? []).flatMap((written): BrandKey[] => {
    const ticker = normalTicker(written);
    return ticker === undefined ? [] : [{ ...tickerKey(bareTickerKey(ticker), written), strength: 'former' }];
  });
}

function isOtherSecurityInLetters(ticker: string, mic: string): boolean {
  return /^[A-Z]+(?:[\s./_-][A-D])?$/i.test(ticker) && !isShareOrReceipt(typeOfTicker(ticker, mic));
}

function isAbroadUnderOwnTicker(mic: string, country = ''): boolean {
  const venue = exchangeOfMic(mic);
  return venue?.ownTickers === true && country !== '' && country !== venue.country;
}

/** Returns a listing's key, such as `ticker:APC@XETR`. Undefined if its ticker or its MIC is malformed. */
export function exchangeTickerKey(listing: Listing): string | undefined {
  const ticker = normalTicker(listing.ticker);
  const mic = venueMic(listing.mic);
  return ticker !== undefined && MIC.test(mic) ? tickerKeyAt(mic, ticker) : undefined;
}

/** Checks whether the key is a main listing's ticker without its exchange. */
export function isBareTickerKey(key: string): boolean {
  return key.startsWith('ticker:') && !key.includes('@');
}

/** Returns the key of a ticker without its exchange, for main listings. */
export function bareTickerKey(ticker: string): string {
  return `ticker:${ticker}`;
}

/** Returns the key of a ticker without its exchange, for other listings in the United States. Empty if it is no ticker there. */
export function americanTickerKeys(ticker: string): string[] {
  return AMERICAN_TICKER.test(ticker) ? [`ticker:${ticker}${AMERICAN}`] : [];
}

/** Checks whether `americanTickerKeys` returns such a key. */
export function isAmericanTickerKey(key: string): boolean {
  return key.startsWith('ticker:') && key.endsWith(AMERICAN);
}

/** Returns the key of a ticker without its exchange, for American companies on Mexico's board. Empty if it is no American ticker. */
export function boardTickerKeys(ticker: string): string[] {
  return AMERICAN_TICKER.test(ticker) ? [`ticker:${ticker}${ON_BOARD}`] : [];
}

/** Checks whether `boardTickerKeys` returns such a key. */
export function isBoardTickerKey(key: string): boolean {
  return key.startsWith('ticker:') && key.endsWith(ON_BOARD);
}

/** Returns the key of a ticker on a venue. `ticker` must be in its normal form. */
export function tickerKeyAt(mic: string, ticker: string): string {
  const exchange = exchangeOfMic(mic);
  const atExchange = exchange?.seriesWithoutSign ? ticker.replaceAll('-', '') : ticker;
  return `ticker:${withZeros(exchange, atExchange)}@${mic}`;
}

/** Returns the ticker in upper case, with a share class after a hyphen ("BRK-B"). Undefined if the text cannot be a ticker. */
export function normalTicker(value: string): string | undefined {
  if (PLAIN_TICKER.test(value)) return value;
  const ticker = tickerText(value)
    ?.replace(CLASS_MARKS, '-')
    .replace(/-$/, '')
    .replace(PREFERENCE, (_, marked?: string, raised?: string) => `-P${marked ?? raised}`);
  return ticker !== undefined && TICKER.test(ticker) ? ticker : undefined;
}

/** Returns the text in upper case without the signs around a ticker. Undefined if it is not ASCII ("ß" would become "SS"). */
export function tickerText(value: string): string | undefined {
  const text = value.normalize('NFKC').replace(DASHES, '-').replace(AROUND, '');
  return /^[\x20-\x7e]+$/.test(text) ? text.toUpperCase() : undefined;
}

export function withZeros(exchange: Exchange | undefined, ticker: string): string {
  return exchange?.digits !== undefined && /^\d+$/.test(ticker)
    ? ticker.padStart(exchange.digits, '0')
    : ticker;
}

function venueMic(mic: string): string {
  const upper = mic.toUpperCase();
  return exchangeOfMic(upper)?.mic ?? upper;
}

/** Restores lost leading zeros in the key. Restores them in the value only if people write the exchange's tickers with zeros. */
function bareKey(exchange: Exchange | undefined, ticker: string, written: string): BrandKey {
  const whole = withZeros(exchange, ticker);
  return tickerKey(bareTickerKey(whole), whole === ticker || exchange?.zerosLeftOff ? written : whole);
}

function tickerKey(key: string, value: string): BrandKey {
  return { key, kind: 'ticker', strength: 'exact', value };
}
