import { Brand, BrandType, type Listing, type Override, Stock } from '@brand-data/contracts';
import {
  compareTexts,
  cusipOfIsin,
  exchangeOfMic,
  hasOnlyCapitals,
  isInCapitals,
  isinOfMain,
  MOST_ADDRESSES,
  orderListings,
  publishedName,
  readWebHost,
  withoutMarks,
} from '@brand-data/identifiers';
import { DERIVED, fieldOf, hasData, OPERATOR, recordFieldName, statementFor } from '@brand-data/records';
import { withDerivedFields } from './derive.ts';
import { companyOfListings, distinctSources } from './merge-listings.ts';
import { overlaid, setValueOf, withoutOverridden } from './overlay.ts';
import { mergePlaces, type SourcedPlace } from './places.ts';
import {
  compareSources,
  type DecidedType,
  decideType,
  isCurated,
  precedenceOf,
  statesListings,
} from './precedence.ts';

/** A brand as one source gives it. */
export interface SourcedBrand {
  readonly source: string;
  readonly brand: Brand;
  /** The brand holds a main listing and its figures, and no other fact about the company. */
  readonly isQuote: boolean;
}

/** One record, built from several sources' brands. */
export interface Merged {
  readonly brand: Brand;
  /** By a field's dotted name in records: its source, several with commas, or DERIVED if no source states it. */
  readonly fieldSources: ReadonlyMap<string, string>;
  /** The day of the price. Undefined if there is no price, or if its source does not state the day. */
  readonly priceDate: string | undefined;
}

/** Messages that are taken whole from one source, because their fields belong together: a picture and its size. */
const ATOMIC_FIELDS: ReadonlySet<string> = new Set(['images.logo', 'images.stockLogo']);

/** Fields that belong together, so all come from the source that gives the price. */
const PRICE_FIELDS = [
  'currency',
  'price',
  'priceUsd',
  'change',
  'changePercentage',
  'range',
  'percentFrom52WeekLow',
] as const;
/** Fields of `stock` that describe one listing: the main listing of the source that gives them. */
const LISTING_FIELDS = [
  ...PRICE_FIELDS,
  'exchange',
  'exchangeFullName',
  'exchangeLogoPath',
  'isActivelyTrading',
] as const;

/** Puts the main listing first, unless a person has put the listings in order. */
export function withListingsInOrder(source: string, brand: Brand): Brand {
  if (isCurated(source) || brand.listings.length < 2) return brand;
  return { ...brand, listings: orderListings(brand.listings, { country: countryOf(brand) }) };
}

function countryOf({ company }: Pick<Brand, 'company'>): string | undefined {
  return company?.headquarters?.countryCode;
}

/** Replaces the ISIN and CUSIP of a receipt by those of the share. */
function withIsinOfMain<Fields extends Partial<Stock>>(
  stock: Fields,
  listings: readonly Listing[],
  country: string | undefined,
): Fields {
  const isin = isinOfMain(stock.isin ?? '', listings, { country });
  return isin === (stock.isin ?? '') ? stock : { ...stock, isin, cusip: cusipOfIsin(isin) ?? '' };
}

/** Decodes a stored record. If no source names the main listing's exchange, takes its names from the table of exchanges. */
export function recordFromBytes(bytes: Uint8Array): Brand {
  const brand = Brand.decode(bytes);
  const [main] = brand.listings;
  const venue = main && exchangeOfMic(main.mic);
  if (brand.type !== BrandType.STOCK || venue === undefined) return brand;
  const stock = brand.stock ?? Stock.create();
  const { exchange, exchangeFullName } = stock;
  const named = { exchange: exchange || venue.code, exchangeFullName: exchangeFullName || venue.name };
  return { ...brand, stock: { ...stock, ...named } };
}

/** Returns the main listing, such as "XNAS:AAPL", equal for all market codes of a venue. Undefined if there is no listing. */
export function mainListingOf(brand: Brand): string | undefined {
  const [main] = brand.listings;
  return main === undefined ? undefined : nameOfListing(main);
}

