import { Brand, type Quote, type Stock } from '@brand-data/contracts';
import { isCusip, isFigi, isIsin, isLei, isTooLongForName, LONGEST_NAME } from '@brand-data/identifiers';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { recordFieldName, recordFields, recordFromBrand } from './brand-from-record.ts';
import {
  BrandRecord,
  closed,
  listing,
  type Report,
  reportErrors,
  reportFieldsOfOtherTypes,
  source,
  stock,
  type Validator,
} from './record-schema.ts';

const MAX_ID = 100;
const MAX_STRING = 4_096;
/** Small enough that the 200 answers of a look-up fit into one message of 16 MiB. */
const MAX_BYTES = 64 * 1024;
/** No company has more. Each listing costs time at every import that compares the record. */
const MAX_LISTINGS = 250;
const MAX_PROBLEMS_REPORTED = 5;
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** The source of the fields that the operator has set. */
export const OPERATOR = 'operator';
/** Instead of a source's name: no source states the field, so the catalogue has derived it. */
export const DERIVED = 'derived';

/** Names that no import may use, with what they mean. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  [OPERATOR, 'it is the source of what bds set has set'],
  [DERIVED, 'it marks fields that no source states'],
]);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters.
const CONTROL = /[\u0000-\u001f\u007f]/;

const BAD_PATH = 'must be a path on the logo host, without a leading slash, such as "logos/apple/big.svg"';

/** The fields of `stock` that a quote may have. */
export const FIGURES = [
  'currency',
  'price',
  'priceUsd',
  'change',
  'changePercentage',
  'marketCapUsd',
  'range',
  'percentFrom52WeekLow',
  'isActivelyTrading',
] as const satisfies readonly (keyof Stock)[];
const FIGURE_NAMES: ReadonlySet<string> = new Set(FIGURES.map(recordFieldName));

/** A record that a program sends to the catalogue. It may omit `sources`, which a record in a file must have. */
const storedRecord = Compile(
  closed({ ...BrandRecord.properties, sources: Type.Optional(BrandRecord.properties.sources) }),
);
type StoredRecord = Partial<BrandRecord>;

const quoteRecord = Compile(
  Type.Object({
    symbol: Type.Optional(Type.String()),
    mic: Type.Optional(listing.properties.mic),
    isin: listing.properties.isin,
    stock,
    source: Type.Optional(source),
  }),
);
type QuoteRecord = Static<ReturnType<typeof quoteRecord.Type>>;

/** Returns the problems of a record, each with its remedy, by the field names of records. Empty if it may be stored. */
export function problemsOf(brand: Brand, bytes: number = Brand.encode(brand).finish().length): string[] {
  return problemsReported((report) => {
    const record: StoredRecord = recordFromBrand(brand);
    if (bytes > MAX_BYTES) report('the record', `has ${bytes} bytes: shorten it to ${MAX_BYTES}`);
    if (brand.listings.length > MAX_LISTINGS)
      report('listings', `has ${brand.listings.length} entries: leave the ${MAX_LISTINGS} best known`);
    reportNames(record, report);
    reportShape(storedRecord, record, report);
    reportFieldsOfOtherTypes(record, report);
    if (brand.id.length > MAX_ID) report('id', `is longer than ${MAX_ID} characters: shorten it`);
    reportSecurities(record, report);
    forEach('domains', record.domains, (field, domain) => {
      if (!isDomain(domain)) report(field, 'must be a domain without anything else, such as "example.com"');
    });
    const { latitude, longitude } = record.company?.headquarters ?? {};
    if ((latitude === undefined) !== (longitude === undefined))
      report('company.headquarters', 'must have both latitude and longitude, or neither');
    reportUrls(record, report);
    // A picture without a path is a problem too, because records omit empty fields.
    for (const [field, path] of imagePathsOf(brand)) if (!isImagePath(path)) report(field, BAD_PATH);
    forEach('sources', record.sources, (field, { date }) => reportDate(`${field}.date`, date, report));
  });
}

