import { Brand, BrandType, type Listing, Stock } from '@brand-data/contracts';
import { exchangeOfMic, orderListings, readWebHost } from '@brand-data/identifiers';
import { recordFieldName } from './field-names.ts';

/** What one source says of a company. */
export interface Statement {
  readonly source: string;
  readonly brand: Brand;
  /** Figures of the main listing that it names, and nothing else of the company. */
  readonly isQuote: boolean;
}

/** One record of what several sources say. */
export interface Merged {
  readonly brand: Brand;
  /** By a field's dotted name in records, the source of its value; of a list that several gave, all of them. */
  readonly fieldSources: ReadonlyMap<string, string>;
}

/** Every source that has no place of its own: the operator's, by name. */
const OWN = '*';

/** Whose word counts, strongest first; then where another source knows better. The README prints both. */
const PRECEDENCE = ['hand-written', 'sample', OWN, 'wikidata', 'financedatabase', 'simple-icons'];
const EXCEPTIONS: readonly { readonly fields: readonly string[]; readonly precedence: readonly string[] }[] =
  [
    {
      fields: ['description', 'category', 'company.sector', 'company.industry', 'company.industries'],
      precedence: ['hand-written', 'sample', OWN, 'financedatabase', 'wikidata', 'simple-icons'],
    },
    {
      fields: ['images.logo'],
      precedence: ['hand-written', 'sample', OWN, 'simple-icons', 'wikidata', 'financedatabase'],
    },
  ];
const EXCEPTION_OF = new Map(
  EXCEPTIONS.flatMap(({ fields, precedence }) => fields.map((field) => [field, precedence] as const)),
);

/** Their rank, type and order of listings are a person's decision, which no figure overrules. */
const CONSIDERED: ReadonlySet<string> = new Set(['hand-written', 'sample']);

/**
 * Taken whole from one source, because its fields mean something only together: a picture and its size, a place and
 * its coordinates.
 */
const UNITS: ReadonlySet<string> = new Set(['images.logo', 'images.stockLogo', 'company.headquarters']);

/** For the same reason, these come from the source whose price it is. */
const QUOTE = [
  'currency',
  'price',
  'priceUsd',
  'change',
  'changePercentage',
  'range',
  'percentFrom52WeekLow',
] as const;
/** These are true of one listing only: of the main listing of the source that says them. */
const OF_MAIN_LISTING = [
  ...QUOTE,
  'exchange',
  'exchangeFullName',
  'exchangeLogoPath',
  'isActivelyTrading',
] as const;

/** Below zero: `a` is the stronger source, wherever no exception is made. */
export function compareSources(a: string, b: string): number {
  return compareBy(PRECEDENCE, a, b);
}

/** A source's listings as the record has them: main listing first, unless a person has put them in order. */
export function withListingsInOrder(source: string, brand: Brand): Brand {
  if (CONSIDERED.has(source) || brand.listings.length < 2) return brand;
  const country = brand.company?.headquarters?.countryCode;
  return { ...brand, listings: orderListings(brand.listings, { country }) };
}

/** A stored record as it is shown: where no source names the main listing's exchange, the table of exchanges does. */
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

/** "XNAS:AAPL"; the same for all codes of a venue. Undefined: the record has no listing. */
export function mainListingOf(brand: Brand): string | undefined {
  const [main] = brand.listings;
  return main === undefined ? undefined : nameOfListing(main);
}

/**
 * One brand of what sources say about it, whose id is the strongest's. Each field has the value of the strongest source
 * that has data for it; lists are not mixed, but for names, domains, listings and sources, which are united, strongest
 * first. Pure; neither the order of the statements nor that in which sources contributed has an influence, and one
 * statement alone, its listings in order, is the record.
 */