/** Returns the record of a company with one source record: the same record as `mergeBrands` makes, except for empty fields. */
export function recordOfOne(stated: SourcedBrand): Brand {
  const [only = stated] = companiesOfSources([stated]);
  const { type, source } = decideType([only]);
  const { brand } = only;
  const { listings, stock } = brand;
  const isStated = stock === undefined || isCurated(only.source);
  const own = isStated ? stock : withIsinOfMain(stock, listings, countryOf(brand));
  const name = nameIn(only);
  const names = name === brand.name ? brand.names : namesBeside(name, [only]);
  return withDerivedFields(
    { ...brand, type, name, names, stock: own },
    { isTypeDerived: source === undefined },
  );
}

/** Returns the day of a source's price. Undefined if the source states none. */
export function priceDateOf({ brand: { stock, sources } }: Pick<SourcedBrand, 'brand'>): string | undefined {
  return stock?.price === undefined ? undefined : statementFor('stock.price', sources)?.date || undefined;
}

/** Returns the record's name as it is published. A person's own spelling stays. */
function nameIn({ source, brand }: SourcedBrand): string {
  return isCurated(source) || brand.type === BrandType.SUPERINVESTOR ? brand.name : publishedName(brand.name);
}

/** Returns the strongest record whose name has small letters and is no registry's in capitals, else the strongest with a name. */
function namingRecord(records: readonly SourcedBrand[]): SourcedBrand | undefined {
  const named = records.filter(({ brand }) => hasData(brand.name));
  const isSpelled = ({ source, brand }: SourcedBrand) =>
    isCurated(source) || !(hasOnlyCapitals(brand.name) || isInCapitals(brand.name));
  return named.find(isSpelled) ?? named[0];
}

/** Returns all names of the records but the published one. */
function namesBeside(published: string, records: readonly SourcedBrand[]): string[] {
  const names = records.flatMap(({ source, brand }) => [
    isCurated(source) ? brand.name : withoutMarks(brand.name),
    ...brand.names,
  ]);
  return unique(names).filter((name) => hasData(name) && name !== published);
}

/**
 * Builds a company's record from its sources' brands, in any order. The record gets the strongest source's id. Each field has the
 * value of the strongest source that has data for it, lists too, but names, domains, listings and sources unite the values of all
 * sources, strongest first. The catalogue derives the fields that every record has and no source states. A field that the operator
 * has set has exactly that value, and every other field is as if no source stated the set fields.
 *
 * @param overrides as effectiveOverrides returns them
 */