/** Returns the problems of a quote, in the form of `problemsOf`. */
export function problemsOfQuote(quote: Quote): string[] {
  return problemsReported((report) => {
    const record: QuoteRecord = recordFields(quote);
    const { symbol, isin, source } = record;
    if (symbol === undefined && isin === undefined) report('symbol', 'is missing: give a symbol or an isin');
    if (record.stock === undefined) report('stock', 'is missing: give figures, such as price and currency');
    for (const field of Object.keys(record.stock ?? {}))
      if (!FIGURE_NAMES.has(field)) report(`stock.${field}`, 'is not a figure of a quote: leave it out');
    reportShape(quoteRecord, record, report);
    if (isin !== undefined) reportCheckDigit('isin', isin, ISIN, report);
    reportUrl('source.url', source?.url, report);
    reportDate('source.date', source?.date, report);
  });
}

/** Joins the problems into one reason of refusal. Undefined if there are none. */
export function refusalOf(problems: readonly string[]): string | undefined {
  if (problems.length === 0) return undefined;
  const more = problems.length - MAX_PROBLEMS_REPORTED;
  return problems.slice(0, MAX_PROBLEMS_REPORTED).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

/** Returns why an import cannot have a source of this name. Undefined if it can. */
export function problemOfSource(name: string): string | undefined {
  const meaning = RESERVED.get(name);
  if (meaning !== undefined) return `source must not be "${name}": ${meaning}`;
  return name.length <= MAX_ID && SLUG.test(name)
    ? undefined
    : 'source must be a lower-case slug, such as "simple-icons"';
}

/** Calls the function with each item of a list and the item's field, such as "names[0]". */
function forEach<Item>(
  field: string,
  items: readonly Item[] | undefined,
  check: (field: string, item: Item) => void,
): void {
  for (const [index, item] of items?.entries() ?? []) check(`${field}[${index}]`, item);
}

/** Collects the first problem of each field. Further problems are ignored, because a rule may rely on earlier rules. */
function problemsReported(check: (report: Report) => void): string[] {
  const problems = new Map<string, string>();
  check((field, problem) => {
    if (!problems.has(field)) problems.set(field, `${field} ${problem}`);
  });
  return [...problems.values()];
}

/**
 * Reports names that are too long to be looked up and compared quickly. The schema counts the characters as they are written. But
 * one character may stand for many, and the names are compared in the form in which it does not.
 */
function reportNames({ name, names, history, manager }: StoredRecord, report: Report): void {
  const check = (field: string, text: string | undefined) => {
    if (text !== undefined && isTooLongForName(text))
      report(field, `is longer than ${LONGEST_NAME} characters: shorten it`);
  };
  check('name', name);
  forEach('names', names, check);
  forEach('history.formerly', history?.formerly, check);
  check('manager.portfolio_manager', manager?.portfolio_manager);
  check('manager.firm', manager?.firm);
}

/** Reports how a record differs from its schema, and reports bad texts that the schema cannot find. */
function reportShape(validator: Validator, record: object, report: Report): void {
  if (!validator.Check(record)) reportErrors(validator, record, report);
  if (hasBadText(record)) reportTexts('', record, report);
}

/** Checks for texts that `reportTexts` reports, which costs less than their fields' names. */
function hasBadText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > MAX_STRING || CONTROL.test(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasBadText);
}

function reportTexts(path: string, value: unknown, report: Report): void {
  if (typeof value === 'string') {
    if (value.length > MAX_STRING) report(path, `is longer than ${MAX_STRING} characters: shorten it`);
    if (CONTROL.test(value)) report(path, 'contains a control character: remove it');
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) reportTexts(`${path}[${index}]`, item, report);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, field] of Object.entries(value))
      reportTexts(path === '' ? name : `${path}.${name}`, field, report);
  }
}

const LEI = ['an LEI', isLei] as const;
const ISIN = ['an ISIN', isIsin] as const;
const CUSIP = ['a CUSIP', isCusip] as const;
const FIGI = ['a FIGI', isFigi] as const;
type CheckDigitRule = typeof LEI | typeof ISIN | typeof CUSIP | typeof FIGI;

