import { Brand, BrandType, type Quote, Stock } from '@brand-data/contracts';
import {
  compareRanked,
  exchangeOfMic,
  isWeak,
  keysOfBrand,
  type Ranked,
  readIdentifier,
} from '@brand-data/identifiers';
import { FIGURES, recordFieldName } from '@brand-data/records';
import { mainListingOf } from './merge.ts';
import { quoteRecordOf, type SourceRecord } from './source-record.ts';

/** A ticker's key that names a venue, by its MIC. */
const AT_VENUE = /^ticker:.+@[A-Z0-9]{4}$/;
/** If a price or a market value is so many times another one, the two are hardly those of one security. */
const MOST_TIMES = 20;
const MEND = 'give its venue or ISIN if it is of this listing';

/** Returns the reason for skipping or refusing a quote. */
export function noMainListing(listing: string): string {
  return `no company here has ${listing} as its main listing`;
}

/** Returns the keys of the main listings that the quote may describe, in order of precedence. */
export function keysOfQuote({ symbol, mic, isin }: Quote): string[] {
  const identifier = symbol === '' ? isin : mic === '' ? symbol : `${mic}:${symbol}`;
  const kind = symbol === '' ? 'isin' : 'ticker';
  const readings = readIdentifier(identifier, { superinvestors: false, kind }).filter(
    (reading) => !isWeak(reading.strength) && (kind === 'isin' || mic === '' || AT_VENUE.test(reading.key)),
  );
  return readings.toSorted((a, b) => a.step - b.step).map(({ key }) => key);
}

/** The reason why a quote is not put. */
type Objection = { readonly skipped: string } | { readonly refused: string };

/**
 * Returns the quote as a source record of the candidate whose main listing it describes. A quote without a venue is skipped if its
 * currency is not the main listing's. If only its ticker says which listing it describes, it is refused if its price or market
 * value is far from the known one, or if main listings in several countries fit.
 */
export function placeQuote(
  source: string,
  importId: string,
  quote: Quote,
  candidates: readonly (Ranked & { readonly bytes: Uint8Array })[],
): SourceRecord | Objection {
  const inOrder = candidates.toSorted(compareRanked);
  const brands = inOrder.map(({ bytes }) => Brand.decode(bytes));
  let reason: Objection = { skipped: noMainListing(quote.symbol || quote.isin) };
  for (const key of keysOfQuote(quote)) {
    const having = brands.filter(
      (brand) => isMainListingKey(key, brand) && hasIsin(brand, quote.isin) && isOnVenue(brand, quote.mic),
    );
    const isOnVenueOfQuote = quote.mic !== '' || AT_VENUE.test(key);
    const objections = having.map((brand) => (isOnVenueOfQuote ? undefined : objectionTo(quote, brand)));
    const fitting = having.filter((_, index) => objections[index] === undefined);
    const atHome = fitting.filter((brand) => venueOf(brand)?.currency === currencyOf(quote));
    const [company, ...others] = atHome.length > 0 ? atHome : fitting;
    if (company === undefined) {
      reason = objections.find((one) => one !== undefined) ?? reason;
      continue;
    }
    const elsewhere = others.find((other) => venueOf(other)?.country !== venueOf(company)?.country);
    if (elsewhere !== undefined)
      return { refused: `${mainListingOf(company)} and ${mainListingOf(elsewhere)} fit: give its venue` };
    return recordFor(source, importId, quote, company);
  }
  return reason;
}

function recordFor(source: string, importId: string, quote: Quote, company: Brand): SourceRecord {
  const [main] = company.listings;
  const stock = Stock.fromPartial(
    Object.fromEntries(FIGURES.map((figure) => [figure, quote.stock?.[figure]])),
  );
  const figures = Brand.fromPartial({
    type: BrandType.STOCK,
    listings: main === undefined ? [] : [{ ticker: main.ticker, mic: main.mic }],
    stock,
    sources: quote.source === undefined ? [] : [quote.source],
  });
  return quoteRecordOf(source, importId, mainListingOf(company) ?? '', figures);
}

/** Returns why a quote without a venue is not of the company's main listing. */
function objectionTo(quote: Quote, brand: Brand): Objection | undefined {
  const listing = mainListingOf(brand);
  const { stock } = brand;
  const currencies = [venueOf(brand)?.currency, stock?.currency].filter(Boolean);
  if (currencies.length > 0 && !currencies.includes(currencyOf(quote))) {
    const own = quote.stock?.currency ? `is in ${quote.stock.currency}` : 'has no currency';
    return { skipped: `${listing} trades in ${currencies[0]}, and the quote ${own}: ${MEND}` };
  }
  if (quote.isin !== '') return undefined;
  const isOneCurrency = (stock?.currency || currencyOf(quote)) === currencyOf(quote);
  // Market values decide before prices, because a split changes only the price.
  const figure = (['marketCapUsd', isOneCurrency ? 'price' : 'priceUsd'] as const).find(
    (each) => stock?.[each] && quote.stock?.[each],
  );
  if (figure === undefined) return undefined;
  const [known = 0, stated = 0] = [stock?.[figure], quote.stock?.[figure]];
  if (Math.max(known, stated) <= MOST_TIMES * Math.min(known, stated)) return undefined;
  return { refused: `${recordFieldName(figure)} ${stated} is far from ${known} of ${listing}: ${MEND}` };
}

/** A quote without a currency counts as American. */
function currencyOf({ stock }: Quote): string {
  return stock?.currency || 'USD';
}

function venueOf({ listings }: Brand) {
  return exchangeOfMic(listings[0]?.mic ?? '');
}

function isMainListingKey(key: string, { type, listings, stock }: Brand): boolean {
  const main = Brand.fromPartial({
    type,
    listings: listings.slice(0, 1),
    stock: { isin: stock?.isin ?? '' },
  });
  return keysOfBrand(main).some((own) => own.key === key);
}

function hasIsin({ listings, stock }: Brand, isin: string): boolean {
  return isin === '' || stock?.isin === isin || listings[0]?.isin === isin;
}

function isOnVenue(brand: Brand, mic: string): boolean {
  return (
    mic === '' || mic === brand.listings[0]?.mic || (venueOf(brand)?.mic ?? '?') === exchangeOfMic(mic)?.mic
  );
}