export function mergeBrands(brands: readonly SourcedBrand[], overrides: readonly Override[] = []): Merged {
  const override = (field: string) => overrides.find((each) => each.field === field);
  const strongestFirst = companiesOfSources(brands)
    .map((each) => ({ ...each, brand: withoutOverridden(each.brand, overrides) }))
    .sort(compareSourcedBrands);
  const records = strongestFirst.filter(({ isQuote }) => !isQuote);
  const fieldSources = new Map<string, string>();
  const report = (field: string, sources: readonly string[]) => {
    if (sources.length > 0) fieldSources.set(field, [...new Set(sources)].join(', '));
  };
  const reportList = (
    field: string,
    list: readonly unknown[],
    read: (brand: Brand) => readonly unknown[],
  ) => {
    const holders = list.length === 0 ? [] : records.filter(({ brand }) => read(brand).length > 0);
    report(
      field,
      holders.map(({ source }) => source),
    );
  };

  const type = decidedType(records, override('type'), override('listings'));
  if (type.source !== undefined) report('type', [type.source]);
  const ownRank = override('rank')?.value?.rank;
  const rank = ownRank === undefined ? rankOf(records) : { rank: ownRank, source: OPERATOR };
  if (rank.rank > 0) report('rank', [rank.source]);

  const [strongest] = records;
  const values = records.map(({ source, brand }) => ({ source, value: plainFieldsOf(brand) }));
  const fields = overlaid<Partial<Brand>>(mergeMessages('', values, report), overrides, isPlainField);

  // The listings of a company that trades no more still find it.
  const hasListings = type.type === BrandType.STOCK || !type.isByPerson;
  const country = countryOf(fields);
  const listings = hasListings ? mergeListings(records, country, override('listings')) : [];
  reportList('listings', listings, ({ listings }) => listings);
  const figures = hasListings ? stockValues(strongestFirst, listings, country) : [];
  const { stock } = hasListings
    ? overlaid<{ stock?: object }>(
        { stock: mergeMessages('stock', figures, report) },
        overrides,
        isStockField,
      )
    : {};

  const naming = override('name') === undefined ? namingRecord(records) : undefined;
  if (naming !== undefined) report('name', [naming.source]);
  const name = naming === undefined ? (fields.name ?? '') : nameIn(naming);
  const ownNames = override('names');
  const names = ownNames
    ? listOf(ownNames).filter((other) => hasData(other) && other !== name)
    : namesBeside(name, records);
  reportList('names', names, ({ name, names }) => [name, ...names]);
  const ownDomains = override('domains');
  const domains = ownDomains ? listOf(ownDomains) : mergeDomains(records, fields.links?.websites ?? []);
  reportList('domains', domains, ({ domains, links }) => [...domains, ...(links?.websites ?? [])]);

  const merged = Brand.fromPartial({
    ...fields,
    name,
    id: strongest?.brand.id ?? '',
    type: type.type,
    rank: rank.rank,
    names,
    domains,
    listings,
    ...(stock === undefined || Object.keys(stock).length === 0 ? {} : { stock }),
    sources: distinctSources(strongestFirst.map(({ brand }) => brand)),
  });
  const brand = withDerivedFields(merged, { isTypeDerived: type.source === undefined });
  for (const field of brand.derivedFields) report(field, [DERIVED]);
  for (const { field, value } of overrides)
    if (value !== undefined && hasData(fieldOf(brand, field))) fieldSources.set(field, OPERATOR);
  const priced = figures.find(({ value }) => value.price !== undefined);
  return { brand, fieldSources, priceDate: priced && priceDateOf(priced) };
}

/** Merges the records of each source that has one record for each listing. */
function companiesOfSources(brands: readonly SourcedBrand[]): readonly SourcedBrand[] {
  const isOfListings = ({ source, isQuote }: SourcedBrand) => !isQuote && statesListings(source);
  if (!brands.some(isOfListings)) return brands;
  const bySource = Map.groupBy(brands.filter(isOfListings), ({ source }) => source);
  const companies = [...bySource].map(([source, ofSource]) => {
    const records = ofSource.map(({ brand }) => brand).sort((a, b) => compareTexts(a.id, b.id));
    return { source, isQuote: false, brand: companyOfListings(records) };
  });
  return [...companies, ...brands.filter((brand) => !isOfListings(brand))];
}

/** Returns the operator's type, else the type that the sources' records give, with the listings that the operator has set. */
function decidedType(
  records: readonly SourcedBrand[],
  ownType: Override | undefined,
  ownListings: Override | undefined,
): DecidedType {
  if (ownType?.value !== undefined) return { type: ownType.value.type, source: OPERATOR, isByPerson: true };
  if (ownListings === undefined) return decideType(records);
  const listings = ownListings.value?.listings ?? [];
  return decideType(records.map(({ source, brand }) => ({ source, brand: { ...brand, listings } })));
}

/** Checks whether an override of the field replaces the merged value. The other fields have their own rules. */
function isPlainField(field: string): boolean {
  return !/^(?:type|rank|names|domains|listings)$/.test(field) && !isStockField(field);
}

function isStockField(field: string): boolean {
  return field.startsWith('stock.');
}

/** Returns the texts of an override of a list. Empty if the operator has decided that the field has no value. */
function listOf(override: Override): string[] {
  return (setValueOf(override) as string[] | undefined) ?? [];
}