function reportSecurities({ lei, listings, stock }: StoredRecord, report: Report): void {
  // Check digits are slow to compute, and most identifiers occur several times in a record.
  const valid = new Set<string>();
  const check = (field: string, value: string | undefined, rule: CheckDigitRule) => {
    if (value === undefined || valid.has(value)) return;
    if (reportCheckDigit(field, value, rule, report)) valid.add(value);
  };
  check('lei', lei, LEI);
  forEach('listings', listings, (field, each) => {
    check(`${field}.isin`, each.isin, ISIN);
    check(`${field}.cusip`, each.cusip, CUSIP);
    check(`${field}.figi`, each.figi, FIGI);
    check(`${field}.composite_figi`, each.composite_figi, FIGI);
    check(`${field}.share_class_figi`, each.share_class_figi, FIGI);
  });
  check('stock.isin', stock?.isin, ISIN);
  check('stock.cusip', stock?.cusip, CUSIP);
  if (stock?.ipo_date !== undefined && !isDate(stock.ipo_date))
    report('stock.ipo_date', 'must be a calendar date, YYYY-MM-DD');
}

function reportCheckDigit(
  field: string,
  value: string,
  [name, isValid]: CheckDigitRule,
  report: Report,
): boolean {
  if (isValid(value)) return true;
  report(field, `is not ${name} with a valid check digit: correct it`);
  return false;
}

function reportUrls({ links, manager, sources }: StoredRecord, report: Report): void {
  forEach('links.websites', links?.websites, (field, url) => reportUrl(field, url, report));
  reportUrl('links.wikipedia', links?.wikipedia, report);
  forEach('links.social_media', links?.social_media, (field, { url }) =>
    reportUrl(`${field}.url`, url, report),
  );
  reportUrl('manager.portfolio_manager_source', manager?.portfolio_manager_source, report);
  forEach('sources', sources, (field, { url }) => reportUrl(`${field}.url`, url, report));
}

function reportUrl(field: string, url: string | undefined, report: Report): void {
  if (url !== undefined && !URL.canParse(url)) report(field, 'must be an http or https URL');
}

/** Returns the paths of all pictures that a brand names, each with its field in records. */
export function imagePathsOf({ images, stock, manager }: Brand): [field: string, path: string][] {
  const paths: [string, string | undefined][] = [
    ['images.logo.big.path', images?.logo?.big?.path],
    ['images.logo.small.path', images?.logo?.small?.path],
    ['images.stock_logo.big.path', images?.stockLogo?.big?.path],
    ['images.stock_logo.small.path', images?.stockLogo?.small?.path],
    ['images.banner', images?.bannerPath || undefined],
    ['stock.exchange_logo', stock?.exchangeLogoPath || undefined],
    ['manager.logo', manager?.logoPath || undefined],
  ];
  return paths.flatMap(([field, path]) => (path === undefined ? [] : [[field, path]]));
}

function reportDate(field: string, date: string | undefined, report: Report): void {
  if (date !== undefined && !isDate(date)) report(field, 'must be YYYY, YYYY-MM or YYYY-MM-DD');
}

function isDomain(value: string): boolean {
  const url = URL.canParse(`http://${value}`) ? new URL(`http://${value}`) : undefined;
  return url !== undefined && /^[^/:@?#\s]+\.[^/:@?#\s.]+$/.test(value) && url.hostname.includes('.');
}

/** A size that images offers, at the end of a path: "logos/0123.svg?size=64". */
const SIZE = /\?size=(?:32|64|128|256|512)$/;

/** Checks whether the value is a relative path of a URL without "." and ".." segments. It may end with a size. */
function isImagePath(value: string): boolean {
  return value
    .replace(SIZE, '')
    .split('/')
    .every((segment) => /^[\w.~!$&'()*+,;=@%-]+$/.test(segment) && segment !== '.' && segment !== '..');
}

/** Checks whether the value is a year, a month or a calendar date. */
function isDate(value: string): boolean {
  const [, year, month = '01', day = '01'] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(value) ?? [];
  if (year === undefined || month < '01' || month > '12' || day < '01') return false;
  return day <= '28' || Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}
