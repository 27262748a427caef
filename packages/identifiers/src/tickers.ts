import type { Listing } from '@brand-data/contracts';
import {
  EXCHANGES,
  type Exchange,
  exchangeOfMic,
  exchangesOfBloombergCode,
  exchangesOfPrefix,
  exchangesOfYahooSuffix,
} from './exchanges.ts';
import type { BrandKey } from './keys.ts';
import { isShareOrReceipt, typeOfTicker } from './securities.ts';

const DASHES = /[\p{Pd}\u2212]/gu;
const CLASS_MARKS = /[\s./_-]+/g;
/** Signs around a ticker: "(NASDAQ: AAPL)" in the press, "$AAPL" in social networks, "*" after a sole series in Mexico. */
const AROUND = /^[($\s]+|[)*\s]+$/g;
/** The marks of preference shares: "ALA.PR.A", "ALA-PRA" and "ALA^A" all mean "ALA-PA", as Yahoo writes it. */
const PREFERENCE = /-(?:PR|P)-?([A-Z])$|\^([A-Z])$/;
const TICKER = /^[A-Z0-9&]{1,12}(?:-[A-Z0-9&]{1,6}){0,2}$/;
/** Matches tickers that are already in their normal form, as most are. */
const PLAIN_TICKER = /^[A-Z0-9&]{1,12}(?:-[A-Z0-9&])?$/;
const MIC = /^[A-Z0-9]{4}$/;
const BLOOMBERG = /^(.+) +([A-Z]{2})(?: +EQUITY)?$/;
const DOTTED = /^(.+)\.([A-Z0-9]{1,4})$/;

const WITHOUT_ZEROS = EXCHANGES.filter(({ zerosLeftOff }) => zerosLeftOff);

/** The keys that a text may mean, read as a ticker with its exchange and as a bare ticker. */
export interface TickerReadings {
  readonly atExchange: string[];
  readonly bare: string[];
}

/**
 * The keys of listings. Every listing has a key such as `ticker:APC@XETR`. Main listings also have a bare key such as
 * `ticker:AAPL`. These are the first listing, listings marked primary, and share classes on the first listing's venue. If
 * the form of a ticker shows a preferred share or another security, and the ticker has only letters (AGNCP, CBAPH), then it has
 * no bare key unless it is the first listing. With a sign or digits ("ALA-PA", "005935") it cannot be a word or another ticker.
 */
export function tickerKeys(listings: readonly Listing[]): BrandKey[] {
  const mainMic = venueMic(listings[0]?.mic ?? '');
  return listings.flatMap((listing, index): BrandKey[] => {
    const key = exchangeTickerKey(listing);
    const atExchange = key === undefined ? [] : [tickerKey(key, `${listing.mic}:${listing.ticker}`)];
    const mic = venueMic(listing.mic);
    const isMain =
      index === 0 || ((listing.primary || mic === mainMic) && !isOtherSecurityInLetters(listing.ticker, mic));
    return isMain ? [...bareKeys(exchangeOfMic(mic), listing.ticker), ...atExchange] : atExchange;
  });
}

function isOtherSecurityInLetters(ticker: string, mic: string): boolean {
  return /^[A-Z]+$/i.test(ticker) && !isShareOrReceipt(typeOfTicker(ticker, mic));
}

/** A listing's key, such as `ticker:APC@XETR`. Undefined if its ticker or its MIC is malformed. */
export function exchangeTickerKey(listing: Listing): string | undefined {
  const ticker = normalTicker(listing.ticker);
  const mic = venueMic(listing.mic);
  return ticker !== undefined && MIC.test(mic) ? keyAt(mic, ticker) : undefined;
}

/** Whether the key is a ticker without an exchange. */
export function isBareTickerKey(key: string): boolean {
  return key.startsWith('ticker:') && !key.includes('@');
}

export function readTicker(identifier: string): TickerReadings {
  const text = tickerText(identifier);
  if (text === undefined) return { atExchange: [], bare: [] };
  const ticker = normalTicker(text);
  const bare =
    ticker === undefined ? [] : [ticker, ...WITHOUT_ZEROS.map((exchange) => withZeros(exchange, ticker))];
  return {
    atExchange: unique([...byColon(text), ...byDot(text), ...byBloombergCode(text)]),
    bare: unique(bare).map((written) => `ticker:${written}`),
  };
}