/** Strongest source first. Quotes come last, in order of date, the latest first. */
function compareSourcedBrands(a: SourcedBrand, b: SourcedBrand): number {
  const dateOf = ({ brand }: SourcedBrand) => brand.sources[0]?.date ?? '';
  if (a.isQuote !== b.isQuote) return Number(a.isQuote) - Number(b.isQuote);
  const later = a.isQuote ? compareTexts(dateOf(b), dateOf(a)) : 0;
  return later || compareSources(a.source, b.source) || compareTexts(a.brand.id, b.brand.id);
}

/** Returns a curated source's rank, else the highest rank. 0 if no source states a rank. */
function rankOf(records: readonly SourcedBrand[]): { rank: number; source: string } {
  const curated = records.find(({ source, brand }) => isCurated(source) && brand.rank > 0);
  const [highest] = records.toSorted((a, b) => b.brand.rank - a.brand.rank);
  const deciding = curated ?? highest;
  return { rank: deciding?.brand.rank ?? 0, source: deciding?.source ?? '' };
}

/** Further exchanges of New York's operator. Lists that name the operator, as the SEC's does, write New York's code for them too. */
const OF_NEW_YORK = ['XASE', 'ARCX'];
const NAMES_OPERATOR = 'sec';

/** If the operator has set the listings, the record has exactly these listings, in that order. */
function mergeListings(
  records: readonly SourcedBrand[],
  country: string | undefined,
  override: Override | undefined,
): Listing[] {
  const united = new Map<string, Listing>();
  for (const listing of records.flatMap(({ brand }) => brand.listings)) {
    const stronger = united.get(nameOfListing(listing));
    const both = stronger && fillGaps(withoutReceipt(stronger, listing), withoutReceipt(listing, stronger));
    united.set(nameOfListing(listing), both ?? listing);
  }
  if (override !== undefined)
    return (override.value?.listings ?? []).map((listing) => {
      const stated = united.get(nameOfListing(listing));
      return stated === undefined ? listing : fillGaps(listing, stated);
    });
  const inOrder = records.find(({ source, brand }) => isCurated(source) && brand.listings.length > 0);
  const first = new Set(inOrder?.brand.listings.map(nameOfListing));
  const strongestFirst = records
    .filter(({ source }) => source !== NAMES_OPERATOR)
    .flatMap(({ brand }) => brand.listings.map(nameOfListing));
  for (const [name, exact] of united) {
    const ofOperator = `XNYS:${exact.ticker}`;
    const vague = united.get(ofOperator);
    if (!OF_NEW_YORK.includes(exact.mic) || vague === undefined || first.has(ofOperator)) continue;
    // A weaker list may be of the time before the company moved to New York.
    const at = strongestFirst.indexOf(ofOperator);
    if (at >= 0 && at < strongestFirst.indexOf(name)) continue;
    united.set(name, fillGaps(exact, vague));
    united.delete(ofOperator);
  }
  const [ordered, others] = [true, false].map((isFirst) =>
    [...united.values()].filter((listing) => first.has(nameOfListing(listing)) === isFirst),
  ) as [Listing[], Listing[]];
  return [...ordered, ...orderListings(others, { country })];
}

/** Returns the listing without its American ISIN if the other version has one of the venue's country: it is that of a receipt. */
function withoutReceipt(listing: Listing, other: Listing): Listing {
  const country = exchangeOfMic(listing.mic)?.country ?? 'US';
  const isReceipt = country !== 'US' && listing.isin.startsWith('US') && other.isin.startsWith(country);
  return isReceipt ? { ...listing, isin: '', cusip: '' } : listing;
}

function fillGaps(stronger: Listing, weaker: Listing): Listing {
  const stated = Object.entries(stronger).filter(([, value]) => value);
  return { ...weaker, ...Object.fromEntries(stated) };
}

function nameOfListing({ mic, ticker }: Listing): string {
  return `${exchangeOfMic(mic)?.mic ?? mic}:${ticker}`;
}

