import type { Listing } from '@brand-data/contracts';
import { compareTexts } from './compare-texts.ts';
import { EXCHANGES, type Exchange, exchangeOfMic } from './exchanges.ts';

/** A listing, or a stored one without its empty fields. */
type ListingFacts = { readonly [Field in keyof Listing]?: Listing[Field] | undefined };

/** The venues with the most turnover, for companies without one at home. Within a country as in EXCHANGES. */
const LEADING = ['XNAS', 'XNYS', 'XTKS', 'XHKG', 'XLON', 'XPAR', 'XETR', 'XAMS', 'XTSE', 'XSWX'];
const PLACES: ReadonlyMap<string, number> = new Map(
  [...new Set([...LEADING, ...EXCHANGES.map(({ mic }) => mic)])].map((mic, place) => [mic, place]),
);
const COUNTRIES: ReadonlySet<string> = new Set(EXCHANGES.map(({ country }) => country));

/** What decides about a listing. */
interface Placed<L> {
  readonly listing: L;
  readonly venue: Exchange | undefined;
  /** Of its security; '' when it is not known. */
  readonly isin: string;
  readonly atHome: boolean;
  readonly inCountry: boolean;
  /** London's code of a share from abroad. */
  readonly isGuest: boolean;
  /** How many of the company's listings have an ISIN of the venue's country. */
  readonly compatriots: number;
}

/**
 * A company's listings, its main listing first; `country` is the company's, ISO 3166-1 alpha-2. Each rule decides only
 * what those before it leave open:
 *
 * 1. a venue at home: in the country of the security's ISIN. Where that is not known, or is one without an exchange
 *    (tax havens): in the company's country, or that of another of its ISINs. OTC Markets is nobody's home, and London
 *    is not for its codes that begin with 0, which are of shares from abroad.
 * 2. a venue in the company's country.
 * 3. more of the listings have an ISIN of the venue's country: depositary receipts are the fewer.
 * 4. any code but one of London's for shares from abroad; then the venue: a country's primary one, and between countries the one with more turnover.
 * 5. for the main listing alone: not marked as a further security's. Then the shorter ticker (those of preference shares are longer), then ticker
 *    and MIC by code units.
 *
 * A further security's first listing is marked `primary` when it is at home by its ISIN, so that the bare ticker finds
 * the company. The order of `listings` does not matter, and ordering twice is ordering once.
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
  const marked = others.map(({ listing, venue, isin, atHome }) => {
    const isFurther = main.isin === '' ? isin.slice(0, 2) !== main.venue?.country : !known.has(isin);
    const isFirst = isin !== '' && isFurther && !known.has(isin);
    known.add(isin);
    return isFirst && atHome && isin.slice(0, 2) === venue?.country && listing.primary !== true
      ? { ...listing, primary: true }
      : listing;
  });
  return [main.listing, ...marked];
}

function placed<L extends ListingFacts>(listings: readonly L[], country: string): Placed<L>[] {
  const isins = isinsOf(listings);
  const homes = isins.map((isin) => isin.slice(0, 2)).map((home) => (COUNTRIES.has(home) ? home : ''));
  return listings.map((listing, index) => {
    const venue = exchangeOfMic((listing.mic ?? '').toUpperCase());
    const home = homes[index] ?? '';
    const isGuest = venue?.mic === 'XLON' && /^0[A-Z0-9]{3}$/i.test(listing.ticker ?? '');
    const inCountry = venue?.country === country && !isGuest;
    const isHomeCountry =
      home === '' ? inCountry || homes.includes(venue?.country ?? '?') : home === venue?.country;
    return {
      listing,
      venue,
      isin: isins[index] ?? '',
      atHome: isHomeCountry && !isGuest && venue?.mic !== 'OTCM',
      inCountry,
      isGuest,
      compatriots: homes.filter((other) => other === venue?.country).length,
    };
  });
}

/** A listing's own, else one that another listing of the same share class has. */
function isinsOf(listings: readonly ListingFacts[]): string[] {
  const byShareClass = new Map(
    listings
      .map(({ isin = '', shareClassFigi = '' }) => [shareClassFigi, isin] as const)
      .filter(([figi, isin]) => figi !== '' && isin !== '')
      // Dirty data has several: the last, which counts, must not depend on the order in which they came.
      .sort(([, a], [, b]) => compareTexts(a, b)),
  );
  return listings.map(({ isin, shareClassFigi }) => isin || byShareClass.get(shareClassFigi ?? '') || '');
}

function byVenue<L extends ListingFacts>(a: Placed<L>, b: Placed<L>): number {
  return (
    Number(b.atHome) - Number(a.atHome) ||
    Number(b.inCountry) - Number(a.inCountry) ||
    b.compatriots - a.compatriots ||
    Number(a.isGuest) - Number(b.isGuest) ||
    placeOf(a.venue) - placeOf(b.venue)
  );
}

function byPrecedence<L extends ListingFacts>(a: Placed<L>, b: Placed<L>): number {
  const [tickerA, tickerB] = [a.listing.ticker ?? '', b.listing.ticker ?? ''];
  return (
    byVenue(a, b) ||
    tickerA.length - tickerB.length ||
    compareTexts(tickerA, tickerB) ||
    compareTexts(a.listing.mic ?? '', b.listing.mic ?? '')
  );
}

function placeOf(venue: Exchange | undefined): number {
  return PLACES.get(venue?.mic ?? '') ?? PLACES.size;
}
