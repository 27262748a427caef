import { Brand, BrandType, type Source } from '@brand-data/contracts';
import { companyName, compareNames, isLei, publishedName, typeOfSecurity } from '@brand-data/identifiers';
import {
  isOtherSecurity,
  OTHER_SECURITIES,
  otherSecurity,
  readListing,
  type TickerAtVenue,
} from '../../formats/listing.ts';
import { cityName, SUBDIVISIONS, withCountry } from '../../formats/places.ts';
import { readWebsites } from '../../formats/websites.ts';
import EDGAR from './edgar-codes.json' with { type: 'json' };
import type { Filer, FormerName } from './submission.ts';

/**
 * Tells the shares of a filer from its notes, preferred shares and other securities. The forms of their tickers show most of these.
 * The first ticker that they do not show is the share. Others are those of its classes, and over the counter those of shares from
 * abroad and their receipts. The records of other securities come with what such securities are called in the plural.
 *
 * @param tickers each with the market identifier code of its venue
 */
export function securitiesOf({ cik, name }: Filer, tickers: readonly TickerAtVenue[]) {
  const shares: TickerAtVenue[] = [];
  const others: { record: Brand; kind: string }[] = [];
  const fromAbroad = tickers.filter(isFromAbroad);
  for (const { ticker: symbol, mic } of tickers) {
    const place = readListing(symbol, mic) ?? { ticker: symbol, mic };
    const found = typeOfSecurity({ name, ...place });
    const [main = place] = shares;
    const isShare =
      isClass(main, place) || (isFromAbroad(place) && fromAbroad.length <= MOST_SHARES_FROM_ABROAD);
    const type = isOtherSecurity(found) ? found : isShare ? undefined : 'security';
    if (type === undefined) {
      shares.push(place);
      continue;
    }
    const other = otherSecurity(type, name, place);
    const kind = type === 'security' ? 'other securities' : OTHER_SECURITIES[type];
    const record = { ...other, type: BrandType.OTHER_SECURITY, sources: [sourceOf(cik)] };
    if (other) others.push({ record: Brand.fromPartial(record), kind });
  }
  return { shares, others };
}

/** A share from abroad and its receipt. If a filer has more such tickers, they are those of preferred shares, warrants and units. */
const MOST_SHARES_FROM_ABROAD = 2;

/** OTC Markets marks shares from abroad and receipts with a fifth letter. */
function isFromAbroad({ ticker, mic }: TickerAtVenue): boolean {
  return mic === 'OTCM' && /^[A-Z]{4}[FY]$/.test(ticker);
}

/**
 * Checks whether two tickers differ in the mark of a class alone: "BRK-A" and "BRK-B", "FWONA" and "FWONK", "GOOGL" and "GOOG". New York
 * puts a sign before it. There, "DUKB" is a note of DUK.
 */
function isClass(main: TickerAtVenue, other: TickerAtVenue): boolean {
  return main.ticker.startsWith(other.ticker) || withoutClass(main) === withoutClass(other);
}

function withoutClass({ ticker, mic }: TickerAtVenue): string {
  const root = ticker.replace(/-[A-Z]$/, '');
  return mic === 'XNYS' ? root : root.replace(/(?<=^[A-Z]{3,4})[ABCK]$/, '');
}

function sourceOf(cik: string): Pick<Source, 'name' | 'url' | 'licence'> {
  return {
    name: 'SEC EDGAR',
    url: `https://www.sec.gov/edgar/browse/?CIK=${cik}`,
    licence: 'public domain',
  };
}

/** EDGAR has a filer for the receipts of a company from abroad, whose address may be that of the bank that issues them. */
const RECEIPTS = '8880';
const NO_INDUSTRY = new Set([RECEIPTS, '8888', '9995']);
const DEPOSITARY = /\/ ?ADR\/?$/i;

