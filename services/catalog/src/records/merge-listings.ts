import { Brand, type Headquarters, type Listing } from '@brand-data/contracts';
import {
  companyName,
  compareNames,
  compareTexts,
  cusipOf,
  exchangeOfMic,
  exchangesOfCountry,
  hasOnlyCapitals,
  INCORPORATING,
  isShouted,
  normalName,
  orderListings,
} from '@brand-data/identifiers';

const MOST_NAMES = 10;
const MOST_WEBSITES = 3;

/** A record of one listing. */
interface ListingRecord {
  readonly brand: Brand;
  /** With the identifiers that are the company's own. */
  readonly listing: Listing;
  /** The listing with the ISIN of the company's country, if a listing of its share class has one. */
  readonly atHome: Listing;
}

/**
 * Merges records of one source, each of which is one listing, into the source's record of the company. The order does not matter.
 * Most facts come from the main listing, or from the first listing that states them. Most records decide the headquarters and the
 * rank, because a row of such a source may have another company's facts.
 */
export function companyOfListings(listings: readonly Brand[]): Brand {
  const records = listings.toSorted((a, b) => compareTexts(a.id, b.id));
  const [only = Brand.create(), ...furthers] = records;
  if (furthers.length === 0) {
    const names = otherNamesOf(records).filter((name) => name !== only.name);
    return {
      ...only,
      rank: rankOfListings(records),
      names: names.length < only.names.length ? names : only.names,
    };
  }
  const headquarters = headquartersOf(records);
  const country = headquarters?.countryCode ?? '';
  const listed = inOrder(withOwnIdentifiers(records, country), country);
  const brands = [...new Set([...listed.map(({ brand }) => brand), ...records])];
  const [main = only] = brands;
  // Records with a website are described best.
  const described = [...brands.filter(({ links }) => (links?.websites ?? []).length > 0), ...brands];
  const first = (textOf: (brand: Brand) => string | undefined) =>
    described.map((brand) => textOf(brand) ?? '').find((text) => text !== '') ?? '';
  const name = nameOf(brands);
  const formerly = newNames(
    brands.flatMap(({ history }) => history?.formerly ?? []),
    [name],
  );
  const websites = websitesOf(brands);
  return Brand.fromPartial({
    ...main,
    name,
    names: newNames(otherNamesOf(brands), [name, ...formerly]),
    description: first(({ description }) => description),
    category: first(({ category }) => category),
    rank: rankOfListings(records),
    listings: markedListings(listed, country),
    company: {
      ...main.company,
      sector: first(({ company }) => company?.sector),
      industry: first(({ company }) => company?.industry),
      ...(headquarters && { headquarters }),
    },
    ...(formerly.length > 0 && { history: { formerly } }),
    ...(websites.length > 0 && { links: { websites } }),
    ...(main.stock && { stock: { ...main.stock, ...securityOf(listed) } }),
    sources: distinctSources(brands),
  });
}

/** Returns the sources that the brands state, each once. */
export function distinctSources(brands: readonly Brand[]): Brand['sources'] {
  const sources = brands.flatMap((brand) => brand.sources);
  return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
}

/** Returns the rank that most listings state. Ended listings count too. Returns 0 if all have ended: the company may be gone. */
function rankOfListings(records: readonly Brand[]): number {
  if (records.every(({ stock }) => stock?.isActivelyTrading === false)) return 0;
  return Number(mostOf(records.map(({ rank }) => String(rank || ''))));
}

/** Returns the place that most records state. Those with a city go first, as a country without a city is often wrong. */
function headquartersOf(records: readonly Brand[]): Headquarters | undefined {
  const places = records.flatMap(({ company }) => company?.headquarters ?? []);
  const sure = places.filter(({ city, country }) => city !== '' && country !== '');
  const known = sure.length > 0 ? sure : places;
  const country = mostOf(known.map((place) => place.country));
  const city = mostOf(known.filter((place) => place.country === country).map((place) => place.city));
  const there = places.filter((place) => place.country === country && place.city === city);
  const state = mostOf(there.map((place) => place.state));
  return there.find((place) => place.state === state) ?? there[0];
}

/** Puts listings that trade before delisted listings, and among each the main listing first. */
function inOrder(listed: readonly ListingRecord[], country: string): ListingRecord[] {
  const byKey = new Map(listed.map((each) => [keyOf(each.listing), each]));
  return [true, false].flatMap((isTrading) => {
    const part = listed.filter(({ brand }) => (brand.stock?.isActivelyTrading !== false) === isTrading);
    return orderListings(
      part.map(({ atHome }) => atHome),
      { country },
    ).flatMap((listing) => byKey.get(keyOf(listing)) ?? []);
  });
}

function markedListings(listed: readonly ListingRecord[], country: string): Listing[] {
  const ordered = orderListings(
    listed.map(({ atHome }) => atHome),
    { country },
  );
  const marked = new Set(ordered.filter(({ primary }) => primary).map(keyOf));
  return listed.map(({ listing }, index) => ({
    ...listing,
    primary: index > 0 && marked.has(keyOf(listing)),
  }));
}

