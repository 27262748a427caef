import { Brand, type Listing, type Source } from '@brand-data/contracts';
import {
  compareNames,
  compareTexts,
  cusipOfIsin,
  exchangeOfMic,
  normalName,
  orderListings,
  rankOfMarketCapClass,
} from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import { formerNamesOf, isProduct, isShouted, subjectOf, withoutSecurity } from './issuer-names.ts';
import type { Row } from './rows.ts';

const FINANCE_DATABASE: Pick<Source, 'name' | 'url' | 'licence'> = {
  name: 'FinanceDatabase',
  url: 'https://github.com/JerBouma/FinanceDatabase',
  licence: 'MIT',
};

/** The category of a product of a bank, which its name shows. */
const EXCHANGE_TRADED_PRODUCT = 'exchange_traded_product';

const MOST_NAMES = 10;
const MOST_WEBSITES = 3;

/** The identifiers of a listing that belong to its own company. */
export type OwnIdentifiers = (
  row: Row,
) => Pick<Row, 'isin' | 'cusip' | 'figi' | 'compositeFigi' | 'shareClassFigi'>;

/** A row as a listing of the record. */
interface RowListing {
  row: Row;
  listing: Listing;
  /** The listing with the ISIN of the company's country, if a listing of its share class has one (withIsinsAtHome). */
  atHome: Listing;
}

/** Returns the record of a company, without an id (idOf). The order of `given` does not matter. */
export function brandOfCompany(given: readonly Row[], ownIdentifiers: OwnIdentifiers): Brand {
  const headquarters = headquartersOf(given);
  const listings = inOrder(
    withIsinsAtHome(given, ownIdentifiers, headquarters.countryCode),
    headquarters.countryCode,
  );
  const rows = listings.map(({ row }) => row);
  const [main] = rows;
  if (main === undefined) throw new Error('a company has a listing');
  const name = nameOfCompany(rows);
  const websites = websitesOf(rows);
  const venue = exchangeOfMic(main.mic);
  const formerly = formerNamesOfCompany(rows, name);
  return Brand.fromPartial({
    name,
    description: descriptionOf(rows, name),
    category: isProduct(name) ? EXCHANGE_TRADED_PRODUCT : '',
    rank: rankOf(rows),
    names: otherNamesOf(rows, [name, ...formerly]),
    listings: markedListings(listings, headquarters.countryCode),
    company: {
      sector: firstOf(rows, ({ sector }) => sector),
      industry: firstOf(rows, ({ industry, industryGroup }) => industry || industryGroup),
      companyType: main.delisted ? [] : ['Public'],
      ...(headquarters.country !== '' && { headquarters }),
    },
    ...(formerly.length > 0 && { history: { formerly } }),
    ...(websites.length > 0 && { links: { websites } }),
    stock: {
      exchange: venue?.code ?? main.mic,
      exchangeFullName: venue?.name ?? main.market,
      currency: /^[A-Z]{3}$/.test(main.currency) ? main.currency : '',
      ...securityOf(listings),
      isActivelyTrading: !main.delisted,
    },
    sources: [{ ...FINANCE_DATABASE }],
  });
}

/**
 * Returns an id that is the same at each import. It is made from the company's share-class FIGI, else from its ISIN, else from
 * its main listing. If there are several FIGIs or ISINs, the smallest is used. It is usually the oldest, so a new share class
 * does not change the id.
 */
