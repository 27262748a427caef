import type { Listing } from '@brand-data/contracts';
import { compareTexts } from '../names/texts.ts';
import { EXCHANGES, type Exchange, exchangeOfMic } from './exchanges.ts';
import { isShareOrReceipt, typeOfTicker } from './security-types.ts';

/** A listing. Stored listings lack their empty fields. */
type ListingFacts = { readonly [Field in keyof Listing]?: Listing[Field] | undefined };

/** The venues with the most turnover, for comparing venues of different countries. Within a country EXCHANGES has the order. */
const LEADING = ['XNAS', 'XNYS', 'XTKS', 'XHKG', 'XLON', 'XPAR', 'XETR', 'XAMS', 'XTSE', 'XSWX'];
const PLACES: ReadonlyMap<string, number> = new Map(
  [...new Set([...LEADING, ...EXCHANGES.map(({ mic }) => mic)])].map((mic, place) => [mic, place]),
);
const COUNTRIES: ReadonlySet<string> = new Set(EXCHANGES.map(({ country }) => country));

/** A listing with the facts that decide its place. */
type Placed<L extends ListingFacts> = Readonly<ReturnType<typeof placed<L>>[number]>;

/**
 * Puts a company's listings in order, the main listing first. `country` is the company's country, ISO 3166-1 alpha-2. Each rule
 * decides only between listings that the rules before it leave equal:
 *
 * 1. A home venue goes first. It is a venue in the country of the security's ISIN. If the ISIN is not known, or its country has
 *    no exchange (tax havens), it is a venue in the company's country or in the country of another of its ISINs. OTC Markets
 *    is never a home venue. American ISINs of listings in the company's country are those of receipts, and do not count. London is not a home venue for codes that begin with 0, which are shares from abroad.
 * 2. A venue in the company's country goes first.
 * 3. The venue whose country has the ISINs of more listings goes first, because depositary receipts have fewer listings.
 * 4. London's codes for shares from abroad go last. Then a country's primary venue goes first. Between countries, the venue with
 *    more turnover goes first.
 * 5. If possible, the main listing is one that is not marked as a further security. Then shares go before tickers that have the
 *    form of a preferred share, and listings with an ISIN or a FIGI before listings without. Then the shorter ticker goes
 *    first, because preference shares have longer ones, then the smaller ticker and the smaller MIC by code units.
 *
 * The first listing of a further security is marked `primary` if it is in the country of its ISIN, so that its bare ticker
 * finds the company. The order of `listings` does not matter, and ordering twice changes nothing.
 */
export function orderListings<L extends ListingFacts>(
  listings: readonly L[],
  { country = '' }: { readonly country?: string | undefined },
): L[] {
  const ordered = placed(listings, country.toUpperCase()).sort(byPrecedence);
  const main =
    ordered.find((first) => byVenue(first, ordered[0] ?? first) === 0 && !first.listing.primary) ??
    ordered[0];
  if (main === undefined) return [];
  const others = ordered.filter((other) => other !== main);
  const known = new Set([main.isin]);
  const marked = others.map(({ listing, venue, isin, atHome, isOtherSecurity }) => {
    const isFurther = main.isin === '' ? isin.slice(0, 2) !== main.venue?.country : !known.has(isin);
    const isFirst = isin !== '' && isFurther && !known.has(isin);
    known.add(isin);
    const isHomeShare = atHome && !isOtherSecurity && isin.slice(0, 2) === venue?.country;
    return isFirst && isHomeShare && listing.primary !== true ? { ...listing, primary: true } : listing;
  });
  return [main.listing, ...marked];
}

