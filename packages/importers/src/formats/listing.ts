import {
  exchangeOfMic,
  exchangesOfBloombergCode,
  exchangesOfPrefix,
  exchangesOfYahooSuffix,
  INCORPORATING,
  isShareOrReceipt,
  remembered,
  type SecurityType,
} from '@brand-data/identifiers';
import { slugOf } from '@brand-data/records';
import VENUES from './venues.json' with { type: 'json' };

/** A listing of a security, as records write it. */
export interface TickerAtVenue {
  ticker: string;
  mic: string;
}

/**
 * A share class after a sign that is not a hyphen: "BRK.B", "BF/B", "RDS A". A class has one or two letters, so that longer
 * suffixes of venues are not taken for classes.
 */
const CLASS_MARK = /^([A-Z0-9&-]+)[./_ ]([A-Z]{1,2})$/;
const SUFFIX = /^(.+)([. ])([A-Z]{1,3})(?: EQUITY)?$/;
const PREFIX = /^([^:]+?)\s*:\s*([^:]+)$/;

/** Preferred shares ("AAM$A", "AAMpA") and rights ("AXACr") in the symbols of NASDAQ Trader and of the tapes. */
const TAPE_MARK = /^([A-Z]{1,5})([$pr])([A-Z]?)$/;

const MICS_WITHOUT_TABLE = new Set(VENUES.mics_without_table.join(' ').split(' '));
const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(VENUES.names));

/**
 * Returns the market identifier code of a venue, given by that code, by a name that people write before a ticker and a colon
 * ("NASDAQ"), or by its letter on the American tapes ("N"). Of names that several venues share, the first country that has one of these
 * venues decides. Undefined if the text is none of these, nor a MIC in capitals that begins with X or is known.
 */
export function readVenue(
  venue: string,
  { countries = [] }: { countries?: readonly string[] | undefined } = {},
) {
  const text = venue.trim();
  const mics = micsOfName(text.toUpperCase());
  const byCountry = countries.map((code) => mics.filter((mic) => exchangeOfMic(mic)?.country === code));
  const [mic, another] = byCountry.find(({ length }) => length === 1) ?? mics;
  if (another !== undefined) return { problem: `"${text}" may be ${mics.join(' or ')}: give a MIC` };
  return mic ?? (/^X[A-Z0-9]{3}$/.test(text) || MICS_WITHOUT_TABLE.has(text) ? text : undefined);
}

/**
 * Returns the venues of a name, which may have accents, a legal form or words about a segment. Of the cities of one operator's venues
 * ("Euronext Amsterdam, Brussels"), the first one is meant.
 */
