import { Brand, BrandType } from '@brand-data/contracts';
import { isCusip, isIsin } from './check-digits.ts';

const MAX_STRING = 4_096;
const MAX_LIST = 1_000;
/** So that the 200 answers of a look-up fit into one message of 16 MiB. */
const MAX_BYTES = 64 * 1024;
const MAX_PROBLEMS_TOLD = 5;

/** What is wrong with a record, each with what to do; none: it may be put. Fields are named as in records. */
export function problemsOf(brand: Brand): string[] {
  return [...problemsOfAnyValue('', brand), ...problemsOfSize(brand), ...problemsOfFields(brand)];
}

/** The problems as one refusal. */
export function refusalOf(problems: readonly string[]): string | undefined {
  if (problems.length === 0) return undefined;
  const more = problems.length - MAX_PROBLEMS_TOLD;
  return problems.slice(0, MAX_PROBLEMS_TOLD).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

export function isSlug(value: string): boolean {
  return value.length <= 100 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value);
}

function* problemsOfAnyValue(path: string, value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (value.length > MAX_STRING) yield `${path} is longer than ${MAX_STRING} characters: shorten it`;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
    if (/[\u0000-\u001f\u007f]/.test(value)) yield `${path} holds a control character: remove it`;
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) yield `${path} is not a finite number: leave it out`;
  } else if (Array.isArray(value)) {
    if (value.length > MAX_LIST) yield `${path} has more than ${MAX_LIST} items: leave the least known out`;
    for (const [index, item] of value.slice(0, MAX_LIST).entries()) {
      if (item === '') yield `${path}[${index}] is empty: leave it out`;
      yield* problemsOfAnyValue(`${path}[${index}]`, item);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, field] of Object.entries(value)) {
      const fieldName = name.replace(/[A-Z]|\d+/g, (match) => `_${match.toLowerCase()}`);
      yield* problemsOfAnyValue(path === '' ? fieldName : `${path}.${fieldName}`, field);
    }
  }
}

function* problemsOfSize(brand: Brand): Generator<string> {
  const bytes = Brand.encode(brand).finish().length;
  if (bytes > MAX_BYTES) yield `the record has ${bytes} bytes: shorten it to ${MAX_BYTES}`;
}

