import { exchangeOfMic, exchangesOfPrefix, exchangesOfYahooSuffix } from '@brand-data/identifiers';

/** A listing of a security, as records write it. */
export interface TickerAtVenue {
  ticker: string;
  mic: string;
}

/** Class marks that are no hyphen: "BRK.B", "BF/B", "RDS A". One or two letters, so that no suffix is taken for one. */
const CLASS_MARK = /^([A-Z0-9&-]+)[./_ ]([A-Z]{1,2})$/;
const SUFFIX = /^(.+)\.([A-Z]{1,3})$/;

/**
 * A venue by its market identifier code or by a name that tickers have before a colon ("NASDAQ"). An unknown
 * code is taken as it is. Undefined: the text is neither.
 */
export function micOfVenue(venue: string): string | undefined {
  const text = venue.trim().toUpperCase();
  const known = exchangeOfMic(text)?.mic ?? exchangesOfPrefix(text.replaceAll(' ', ''))[0]?.mic;
  return known ?? (/^[A-Z0-9]{4}$/.test(text) ? text : undefined);
}

/**
 * A ticker as the exchange writes it, its class of shares after a hyphen, without the suffix by which Yahoo names the
 * venue; without a venue, that suffix names it. Undefined: the venue is unknown.
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