function keyOf({ ticker, mic }: Listing): string {
  return `${ticker}@${mic}`;
}

/**
 * Removes the identifiers of a listing whose ISIN only this listing has, and is that of a country where the company neither is nor has
 * a listing with an identifier, while another listing has an ISIN of the company's country: they were looked up by ticker. American
 * ISINs stay, because receipts have many listings abroad, and so do those of tax havens.
 *
 * Some shares have the ISIN of their receipts (Henkel in Frankfurt has "US42550U2087"). If a listing of the same share class has an
 * ISIN of the company's country, all listings of the class are in order as if they had it.
 */
function withOwnIdentifiers(records: readonly Brand[], country: string): ListingRecord[] {
  const stated = records.flatMap((brand) => brand.listings.map((listing) => ({ brand, listing })));
  const isAtHome = ({ isin }: Listing) => country !== '' && isin.startsWith(country);
  const atHome = stated.map(({ listing }) => listing).filter(isAtHome);
  const isOfOther = ({ isin, figi, mic }: Listing) => {
    const issued = isin.slice(0, 2);
    const isForeign =
      isin !== '' && !isAtHome({ isin } as Listing) && issued !== 'US' && !INCORPORATING.has(issued);
    return (
      isForeign &&
      figi === '' &&
      atHome.length > 0 &&
      exchangeOfMic(mic)?.country !== issued &&
      exchangesOfCountry(issued).length > 0 &&
      stated.filter(({ listing }) => listing.isin === isin).length === 1
    );
  };
  const isinOfClass = new Map(
    atHome
      .filter(({ shareClassFigi }) => shareClassFigi !== '')
      .toSorted((a, b) => compareTexts(b.isin, a.isin))
      .map(({ shareClassFigi, isin }) => [shareClassFigi, isin]),
  );
  return stated.map(({ brand, listing: given }) => {
    const { ticker, mic, primary } = given;
    const listing = isOfOther(given)
      ? { ticker, mic, primary, isin: '', cusip: '', figi: '', compositeFigi: '', shareClassFigi: '' }
      : given;
    return {
      brand,
      listing,
      atHome: { ...listing, isin: isinOfClass.get(listing.shareClassFigi) ?? listing.isin },
    };
  });
}

/** Returns the identifiers of the main listing's security. If the listing lacks them, another listing of the security gives them. */
function securityOf(listed: readonly ListingRecord[]): { isin: string; cusip: string } {
  const [main] = listed.map(({ atHome }) => atHome);
  if (main === undefined) return { isin: '', cusip: '' };
  const ofClass = listed.filter(
    ({ atHome }) => main.shareClassFigi !== '' && atHome.shareClassFigi === main.shareClassFigi,
  );
  const [smallest = ''] = ofClass.flatMap(({ atHome }) => (atHome.isin === '' ? [] : atHome.isin)).toSorted();
  const isin = main.isin || smallest;
  const stated = isin === listed[0]?.listing.isin ? main.cusip : '';
  return { isin, cusip: cusipOf(isin, stated) };
}

/** Returns the first name that is spelled like that of the main listing and is not all in capitals, which are often abbreviated. */
function nameOf(brands: readonly Brand[]): string {
  const names = brands.map(({ name }) => name);
  const [first = ''] = names;
  return (
    names.find((name) => !isShouted(name) && areAlike(name, first)) ??
    names.find((name) => !isShouted(name)) ??
    first
  );
}

/** A word in capitals that is a name: CIBC. Longer texts in capitals are often cut off or abbreviated. */
const INITIALS = /^\p{Lu}{3,5}$/u;

/** Returns the names that the records have first, and the other names that are spellings of one of them. */
function otherNamesOf(brands: readonly Brand[]): string[] {
  const names = new Set(brands.map(({ name }) => name));
  const others = [...new Set(brands.flatMap((brand) => brand.names))].filter((other) =>
    names.values().some((name) => areAlike(name, other)),
  );
  return [...names, ...others].filter((name) => !hasOnlyCapitals(name) || INITIALS.test(name));
}

function areAlike(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [companyName(one), companyName(other)];
  return a !== undefined && b !== undefined && compareNames(a, b) !== 'other';
}

/** Returns the names that are spelled otherwise than the known names and those before them. */
function newNames(names: readonly string[], known: readonly string[]): string[] {
  const seen = new Set(known.map(normalName));
  return names
    .filter((name) => !seen.has(normalName(name)) && seen.add(normalName(name)))
    .slice(0, MOST_NAMES);
}

function websitesOf(brands: readonly Brand[]): string[] {
  return [...new Set(brands.flatMap(({ links }) => links?.websites ?? []))].slice(0, MOST_WEBSITES);
}

/** Returns the most frequent text. If several are equally frequent, the first by code units. '' if there is none. */
function mostOf(texts: readonly string[]): string {
  const counts = Map.groupBy(
    texts.filter((text) => text !== ''),
    (text) => text,
  );
  return (
    [...counts].toSorted(([a, as], [b, bs]) => bs.length - as.length || compareTexts(a, b))[0]?.[0] ?? ''
  );
}