export function mergeStatements(statements: readonly Statement[]): Merged {
  const strongestFirst = statements.toSorted(compareStatements);
  const full = strongestFirst.filter(({ isQuote }) => !isQuote);
  const fieldSources = new Map<string, string>();
  const tell = (field: string, sources: readonly string[]) => {
    if (sources.length > 0) fieldSources.set(field, [...new Set(sources)].join(', '));
  };

  const type = typeOf(full);
  tell('type', [type.source]);
  const rank = rankOf(full);
  if (rank.rank > 0) tell('rank', [rank.source]);

  const [strongest] = full;
  const says = full.map(({ source, brand }): Say => ({ source, value: fieldsOf(brand) }));
  const fields = mergeMessages('', says, tell) as Partial<Brand>;

  const isStock = type.type === BrandType.STOCK;
  const listings = isStock ? mergeListings(full, fields.company?.headquarters?.countryCode) : [];
  if (listings.length > 0)
    tell(
      'listings',
      givers(full, ({ listings }) => listings),
    );
  const main = listings[0];
  const stock =
    main === undefined ? undefined : mergeMessages('stock', stockSays(strongestFirst, main), tell);

  const name = fields.name ?? '';
  const names = unique(full.flatMap(({ brand }) => [brand.name, ...brand.names])).filter(
    (other) => other !== '' && other !== name,
  );
  if (names.length > 0)
    tell(
      'names',
      givers(full, ({ names, ...brand }) => [brand.name, ...names]),
    );
  const domains = mergeDomains(full, fields.links?.websites ?? []);
  if (domains.length > 0)
    tell(
      'domains',
      givers(full, ({ domains, links }) => [...domains, ...(links?.websites ?? [])]),
    );

  const brand = Brand.fromPartial({
    ...fields,
    id: strongest?.brand.id ?? '',
    type: type.type,
    rank: rank.rank,
    names,
    domains,
    listings,
    ...(stock === undefined || Object.keys(stock).length === 0 ? {} : { stock }),
    sources: uniqueBy(
      strongestFirst.flatMap(({ brand }) => brand.sources),
      (source) => JSON.stringify(source),
    ),
  });
  return { brand, fieldSources };
}