export function idOf(brand: Brand): string {
  const smallest = (values: string[]) =>
    values
      .filter((value) => value !== '')
      .toSorted()[0]
      ?.toLowerCase();
  const figi = smallest(brand.listings.map(({ shareClassFigi }) => shareClassFigi));
  if (figi !== undefined) return `figi-${figi}`;
  const isin = smallest(brand.listings.map(({ isin }) => isin));
  if (isin !== undefined) return `isin-${isin}`;
  const [main] = brand.listings;
  return `${main?.mic}-${main?.ticker}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
}

/** Puts listings that trade before delisted listings, and among each the main listing first. */
function inOrder(listings: readonly RowListing[], country: string): RowListing[] {
  const byKey = new Map(listings.map((each) => [keyOf(each.listing), each]));
  return [false, true].flatMap((delisted) => {
    const part = listings.filter(({ row }) => row.delisted === delisted).map(({ atHome }) => atHome);
    return orderListings(part, { country }).flatMap((listing) => byKey.get(keyOf(listing)) ?? []);
  });
}

function markedListings(listings: readonly RowListing[], country: string): Listing[] {
  const ordered = orderListings(
    listings.map(({ atHome }) => atHome),
    { country },
  );
  const marked = new Set(ordered.filter(({ primary }) => primary).map(keyOf));
  return listings.map(({ listing }, index) => ({
    ...listing,
    primary: index > 0 && marked.has(keyOf(listing)),
  }));
}

function keyOf({ ticker, mic }: Listing): string {
  return `${ticker}@${mic}`;
}

/**
 * Some rows of shares have the ISIN of the shares' receipts (Henkel in Frankfurt has "US42550U2087"). If a listing of the same
 * share class has an ISIN of the company's country, all listings of the class get that ISIN.
 */
function withIsinsAtHome(
  rows: readonly Row[],
  ownIdentifiers: OwnIdentifiers,
  country: string,
): RowListing[] {
  const listings = rows.map((row) => {
    const { ticker, mic } = row;
    return { row, listing: { ticker, mic, primary: false, ...ownIdentifiers(row) } };
  });
  const isinAtHome = new Map(
    listings
      .map(({ listing }) => listing)
      .filter(
        ({ isin, shareClassFigi }) => shareClassFigi !== '' && country !== '' && isin.startsWith(country),
      )
      .map(({ isin, shareClassFigi }) => [shareClassFigi, isin] as const)
      .toSorted(([, a], [, b]) => (a < b ? 1 : -1)),
  );
  return listings.map(({ row, listing }) => ({
    row,
    listing,
    atHome: { ...listing, isin: isinAtHome.get(listing.shareClassFigi) ?? listing.isin },
  }));
}

/**
 * Returns the identifiers of the main listing's security. If the main listing lacks them, another listing of the security gives
 * them.
 */
function securityOf(listings: readonly RowListing[]): { isin: string; cusip: string } {
  const [main] = listings;
  if (main === undefined) return { isin: '', cusip: '' };
  const { isin: own, cusip, shareClassFigi } = main.atHome;
  const ofClass = listings.filter(
    ({ atHome }) => shareClassFigi !== '' && atHome.shareClassFigi === shareClassFigi,
  );
  const [smallest = ''] = ofClass
    .map(({ atHome }) => atHome.isin)
    .filter((isin) => isin !== '')
    .toSorted();
  const isin = own || smallest;
  return { isin, cusip: cusipOfIsin(isin) ?? (isin === main.row.isin ? cusip : '') };
}

/**
 * Returns the name of the first listing whose name is not in capitals. Names in capitals are abbreviated, so even the name in a
 * description is preferred to them, and so is the name of a listing that an identifier joined.
 */
function nameOfCompany(rows: readonly Row[]): string {
  const issuer = rows.find((row) => row.issuer !== undefined)?.issuer;
  const isIssuer = (row: Row) =>
    row.issuer !== undefined && issuer !== undefined && compareNames(row.issuer, issuer) !== 'other';
  const spelled = rows.filter((row) => isIssuer(row) && !isShouted(row.name)).map(({ name }) => name);
  const described = rows
    .filter((row) => isIssuer(row) && isSubjectIssuer(row))
    .map(({ summary }) => subjectOf(summary))
    .filter((subject) => !isShouted(subject));
  const joined = rows
    .filter((row) => row.issuer !== undefined && !isShouted(row.name))
    .map(({ name }) => name);
  const [first = ''] = [
    ...spelled,
    ...described,
    ...joined,
    ...rows.filter(isIssuer).map(({ name }) => name),
  ];
  return withoutSecurity(first);
}

function isSubjectIssuer({ issuer, subject }: Row): boolean {
  return issuer !== undefined && subject !== undefined && compareNames(issuer, subject) !== 'other';
}

function otherNamesOf(rows: readonly Row[], known: readonly string[]): string[] {
  const named = rows.filter(({ name, issuer }) => issuer !== undefined && !isShouted(name));
  return newNames(
    named.map(({ name }) => withoutSecurity(name)),
    known,
  );
}

function formerNamesOfCompany(rows: readonly Row[], name: string): string[] {
  return newNames(
    rows.flatMap(({ summary }) => formerNamesOf(summary)),
    [name],
  );
}

/** Returns the names that are spelled otherwise than the known names and those before them. */
function newNames(names: readonly string[], known: readonly string[]): string[] {
  const seen = new Set(known.map(normalName));
  return names
    .filter((name) => !seen.has(normalName(name)) && seen.add(normalName(name)))
    .slice(0, MOST_NAMES);
}

const GUESSES = /\b(?:likely|appears? to be|not readily available|no information|unclear)\b/i;

/** '' if no row has a description of the company. */
function descriptionOf(rows: readonly Row[], name: string): string {
  const summaries = rows.filter(({ summary }) => summary.length > 40 && !GUESSES.test(summary));
  const best = summaries.find((row) => row.domain !== '') ?? summaries.find(isSubjectIssuer) ?? summaries[0];
  if (best === undefined) return '';
  return isShouted(best.name) && best.summary.startsWith(best.name)
    ? name + best.summary.slice(best.name.length)
    : best.summary;
}

interface Headquarters {
  city: string;
  state: string;
  country: string;
  countryCode: string;
}

/** Returns the place that most rows give. Rows with a city are preferred, as a country without a city was looked up by ticker. */
function headquartersOf(rows: readonly Row[]): Headquarters {
  const sure = rows.filter(({ city, country }) => city !== '' && country !== '');
  const country = mostOf((sure.length > 0 ? sure : rows).map(({ country }) => country));
  const city = mostOf(sure.filter((row) => row.country === country).map(({ city }) => city));
  const state = mostOf(
    sure.filter((row) => row.country === country && row.city === city).map(({ state }) => state),
  );
  return { city, state, country, countryCode: countryCodeOf(country) ?? '' };
}

function websitesOf(rows: readonly Row[]): string[] {
  const byDomain = new Map(
    rows.filter(({ domain }) => domain !== '').map((row) => [row.domain, row.website]),
  );
  return [...byDomain.values()].filter((website) => /^https?:\/\/\S+$/.test(website)).slice(0, MOST_WEBSITES);
}

/** Returns the rank by market-value class, or 0, which states no rank, if all listings are delisted or no class is given. */
function rankOf(rows: readonly Row[]): number {
  if (rows.every(({ delisted }) => delisted)) return 0;
  return rankOfMarketCapClass(mostOf(rows.map(({ marketCap }) => marketCap)));
}

function firstOf(rows: readonly Row[], fieldOf: (row: Row) => string): string {
  const described = rows.filter(({ domain }) => domain !== '');
  return [...described, ...rows].map(fieldOf).find((value) => value !== '') ?? '';
}

/** Returns the most frequent value. If several are equally frequent, the first by code units. '' if there is no value. */
function mostOf(values: readonly string[]): string {
  const counts = Map.groupBy(
    values.filter((value) => value !== ''),
    (value) => value,
  );
  return (
    [...counts].toSorted(([a, as], [b, bs]) => bs.length - as.length || compareTexts(a, b))[0]?.[0] ?? ''
  );
}