function placed<L extends ListingFacts>(listings: readonly L[], country: string) {
  const stated = isinsOf(listings, country);
  const isins = stated.map((isin, index) =>
    isReceiptIsin(isin, venueOf(listings[index]), country) ? '' : isin,
  );
  const homes = isins.map((isin) => isin.slice(0, 2)).map((home) => (COUNTRIES.has(home) ? home : ''));
  const listingsOfHome = new Map<string, number>();
  for (const home of homes) listingsOfHome.set(home, (listingsOfHome.get(home) ?? 0) + 1);
  return listings.map((listing, index) => {
    const venue = venueOf(listing);
    const home = homes[index] ?? '';
    const isForeignCode = isForeignCodeAt(venue, country, listing.ticker ?? '', stated[index] ?? '');
    const inCountry = venue?.country === country && !isForeignCode;
    const isHomeCountry =
      home === '' ? inCountry || listingsOfHome.has(venue?.country ?? '?') : home === venue?.country;
    return {
      listing,
      venue,
      /** The ISIN of the listing's security. '' if it is not known. */
      isin: isins[index] ?? '',
      atHome: isHomeCountry && !isForeignCode && venue?.mic !== 'OTCM',
      inCountry,
      /** Whether London or Germany list the security under a code for securities from abroad. */
      isForeignCode,
      /** Whether the form of the ticker is that of a preferred share or another security than a share. */
      isOtherSecurity: !isShareOrReceipt(typeOfTicker(listing.ticker ?? '', listing.mic ?? '')),
      /** Whether the listing has an ISIN or a FIGI. */
      isIdentified: (isins[index] ?? '') !== '' || (listing.shareClassFigi ?? '') !== '',
      /** How many of the company's listings have an ISIN of the venue's country. */
      compatriots: listingsOfHome.get(venue?.country ?? '?') ?? 0,
    };
  });
}

function venueOf(listing: ListingFacts | undefined): Exchange | undefined {
  return exchangeOfMic((listing?.mic ?? '').toUpperCase());
}

/** London's codes for shares from abroad begin with 0. Germany's for receipts of its own companies, such as "22UA", begin with a digit. */
export function isForeignCodeAt(
  venue: Exchange | undefined,
  country: string,
  ticker: string,
  isin: string,
): boolean {
  if (venue?.mic === 'XLON') return /^0[A-Z0-9]{3}$/i.test(ticker);
  return country === 'DE' && venue?.country === 'DE' && /^\d/.test(ticker) && isin.startsWith('US');
}

/**
 * Checks whether an American ISIN, found with a listing in the company's own country, is that of an American receipt. Canadian
 * companies have none: their shares themselves trade in New York. Germany's regional exchanges list receipts beside shares.
 */
function isReceiptIsin(isin: string, venue: Exchange | undefined, country: string): boolean {
  const isAtHome = venue !== undefined && venue.country === country && !venue.ownTickers;
  return isin.startsWith('US') && isAtHome && country !== 'US' && country !== 'CA';
}

/** Returns the `isin` of a company's main listing, or the home share's if it is that of a receipt. '' if that is not known. */
export function isinOfMain(
  isin: string,
  listings: readonly ListingFacts[],
  { country = '' }: { readonly country?: string | undefined },
): string {
  if (!isReceiptIsin(isin, venueOf(listings[0]), country)) return isin;
  const atHome = listings.map((listing) => listing.isin ?? '').filter((own) => own.startsWith(country));
  return new Set(atHome).size === 1 ? (atHome[0] ?? '') : '';
}

/** Returns each listing's own ISIN, else the ISIN of another listing of the same share class, rather that of the `country`. */
function isinsOf(listings: readonly ListingFacts[], country: string): string[] {
  const byShareClass = new Map(
    listings
      .map(({ isin = '', shareClassFigi = '' }) => [shareClassFigi, isin] as const)
      .filter(([figi, isin]) => figi !== '' && isin !== '')
      // If wrong data has several ISINs of a share class, the largest is used, whatever the order of the listings.
      .sort(
        ([, a], [, b]) => Number(a.startsWith(country)) - Number(b.startsWith(country)) || compareTexts(a, b),
      ),
  );
  return listings.map(({ isin, shareClassFigi }) => isin || byShareClass.get(shareClassFigi ?? '') || '');
}

function byVenue<L extends ListingFacts>(a: Placed<L>, b: Placed<L>): number {
  return (
    Number(b.atHome) - Number(a.atHome) ||
    Number(b.inCountry) - Number(a.inCountry) ||
    b.compatriots - a.compatriots ||
    Number(a.isForeignCode) - Number(b.isForeignCode) ||
    placeOf(a.venue) - placeOf(b.venue)
  );
}

function byPrecedence<L extends ListingFacts>(a: Placed<L>, b: Placed<L>): number {
  const [tickerA, tickerB] = [a.listing.ticker ?? '', b.listing.ticker ?? ''];
  return (
    byVenue(a, b) ||
    Number(a.isOtherSecurity) - Number(b.isOtherSecurity) ||
    Number(b.isIdentified) - Number(a.isIdentified) ||
    tickerA.length - tickerB.length ||
    compareTexts(tickerA, tickerB) ||
    compareTexts(a.listing.mic ?? '', b.listing.mic ?? '')
  );
}

function placeOf(venue: Exchange | undefined): number {
  return PLACES.get(venue?.mic ?? '') ?? PLACES.size;
}