const micsOfName = remembered((name): readonly string[] => {
  const plain = name.normalize('NFKD').replace(/[\p{M}.'/]/gu, '');
  const words = plain.split(/[^\p{L}\p{N}]+/u);
  const telling = words.filter((word) => !VENUES.words_that_say_little.includes(word));
  const hasOperator = telling.some((word) => VENUES.operators.includes(word));
  const cities = telling.filter((word) => ![...VENUES.operators, ...VENUES.owners].includes(word));
  const ofCity = hasOperator ? (NAMES.get(cities.join('')) ?? NAMES.get(cities[0] ?? '')) : undefined;
  const micsOf = (key: string) => NAMES.get(key)?.split(' ') ?? exchangesOfPrefix(key).map(({ mic }) => mic);
  const found = [name, words.join(''), telling.join('')].map(micsOf).find(({ length }) => length > 0);
  return found ?? ofCity?.split(' ') ?? [];
});

/** Returns the country of an ISIN. '' if companies from elsewhere are often incorporated there. */
export function countryOfIsin(isin = ''): string {
  return INCORPORATING.has(isin.slice(0, 2)) ? '' : isin.slice(0, 2);
}

/**
 * Returns a ticker as the exchange writes it, with a share class after a hyphen ("BRK-B"), and so the mark of another American
 * security ("AAM-PA"). The venue's code is removed as Yahoo and Reuters write it after a dot ("AAPL.O"), and Bloomberg after a space
 * ("AAPL US Equity") or a colon ("AAPL:US"), as others write it before a colon ("NASDAQ:AAPL"), and the ".0" of a number. If `mic` is
 * undefined, Yahoo's or Bloomberg's code or the name before the colon gives it. Undefined if none does, or if what a colon separates
 * from the ticker is not that of `mic`.
 */
export function readListing(symbol: string, mic: string | undefined): TickerAtVenue | undefined {
  const plain = symbol
    .normalize('NFKC')
    .trim()
    .replace(/^(\d+)\.0$/, '$1');
  const venue = exchangeOfMic(mic ?? '');
  const [, root = plain, mark, series = ''] = (venue?.country === 'US' && TAPE_MARK.exec(plain)) || [];
  const text = mark === undefined ? plain.toUpperCase() : `${root}-${mark === 'r' ? 'R' : 'P'}${series}`;
  const [, before = '', after] = PREFIX.exec(text) ?? [];
  if (after !== undefined) return readColon(before, after, mic);
  const [, stem = '', sign, code = ''] = SUFFIX.exec(text) ?? [];
  const [found, another] = sign === '.' ? exchangesOfYahooSuffix(code) : exchangesOfBloombergCode(code);
  if (mic === undefined) return found && !another ? { ticker: tickerOf(stem), mic: found.mic } : undefined;
  const codes = sign === '.' ? [venue?.yahoo, venue?.reuters] : [venue?.bloomberg];
  return { ticker: tickerOf(codes.flat().includes(code) ? stem : text), mic };
}

/** Reads "NASDAQ:AAPL", and Bloomberg's reverse order, "AAPL:US". */
function readColon(before: string, after: string, mic: string | undefined): TickerAtVenue | undefined {
  const venue = exchangeOfMic(mic ?? '');
  // One letter is rather the ticker in "V:US" than a tape.
  const named = before.length === 1 ? undefined : readVenue(before, { countries: venue && [venue.country] });
  const ofBloomberg = exchangesOfBloombergCode(after);
  const isHere = ofBloomberg.some((each) => each.mic === venue?.mic);
  if (isHere || (ofBloomberg.length > 0 && named === undefined && mic === undefined))
    return readListing(`${before} ${after}`, mic);
  // "VIE:FP" is Veolia in Paris, or another ticker in Vienna.
  const isUnclear = mic === undefined && ofBloomberg.length > 0 && before.length <= 3;
  const isOther = typeof named !== 'string' || (mic !== undefined && named !== (venue?.mic ?? mic));
  return isUnclear || isOther ? undefined : readListing(after, named);
}

/** The letters after a dot or a space that are rather a share class ("BRK.B") or a preferred share than Yahoo's or Bloomberg's code. */
const CLASS = /[. ](?:[A-EG-KM-SU-Z]|PR)$/i;

function isClass(ticker: string, mic = ''): boolean {
  const { seriesWithoutSign, country } = exchangeOfMic(mic) ?? {};
  if (seriesWithoutSign && /[. ][A-Z]$/i.test(ticker)) return true;
  // The units of Canadian trusts: "REI.UN".
  return CLASS.test(ticker) || (country === 'CA' && /[. ]UN$/i.test(ticker));
}

/**
 * Returns a row's listing. A venue that its ticker names overrules one that is set for all rows, but not that of the row. The venue's
 * own code is none of another one: ".DU" is Düsseldorf's at Yahoo, and Dubai's at Reuters.
 */
export function listingOfRow(
  ticker: string,
  mic: string | undefined,
  isOfRow: boolean,
): TickerAtVenue | undefined {
  const here = readListing(ticker, mic);
  const named = isOfRow || isClass(ticker, mic) ? undefined : readListing(ticker, undefined);
  return named === undefined || named.ticker === here?.ticker ? here : named;
}

/** Returns the country of the venue that a ticker names: "FR" for "MC.PA". '' if it names none. */
export function countryOfTicker(ticker = ''): string {
  return exchangeOfMic(readListing(ticker, undefined)?.mic ?? '')?.country ?? '';
}

function tickerOf(text: string): string {
  return text.replace(CLASS_MARK, '$1-$2').replace(/\.$/, '');
}

export type OtherSecurityType = Exclude<SecurityType, 'share' | 'receipt'>;

/** What other securities are called in the plural, under which a report counts them. */
export const OTHER_SECURITIES: Readonly<Record<OtherSecurityType, string>> = {
  preferred: 'preferred shares',
  warrant: 'warrants',
  right: 'rights',
  unit: 'units',
  note: 'notes, bonds and hybrids',
  certificate: 'certificates',
  fund: 'exchange-traded products',
  test: 'test listings',
};

/** Checks whether a security of this type is no company. */
export function isOtherSecurity(type: SecurityType | undefined): type is OtherSecurityType {
  return !isShareOrReceipt(type);
}

/** Signs that venues put before the mark of another security, and the marks of Yahoo's tickers. */
const SIGNS: readonly (readonly [sign: RegExp, mark: string])[] = [
  [/[$^]/, '-P'],
  [/\+/, '-WS'],
  [/=/, '-U'],
  [/[^A-Z0-9.&]+/g, '-'],
];

/**
 * Returns the fields of a record of a security that is no company. Undefined if the security has no usable ticker. Only the id of a
 * fund is that of a company with its ticker, which it replaces: the tickers of other securities may differ from those of shares by
 * signs only.
 */
export function otherSecurity(
  type: OtherSecurityType | 'security',
  name: string,
  { ticker: written, mic }: TickerAtVenue,
) {
  const signed = SIGNS.reduce((text, [sign, mark]) => text.replace(sign, mark), written);
  const ticker = signed.replace(/^[-.&]+|-$/g, '').slice(0, 20);
  const category = { preferred: 'preferred_share', test: 'test_issue' }[type as string] ?? type;
  const id = slugOf(type === 'fund' ? `${mic} ${ticker}` : `${mic} ${ticker} ${category}`);
  return ticker === '' || name === '' ? undefined : { id, name, category, listings: [{ ticker, mic }] };
}