function* problemsOfFields(brand: Brand): Generator<string> {
  const { company, links, images, stock, manager } = brand;
  const headquarters = company?.headquarters;

  if (!isSlug(brand.id))
    yield 'id must be a lower-case slug such as "berkshire-hathaway", 100 characters at most';
  if (brand.type === BrandType.UNSPECIFIED) yield 'type is missing: stock, brand or superinvestor';
  if (brand.name === '') yield 'name is missing';
  if (brand.description === '') yield 'description is missing: write a sentence';
  if (!/^[a-z0-9]+(_[a-z0-9]+)*$/.test(brand.category))
    yield 'category must be a lower-case slug with underscores, such as "fast_food"';
  if (brand.rank > 1_000) yield 'rank must be 0 to 1000';

  const isStock = brand.type === BrandType.STOCK;
  if (isStock && brand.listings.length === 0) yield 'listings is missing: a stock has its main listing there';
  if (!isStock && (brand.listings.length > 0 || stock !== undefined))
    yield 'listings and stock are for records of type stock: leave them out or set the type';
  if (brand.type !== BrandType.SUPERINVESTOR && manager !== undefined)
    yield 'manager is for records of type superinvestor: leave it out or set the type';
  for (const [index, { ticker, mic }] of brand.listings.entries()) {
    if (!/^[A-Z0-9][A-Z0-9.&-]{0,19}$/.test(ticker))
      yield `listings[${index}].ticker must be capitals and digits as the exchange writes them, such as "BRK-B"`;
    if (!/^[A-Z0-9]{4}$/.test(mic))
      yield `listings[${index}].mic must be a market identifier code (ISO 10383), such as "XNAS"`;
  }
  for (const [index, domain] of brand.domains.entries()) {
    if (!isDomain(domain)) yield `domains[${index}] must be a domain alone, such as "example.com"`;
  }

  for (const [index, { name }] of company?.keyPeople.entries() ?? []) {
    if (name === '') yield `company.key_people[${index}].name is missing`;
  }
  if (headquarters?.countryCode && !/^[A-Z]{2}$/.test(headquarters.countryCode))
    yield 'company.headquarters.country_code must be two capitals (ISO 3166-1), such as "US"';
  if ((headquarters?.latitude === undefined) !== (headquarters?.longitude === undefined))
    yield 'company.headquarters must have both latitude and longitude, or neither';
  if (Math.abs(headquarters?.latitude ?? 0) > 90) yield 'company.headquarters.latitude must be -90 to 90';
  if (Math.abs(headquarters?.longitude ?? 0) > 180)
    yield 'company.headquarters.longitude must be -180 to 180';

  const urls: [string, string][] = [
    ...(links?.websites.map((url, index): [string, string] => [`links.websites[${index}]`, url]) ?? []),
    ['links.wikipedia', links?.wikipedia ?? ''],
    ...(links?.socialMedia.map(({ url }, index): [string, string] => [
      `links.social_media[${index}].url`,
      url || 'missing',
    ]) ?? []),
    ['manager.portfolio_manager_source', manager?.portfolioManagerSource ?? ''],
    ...brand.sources.map(({ url }, index): [string, string] => [`sources[${index}].url`, url]),
  ];
  for (const [path, url] of urls) {
    if (url !== '' && !isWebUrl(url)) yield `${path} must be an http or https URL`;
  }
  for (const [index, { name }] of links?.socialMedia.entries() ?? []) {
    if (name === '') yield `links.social_media[${index}].name is missing: name the network`;
  }
  if (links?.wikidataQid && !/^Q[1-9][0-9]*$/.test(links.wikidataQid))
    yield 'links.wikidata_qid must be Q and digits, such as "Q312"';

  const paths: [string, string][] = [
    ...variantsOf('images.logo', images?.logo),
    ...variantsOf('images.stock_logo', images?.stockLogo),
    ['images.banner_path', images?.bannerPath ?? ''],
    ['stock.exchange_logo_path', stock?.exchangeLogoPath ?? ''],
    ['manager.logo_path', manager?.logoPath ?? ''],
  ];
  for (const [path, value] of paths) {
    if (value !== '' && !isImagePath(value))
      yield `${path} must be a path below the logo host, without a leading slash, such as "logos/apple/big.svg"`;
  }

  if (stock?.isin && !isIsin(stock.isin))
    yield 'stock.isin is not an ISIN whose check digit holds: correct it';
  if (stock?.cusip && !isCusip(stock.cusip))
    yield 'stock.cusip is not a CUSIP whose check digit holds: correct it';
  if (stock?.ipoDate && !/^\d{4}-\d{2}-\d{2}$/.test(stock.ipoDate)) yield 'stock.ipo_date must be YYYY-MM-DD';
  else if (stock?.ipoDate && !isDate(stock.ipoDate)) yield 'stock.ipo_date is no day of the calendar';
  if (stock?.currency && !/^[A-Z]{3}$/.test(stock.currency))
    yield 'stock.currency must be three capitals (ISO 4217), such as "USD"';

  for (const [index, { name, date }] of brand.sources.entries()) {
    if (name === '') yield `sources[${index}].name is missing`;
    if (date !== '' && !isDate(date)) yield `sources[${index}].date must be YYYY, YYYY-MM or YYYY-MM-DD`;
  }
}

function variantsOf(path: string, variants: NonNullable<Brand['images']>['logo']): [string, string][] {
  const found: [string, string][] = [];
  if (variants?.big) found.push([`${path}.big.path`, variants.big.path || '/']);
  if (variants?.small) found.push([`${path}.small.path`, variants.small.path || '/']);
  return found;
}

function isWebUrl(value: string): boolean {
  return /^https?:\/\//.test(value) && URL.canParse(value);
}

function isDomain(value: string): boolean {
  const url = URL.canParse(`http://${value}`) ? new URL(`http://${value}`) : undefined;
  return url !== undefined && /^[^/:@?#\s]+\.[^/:@?#\s.]+$/.test(value) && url.hostname.includes('.');
}

/** Segments of a URL's path that are no way up. */
function isImagePath(value: string): boolean {
  return value
    .split('/')
    .every((segment) => /^[\w.~!$&'()*+,;=@%-]+$/.test(segment) && segment !== '.' && segment !== '..');
}

/** A year, a month or a day of the calendar. */
function isDate(value: string): boolean {
  if (!/^\d{4}(-\d{2}(-\d{2})?)?$/.test(value)) return false;
  const full = `${value}-01-01`.slice(0, 10);
  const time = Date.parse(`${full}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(full);
}
