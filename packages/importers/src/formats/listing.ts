import { exchangeOfMic, exchangesOfPrefix, exchangesOfYahooSuffix } from '@brand-data/identifiers';

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
const SUFFIX = /^(.+)\.([A-Z]{1,3})$/;

/**
 * Returns the market identifier code of a venue, given by that code or by a name that people write before a ticker and a colon
 * ("NASDAQ"). A code that is not in the table of exchanges is returned as it is. Undefined if the text is neither.
 */
export function micOfVenue(venue: string): string | undefined {
  const text = venue.trim().toUpperCase();
  const known = exchangeOfMic(text)?.mic ?? exchangesOfPrefix(text.replaceAll(' ', ''))[0]?.mic;
  return known ?? (/^[A-Z0-9]{4}$/.test(text) ? text : undefined);
}

/**
 * Returns a ticker as the exchange writes it, with a share class after a hyphen. Yahoo's suffix for the venue is removed. If `mic`
 * is undefined, that suffix gives the venue. Undefined if the venue is unknown.
 */
export function readListing(symbol: string, mic: string | undefined): TickerAtVenue | undefined {
  const text = symbol.normalize('NFKC').trim().toUpperCase();
  const [, stem = '', suffix = ''] = SUFFIX.exec(text) ?? [];
  const bySuffix = stem === '' ? undefined : exchangesOfYahooSuffix(suffix)[0]?.mic;
  if (mic === undefined)
    return bySuffix === undefined ? undefined : { ticker: tickerOf(stem), mic: bySuffix };
  const isNamedTwice = bySuffix !== undefined && bySuffix === (exchangeOfMic(mic)?.mic ?? mic);
  return { ticker: tickerOf(isNamedTwice ? stem : text), mic };
}

function tickerOf(text: string): string {
  return text.replace(CLASS_MARK, '$1-$2').replace(/\.$/, '');
}
