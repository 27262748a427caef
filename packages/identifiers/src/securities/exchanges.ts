import { rowsOf } from '../names/texts.ts';
import CURRENCIES from './currencies.json' with { type: 'json' };
import TABLE from './exchange-table.json' with { type: 'json' };

/** A venue where securities trade, and the codes and names by which texts refer to it. */
export type Exchange = Readonly<ReturnType<typeof exchangeFromLine>>;

const CURRENCY_OF_COUNTRY: ReadonlyMap<string, string> = new Map(
  Object.entries(CURRENCIES).flatMap(([currency, countries]) =>
    countries.split(' ').map((country) => [country, currency] as const),
  ),
);

/**
 * The world's main venues, one a row of the file. Within a country the primary venue comes first. Values in one column are separated by
 * spaces, and "-" stands for none.
 */
export const EXCHANGES: readonly Exchange[] = rowsOf(TABLE.rows.slice(1)).map(exchangeFromLine);

function exchangeFromLine(line: string) {
  const cells = line.split('|').map((cell) => cell.trim());
  const [mic = '', code = '', name = '', country = ''] = cells;
  const [yahoo = [], reuters = [], bloomberg = [], prefixes = [], otherMics = [], tickers = []] = cells
    .slice(4)
    .map((cell): readonly string[] => (cell === '-' ? [] : cell.split(' ')));
  const digits = tickers.find((property) => property.startsWith('digits='));
  return {
    /** The market identifier code (ISO 10383) of listings. */
    mic,
    /** The short code in quotes. */
    code,
    name,
    /** ISO 3166-1 alpha-2. */
    country,
    /** The currency of the country's prices (ISO 4217). A venue may quote single securities in others, as London does in dollars. */
    currency: CURRENCY_OF_COUNTRY.get(country) ?? '',
    /** Yahoo's suffixes, without the dot. Venues in the United States have none. */
    yahoo,
    /**
     * Reuters' codes after the dot, where they differ from Yahoo's suffixes. Its codes "A", "D", "H" and "P" are left out, because
     * they look like share classes ("BRK.A").
     */
    reuters,
    /** Bloomberg's codes: the venue's own code, then its country's composite code, which other venues may share. */
    bloomberg,
    /** Further prefixes ("NASDAQ:AAPL"), in upper case without spaces. The code, the name and the MICs are prefixes anyway. */
    prefixes,
    /** Other MICs of this venue: those of its operator and its segments, and former MICs. */
    otherMics,
    /** The least number of digits of a numeric ticker. A shorter number gets leading zeros. */
    digits: digits === undefined ? undefined : Number(digits.slice('digits='.length)),
    /** Whether people usually omit the leading zeros of numeric tickers. If they do, any bare number may be a ticker. */
    zerosLeftOff: tickers.includes('zerosLeftOff'),
    /** Whether shares from abroad have tickers of the venue's own, which are not those of their home venues. */
    ownTickers: tickers.includes('ownTickers'),
    /** Whether the series of a share follows the ticker without a sign: "AMX B" is "AMXB". */
    seriesWithoutSign: tickers.includes('seriesWithoutSign'),
  };
}

const plain = (name: string): string => name.toUpperCase().replaceAll(' ', '');
const mics = (exchange: Exchange): string[] => [exchange.mic, ...exchange.otherMics];

const byMic = new Map(EXCHANGES.flatMap((exchange) => mics(exchange).map((mic) => [mic, exchange])));
const byPrefix = grouped((exchange) => [
  ...new Set([...mics(exchange), plain(exchange.code), plain(exchange.name), ...exchange.prefixes]),
]);

/** Returns the venue that has this MIC, or a segment with this MIC. `mic` must be in upper case. */
export function exchangeOfMic(mic: string): Exchange | undefined {
  return byMic.get(mic);
}

/** Returns the venues with this Yahoo suffix, such as "DE". It must be in upper case, without the dot. */
export const exchangesOfYahooSuffix = grouped(({ yahoo }) => yahoo);

/** Returns the venues with this Reuters code, such as "OQ", if it differs from Yahoo's. In upper case, without the dot. */
export const exchangesOfReutersCode = grouped(({ reuters }) => reuters);

/** Returns the venues of a country, by its upper-case code in ISO 3166-1 alpha-2. */
export const exchangesOfCountry = grouped(({ country }) => [country]);

/** Countries with an exchange where companies from elsewhere are often incorporated. */
export const INCORPORATING: ReadonlySet<string> = new Set(['CH', 'CY', 'IE', 'NL']);

/** Returns the venues with this Bloomberg code, in upper case. A composite code ("US", "GR") means all venues of its country. */
export const exchangesOfBloombergCode = grouped(({ bloomberg }) => bloomberg);

/** Returns the venues that a text before a colon means: a MIC, a short code or a name. Ignores upper and lower case. */
export function exchangesOfPrefix(prefix: string): readonly Exchange[] {
  return byPrefix(plain(prefix));
}

function grouped(namesOf: (exchange: Exchange) => readonly string[]): (name: string) => readonly Exchange[] {
  const groups = new Map<string, Exchange[]>();
  for (const exchange of EXCHANGES)
    for (const name of namesOf(exchange)) groups.set(name, [...(groups.get(name) ?? []), exchange]);
  return (name) => groups.get(name) ?? [];
}