function compareBy(precedence: readonly string[], a: string, b: string): number {
  const place = (source: string) => {
    const own = precedence.indexOf(source);
    return own >= 0 ? own : precedence.indexOf(OWN);
  };
  return place(a) - place(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Of two quotes the later goes first. */
function compareStatements(a: Statement, b: Statement): number {
  const dateOf = ({ brand }: Statement) => brand.sources[0]?.date ?? '';
  if (a.isQuote !== b.isQuote) return Number(a.isQuote) - Number(b.isQuote);
  const later = a.isQuote ? compareTexts(dateOf(b), dateOf(a)) : 0;
  return later || compareSources(a.source, b.source) || compareTexts(a.brand.id, b.brand.id);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function typeOf(full: readonly Statement[]): { type: BrandType; source: string } {
  const deciding =
    full.find(({ source }) => CONSIDERED.has(source)) ??
    full.find(({ brand }) => brand.type === BrandType.STOCK) ??
    full[0];
  return { type: deciding?.brand.type ?? BrandType.UNSPECIFIED, source: deciding?.source ?? '' };
}

/** A considered rank, else the highest. */
function rankOf(full: readonly Statement[]): { rank: number; source: string } {
  const considered = full.find(({ source, brand }) => CONSIDERED.has(source) && brand.rank > 0);
  const [highest] = full.toSorted((a, b) => b.brand.rank - a.brand.rank);
  const deciding = considered ?? highest;
  return { rank: deciding?.brand.rank ?? 0, source: deciding?.source ?? '' };
}

function mergeListings(full: readonly Statement[], country: string | undefined): Listing[] {
  const united = new Map<string, Listing>();
  for (const listing of full.flatMap(({ brand }) => brand.listings)) {
    const stronger = united.get(nameOfListing(listing));
    united.set(nameOfListing(listing), stronger === undefined ? listing : filledUp(stronger, listing));
  }
  const inOrder = full.find(({ source, brand }) => CONSIDERED.has(source) && brand.listings.length > 0);
  const first = new Set(inOrder?.brand.listings.map(nameOfListing));
  const [ordered, others] = [true, false].map((isFirst) =>
    [...united.values()].filter((listing) => first.has(nameOfListing(listing)) === isFirst),
  ) as [Listing[], Listing[]];
  return [...ordered, ...orderListings(others, { country })];
}

function filledUp(stronger: Listing, weaker: Listing): Listing {
  return {
    ticker: stronger.ticker,
    mic: stronger.mic,
    primary: stronger.primary || weaker.primary,
    isin: stronger.isin || weaker.isin,
    cusip: stronger.cusip || weaker.cusip,
    figi: stronger.figi || weaker.figi,
    compositeFigi: stronger.compositeFigi || weaker.compositeFigi,
    shareClassFigi: stronger.shareClassFigi || weaker.shareClassFigi,
  };
}

function nameOfListing({ mic, ticker }: Listing): string {
  return `${exchangeOfMic(mic)?.mic ?? mic}:${ticker}`;
}

/** What may be said of the stock: quotes first, and of figures only those of the record's main listing. */
function stockSays(strongestFirst: readonly Statement[], main: Listing): Say[] {
  const mainName = nameOfListing(main);
  const country = exchangeOfMic(main.mic)?.country ?? '';
  const quotesFirst = strongestFirst.toSorted((a, b) => Number(b.isQuote) - Number(a.isQuote));
  const says = quotesFirst.flatMap(({ source, brand }) => {
    if (brand.stock === undefined) return [];
    const value: Record<string, unknown> = { ...brand.stock };
    if (mainListingOf(brand) !== mainName) {
      for (const field of OF_MAIN_LISTING) delete value[field];
      // Another security's, by its country, describes another listing: a depositary receipt's.
      if (!brand.stock.isin.startsWith(country)) for (const field of ['isin', 'cusip']) delete value[field];
    }
    return [{ source, value }];
  });
  const quoting = says.find(({ value }) => value.price !== undefined);
  for (const { value } of says.filter((say) => quoting !== undefined && say !== quoting)) {
    for (const field of QUOTE) {
      if (field !== 'currency' || hasData(quoting?.value.currency)) delete value[field];
    }
  }
  return says;
}

/** Of websites that another source's took the place of, the hosts stay, so that they still find the record. */
function mergeDomains(full: readonly Statement[], websites: readonly string[]): string[] {
  const hostsOf = (urls: readonly string[]) => urls.flatMap((url) => readWebHost(url)?.host ?? []);
  const present = new Set(hostsOf(websites));
  return unique([
    ...full.flatMap(({ brand }) => brand.domains),
    ...full.flatMap(({ brand }) => hostsOf(brand.links?.websites ?? [])).filter((host) => !present.has(host)),
  ]);
}

interface Say {
  readonly source: string;
  readonly value: Record<string, unknown>;
}

/** What is merged field by field, and not in a way of its own. */
function fieldsOf(brand: Brand): Record<string, unknown> {
  const { id, type, rank, names, domains, listings, stock, sources, ...fields } = brand;
  return fields;
}

/** `says` are of the same message, strongest first; `path` is its dotted name. Empty fields are left out. */
function mergeMessages(
  path: string,
  says: readonly Say[],
  tell: (field: string, sources: readonly string[]) => void,
): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const field of new Set(says.flatMap(({ value }) => Object.keys(value)))) {
    const fieldPath = path === '' ? field : `${path}.${field}`;
    const found = says
      .map(({ source, value }) => ({ source, value: value[field] }))
      .filter(({ value }) => hasData(value));
    const exception = EXCEPTION_OF.get(fieldPath);
    if (exception !== undefined) found.sort((a, b) => compareBy(exception, a.source, b.source));
    const [first] = found;
    if (first === undefined) continue;
    if (isMessage(first.value) && !UNITS.has(fieldPath)) {
      merged[field] = mergeMessages(fieldPath, found as Say[], tell);
    } else {
      merged[field] = first.value;
      tell(fieldPath.split('.').map(recordFieldName).join('.'), [first.source]);
    }
  }
  return merged;
}

/** `0` and `false` are data. */
function hasData(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.values(value).some(hasData);
}

function isMessage(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function givers(full: readonly Statement[], read: (brand: Brand) => readonly unknown[]): string[] {
  return full.filter(({ brand }) => read(brand).length > 0).map(({ source }) => source);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}

function uniqueBy<T>(items: readonly T[], identityOf: (item: T) => string): T[] {
  const unique = new Map<string, T>();
  for (const item of items) {
    const identity = identityOf(item);
    if (!unique.has(identity)) unique.set(identity, item);
  }
  return [...unique.values()];
}
