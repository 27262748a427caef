import {
  americanTickerKeys,
  bareTickerKey,
  boardTickerKeys,
  MIC,
  normalTicker,
  tickerKeyAt,
  tickerText,
  withZeros,
} from '../keys/tickers.ts';
import {
  EXCHANGES,
  type Exchange,
  exchangeOfMic,
  exchangesOfBloombergCode,
  exchangesOfCountry,
  exchangesOfPrefix,
  exchangesOfReutersCode,
  exchangesOfYahooSuffix,
} from '../securities/exchanges.ts';

const DOTTED = /^(?<ticker>.+)\.(?<code>[A-Z0-9]{1,4})$/;
const CLASS_WITH_SIGN = /^[A-Z0-9&]{2,}-[A-D]$/;
const CLASS_WITHOUT_SIGN = /^([A-Z&]{2,})([A-D])$/;

/** Reads "NASDAQ/AAPL". What stands before the slash must name an exchange, because "BRK/B" is a share class. */
const bySlash = byCode(/^(?<code>[A-Z ]{3,})\/(?<ticker>.+)$/, exchangesOfPrefix);
const byDot = byCode(DOTTED, exchangesOfSuffix);
const byReutersCode = byCode(DOTTED, exchangesOfReutersCode);
const byBloombergCode = byCode(/^(?<ticker>.*\S) +(?<code>[A-Z]{2})(?: +EQUITY)?$/, exchangesOfBloombergCode);
/** Reads "AAPL-US". Codes that begin with P are left out, because "BAC-PL" is a preference share. */
const byCountry = byCode(/^(?<ticker>.+)-(?<code>[A-OQ-Z][A-Z])$/, exchangesOfCountry);

const WITHOUT_ZEROS = EXCHANGES.filter(({ zerosLeftOff }) => zerosLeftOff);

/** A ticker with the MICs of the venues where it may be listed. */
interface AtVenues {
  readonly ticker: string;
  readonly venues: readonly string[];
}

/**
 * Reads a text as a ticker, first in the notations that name the exchange, then as a bare ticker. "Tickers" in
 * packages/identifiers/README.md describes the notations. Some notations have separate steps, because they mean something else in
 * a stronger notation:
 *
 * 1. The exchange as Yahoo, Bloomberg, ISO 10383 or a prefix names it.
 * 2. The exchange as Reuters names it, because ".DU" is Düsseldorf at Yahoo and Dubai at Reuters.
 * 3. The same venues, with a sign before the share class where the text has none, or without it.
 * 4. The other venues of Germany, because a share has the same ticker on all of them.
 * 5. The bare ticker of a main listing.
 * 6. The country as FactSet names it, because the country's code may be a share class.
 * 7. The bare ticker of another listing in the United States, and that of an American company on Mexico's board.
 *
 * `joined` has the key of a main listing whose ticker has a sign before the share class where the text has none: "BRKB".
 */
export function readTicker(identifier: string): { steps: string[][]; joined: string[] } {
  const text = tickerText(identifier);
  if (text === undefined) return { steps: [], joined: [] };
  const named = byExchange(text);
  const reuters = byReutersCode(text);
  const atVenues = [...named, ...reuters];
  const ticker = normalTicker(text);
  const respelled = ticker === undefined ? undefined : withSignBeforeClass(ticker);
  const steps = [
    keysAt(named),
    keysAt(reuters),
    keysAt(atVenues.flatMap(otherSpelling)),
    keysAt(atVenues.map(elsewhereInGermany)),
    ticker === undefined
      ? []
      : [ticker, ...WITHOUT_ZEROS.map((exchange) => withZeros(exchange, ticker))].map(bareTickerKey),
    keysAt(byCountry(text)),
    ticker === undefined ? [] : [...americanTickerKeys(ticker), ...boardTickerKeys(ticker)],
  ];
  return {
    steps: steps.map((keys) => [...new Set(keys)]),
    joined: respelled === undefined ? [] : [bareTickerKey(respelled)],
  };
}

/** Checks whether a part of the text is read as an exchange or a country. */
export function namesVenue(identifier: string): boolean {
  const text = tickerText(identifier);
  if (text === undefined) return false;
  return keysAt([...byExchange(text), ...byReutersCode(text), ...byCountry(text)]).length > 0;
}

function byExchange(text: string): AtVenues[] {
  return [...byColon(text), ...bySlash(text), ...byDot(text), ...byBloombergCode(text)];
}

/** Reads "NASDAQ:AAPL", "XETR:APC", and the reverse order of Bloomberg's and FactSet's sites: "7203:JP", "AAPL:NASDAQ". */
function byColon(text: string): AtVenues[] {
  const [left, right, ...rest] = text.split(':').map((part) => part.trim());
  if (left === undefined || right === undefined || rest.length > 0) return [];
  const venuesNamed = (name: string) => {
    const venues = micsOf([...exchangesOfPrefix(name), ...exchangesOfBloombergCode(name)]);
    return venues.length > 0 || !MIC.test(name) ? venues : [name];
  };
  return [
    { ticker: right, venues: venuesNamed(left) },
    { ticker: left, venues: venuesNamed(right) },
  ];
}

/** Returns a reader of a ticker with a code of its exchanges or its country. */
function byCode(notation: RegExp, exchangesOf: (code: string) => readonly Exchange[]) {
  return (text: string): AtVenues[] => {
    const { ticker, code } = notation.exec(text)?.groups ?? {};
    return ticker === undefined || code === undefined ? [] : [{ ticker, venues: micsOf(exchangesOf(code)) }];
  };
}

/** Reads "APC.DE" as Yahoo writes it, "APC.XETR", and "AAPL.US", although Yahoo has no suffix for the United States. */
function exchangesOfSuffix(suffix: string): Exchange[] {
  const american = suffix === 'US' ? exchangesOfBloombergCode(suffix) : [];
  return [...exchangesOfYahooSuffix(suffix), exchangeOfMic(suffix) ?? [], american].flat();
}

/** Bloomberg and Reuters write "VOLVB" for "VOLV-B". Helsinki has "KESKOB", which other texts write "KESKO-B". */
function otherSpelling({ ticker, venues }: AtVenues): AtVenues[] {
  const normal = normalTicker(ticker);
  if (normal === undefined || venues.length === 0) return [];
  const withoutSign = CLASS_WITH_SIGN.test(normal) ? normal.replace('-', '') : undefined;
  const other = withSignBeforeClass(normal) ?? withoutSign;
  return other === undefined ? [] : [{ ticker: other, venues }];
}

function withSignBeforeClass(ticker: string): string | undefined {
  const [, root, shareClass] = CLASS_WITHOUT_SIGN.exec(ticker) ?? [];
  return root === undefined ? undefined : `${root}-${shareClass}`;
}

function elsewhereInGermany({ ticker, venues }: AtVenues): AtVenues {
  const german = micsOf(exchangesOfCountry('DE'));
  const isGerman = venues.some((mic) => german.includes(mic));
  return { ticker, venues: isGerman ? german.filter((mic) => !venues.includes(mic)) : [] };
}

function keysAt(readings: readonly AtVenues[]): string[] {
  return readings.flatMap(({ ticker, venues }) => {
    const normal = venues.length === 0 ? undefined : normalTicker(ticker);
    return normal === undefined ? [] : venues.map((mic) => tickerKeyAt(mic, normal));
  });
}

function micsOf(exchanges: readonly { mic: string }[]): string[] {
  return exchanges.map(({ mic }) => mic);
}