/** Returns each source's `stock`, quotes first, with fields of the main listing only, and prices from one source only. */
function stockValues(
  strongestFirst: readonly SourcedBrand[],
  listings: readonly Listing[],
  companyCountry: string | undefined,
): (SourcedValue & SourcedBrand)[] {
  const [main] = listings;
  const mainName = main && nameOfListing(main);
  const country = (main && exchangeOfMic(main.mic)?.country) ?? '';
  const quotesFirst = strongestFirst.toSorted((a, b) => Number(b.isQuote) - Number(a.isQuote));
  const values = quotesFirst.flatMap((stated) => {
    const { source, brand } = stated;
    if (brand.stock === undefined) return [];
    const stock = isCurated(source) ? brand.stock : withIsinOfMain(brand.stock, listings, companyCountry);
    const value: Record<string, unknown> = { ...stock };
    if (mainListingOf(brand) !== mainName) {
      for (const field of LISTING_FIELDS) delete value[field];
      // An ISIN of another country belongs to another security, such as a depositary receipt.
      if (!stock.isin.startsWith(country)) for (const field of ['isin', 'cusip']) delete value[field];
    }
    return [{ ...stated, value }];
  });
  const priced = values.find(({ value }) => value.price !== undefined);
  for (const { value } of values.filter((other) => priced !== undefined && other !== priced)) {
    for (const field of PRICE_FIELDS) {
      if (field !== 'currency' || hasData(priced?.value.currency)) delete value[field];
    }
  }
  return values;
}

/** Unites domains, and adds the hosts of weaker sources' websites. Those are not shown, but must still find the record. */
function mergeDomains(records: readonly SourcedBrand[], websites: readonly string[]): string[] {
  const hostsOf = (urls: readonly string[]) =>
    urls.slice(0, MOST_ADDRESSES).flatMap((url) => readWebHost(url)?.host ?? []);
  const present = new Set(hostsOf(websites));
  return unique([
    ...records.flatMap(({ brand }) => brand.domains),
    ...records
      .flatMap(({ brand }) => hostsOf(brand.links?.websites ?? []))
      .filter((host) => !present.has(host)),
  ]);
}

interface SourcedValue {
  readonly source: string;
  readonly value: Record<string, unknown>;
}

/** Returns the fields that `mergeMessages` merges one by one. The other fields have their own rules. */
function plainFieldsOf(brand: Brand): Record<string, unknown> {
  const { id, type, rank, names, domains, listings, stock, sources, derivedFields, hasNamesakes, ...fields } =
    brand;
  return fields;
}

/** Merges the sources' versions of one message, the strongest first, and omits empty fields. `path` is its dotted name. */
function mergeMessages(
  path: string,
  values: readonly SourcedValue[],
  report: (field: string, sources: readonly string[]) => void,
): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const field of new Set(values.flatMap(({ value }) => Object.keys(value)))) {
    const fieldPath = path === '' ? field : `${path}.${field}`;
    const found = values
      .map(({ source, value }) => ({ source, value: withItems(value[field]) }))
      .filter(({ value }) => hasData(value));
    const compare = precedenceOf(fieldPath);
    if (compare !== undefined) found.sort((a, b) => compare(a.source, b.source));
    const [first] = found;
    if (first === undefined) continue;
    const name = fieldPath.split('.').map(recordFieldName).join('.');
    if (fieldPath === 'company.headquarters') {
      const { place, sources } = mergePlaces(found as SourcedPlace[]);
      merged[field] = place;
      report(name, sources);
    } else if (isMessage(first.value) && !ATOMIC_FIELDS.has(fieldPath)) {
      merged[field] = mergeMessages(fieldPath, found as SourcedValue[], report);
    } else {
      merged[field] = first.value;
      report(name, [first.source]);
    }
  }
  return merged;
}

/** Returns a list without the items that have no data. Any other value as it is. */
function withItems(value: unknown): unknown {
  return Array.isArray(value) && !value.every(hasData) ? value.filter(hasData) : value;
}

function isMessage(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