/** Reads "NASDAQ:AAPL", "XETR:APC", and the reverse order of Bloomberg's site: "7203:JP". */
function byColon(text: string): string[] {
  const [left, right, ...rest] = text.split(':').map((part) => part.trim());
  if (left === undefined || right === undefined || rest.length > 0) return [];
  return [...keysAt(venuesNamed(left), right), ...keysAt(venuesNamed(right), left)];
}

function venuesNamed(name: string): string[] {
  const venues = [...exchangesOfPrefix(name), ...exchangesOfBloombergCode(name)].map(({ mic }) => mic);
  return venues.length > 0 ? venues : MIC.test(name) ? [name] : [];
}

/** Reads "APC.DE" as Yahoo writes it, "APC.XETR", and "AAPL.US", although Yahoo has no suffix for the United States. */
function byDot(text: string): string[] {
  const [, ticker = '', suffix = ''] = DOTTED.exec(text) ?? [];
  const byMic = exchangeOfMic(suffix);
  const venues = [
    ...exchangesOfYahooSuffix(suffix),
    ...(byMic === undefined ? [] : [byMic]),
    ...(suffix === 'US' ? exchangesOfBloombergCode(suffix) : []),
  ];
  return keysAt(
    venues.map(({ mic }) => mic),
    ticker,
  );
}

function byBloombergCode(text: string): string[] {
  const [, ticker = '', code = ''] = BLOOMBERG.exec(text) ?? [];
  return keysAt(
    exchangesOfBloombergCode(code).map(({ mic }) => mic),
    ticker,
  );
}

function keysAt(venues: readonly string[], text: string): string[] {
  const ticker = normalTicker(text);
  if (ticker === undefined) return [];
  return venues.map((mic) => keyAt(mic, ticker));
}

function keyAt(mic: string, ticker: string): string {
  return `ticker:${asWrittenAt(exchangeOfMic(mic), ticker)}@${mic}`;
}

/** The ticker in upper case, with a share class after a hyphen ("BRK-B"). Undefined if the text cannot be a ticker. */
function normalTicker(value: string): string | undefined {
  if (PLAIN_TICKER.test(value)) return value;
  const ticker = tickerText(value)
    ?.replace(CLASS_MARKS, '-')
    .replace(/-$/, '')
    .replace(PREFERENCE, (_, marked?: string, raised?: string) => `-P${marked ?? raised}`);
  return ticker !== undefined && TICKER.test(ticker) ? ticker : undefined;
}

/** Undefined if the text is not ASCII, as all tickers are. This is checked before `toUpperCase` turns "ß" into "SS". */
function tickerText(value: string): string | undefined {
  const text = value.normalize('NFKC').replace(DASHES, '-').replace(AROUND, '');
  return /^[\x20-\x7e]+$/.test(text) ? text.toUpperCase() : undefined;
}

function asWrittenAt(exchange: Exchange | undefined, ticker: string): string {
  return withZeros(exchange, exchange?.seriesWithoutSign ? ticker.replaceAll('-', '') : ticker);
}

function withZeros(exchange: Exchange | undefined, ticker: string): string {
  return exchange?.digits !== undefined && /^\d+$/.test(ticker)
    ? ticker.padStart(exchange.digits, '0')
    : ticker;
}

function venueMic(mic: string): string {
  const upper = mic.toUpperCase();
  return exchangeOfMic(upper)?.mic ?? upper;
}

/** Restores lost leading zeros in the key. Restores them in the value only if people write the exchange's tickers with zeros. */
function bareKeys(exchange: Exchange | undefined, written: string): BrandKey[] {
  const ticker = normalTicker(written);
  if (ticker === undefined) return [];
  const whole = withZeros(exchange, ticker);
  return [tickerKey(`ticker:${whole}`, whole === ticker || exchange?.zerosLeftOff ? written : whole)];
}

function tickerKey(key: string, value: string): BrandKey {
  return { key, kind: 'ticker', strength: 'exact', value };
}

function unique(keys: readonly string[]): string[] {
  return [...new Set(keys)];
}