/** Returns the source record of a filer. Its id depends on the filer's number alone. */
export function recordOfFiler(filer: Filer, shares: readonly TickerAtVenue[]): Brand {
  const { cik, name, lei, sic } = filer;
  const isCompany = sic !== RECEIPTS && !DEPOSITARY.test(name);
  const headquarters = isCompany ? headquartersOf(filer) : undefined;
  const industry = NO_INDUSTRY.has(sic) ? '' : industryOf(filer);
  const formerly = formerlyOf(filer);
  const websites = readWebsites(filer.website);
  return Brand.fromPartial({
    id: `cik-${cik}`,
    name,
    lei: isLei(lei) ? lei : '',
    listings: shares.map((share, at) => (at === 0 ? share : { ...share, primary: true })),
    ...((industry !== '' || headquarters) && { company: { industry, headquarters } }),
    ...(formerly.length > 0 && { history: { formerly } }),
    ...(Array.isArray(websites) && { links: { websites } }),
    sources: [sourceOf(cik)],
  });
}

/** Writes "Services-Prepackaged Software" as "Prepackaged Software", and "Retail-Eating Places" as "Retail Eating Places". */
function industryOf({ sicDescription }: Filer): string {
  return sicDescription
    .replace(/^Services-/, '')
    .replace(/^(Retail|Wholesale)-/, '$1 ')
    .replace(/,? \(?NEC\)?$/i, '');
}

/** The codes of countries and provinces in ISO 3166, by EDGAR's. */
const ISO_CODES = new Map(
  [EDGAR.provinces, ...EDGAR.countries].flatMap((line) =>
    line.split(' ').map((pair) => pair.split('=') as [edgar: string, iso: string]),
  ),
);

/** Undefined if the address has no code of a state or country. */
function headquartersOf({ business: { city, stateOrCountry } }: Filer) {
  const code = ISO_CODES.get(stateOrCountry) ?? `US-${stateOrCountry}`;
  const [country_code = '', subdivision] = code.split('-');
  const state = SUBDIVISIONS.get(code);
  if (subdivision !== undefined && state === undefined) return undefined;
  const { country = '' } = withCountry({ country_code });
  return { city: cityOf(city), state: state ?? '', country, countryCode: country_code };
}

/** What filers write behind a city: a country or a state after a comma, and a postcode. */
const AFTER_CITY = /\s*,.*$|(?:\s+[A-Z]{1,2})?\s+\S*\d.*$/i;

/** Returns the name of a city. '' if the text is none. */
function cityOf(written: string): string {
  const city = written.replace(AFTER_CITY, '');
  return /\d|\bC\/O\b/i.test(city) ? '' : cityName(city);
}

/**
 * Returns the former names with the years in which the company filed under them. The first name of a company in EDGAR is mostly older
 * than EDGAR, so that only its end is known. Other spellings of the name, and of other former names, are no former names.
 */
function formerlyOf({ name, formerNames }: Filer): string[] {
  const [first = ''] = formerNames.flatMap(({ from }) => from || []).toSorted();
  const spans: FormerName[] = [];
  for (const { name: written, ...years } of formerNames.toSorted((a, b) => (a.to < b.to ? 1 : -1))) {
    const former = { name: publishedName(written), ...years };
    if (former.name === '' || isSpelling(former.name, publishedName(name))) continue;
    const other = spans.find((each) => isSpelling(each.name, former.name));
    if (other === undefined) spans.push(former);
    else if (former.from < other.from) other.from = former.from;
  }
  return spans.map((span) => `${span.name}${yearsOf(span, first)}`);
}

function yearsOf({ from, to }: FormerName, first: string): string {
  if (to === '' || to < from) return '';
  if (from === '' || from === first) return ` (until ${to})`;
  return from === to ? ` (${to})` : ` (${from}–${to})`;
}

/** Checks whether the names differ in their spelling or their legal form only. */
function isSpelling(a: string, b: string): boolean {
  const [nameA, nameB] = [companyName(a), companyName(b)];
  if (nameA === undefined || nameB === undefined) return a === b;
  return compareNames(nameA, nameB) === 'equal';
}
