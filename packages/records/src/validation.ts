import { Brand, BrandType, type Quote, type Source } from '@brand-data/contracts';
import { isCusip, isFigi, isIsin, isLei } from '@brand-data/identifiers';
import { recordFieldName } from './field-names.ts';
import { FIGURES } from './quotes.ts';

const MAX_STRING = 4_096;
const MAX_LIST = 1_000;
/** So that the 200 answers of a look-up fit into one message of 16 MiB. */
const MAX_BYTES = 64 * 1024;
const MAX_PROBLEMS_REPORTED = 5;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters.
const CONTROL = /[\u0000-\u001f\u007f]/;

/** The problems of a record, each with its remedy; none: it may be put. Fields are named as in records. */
export function problemsOf(brand: Brand, bytes: number = Brand.encode(brand).finish().length): string[] {
  const problems = isSound(brand) ? [] : [...problemsOfAnyValue('', brand)];
  if (bytes > MAX_BYTES) problems.push(`the record has ${bytes} bytes: shorten it to ${MAX_BYTES}`);
  reportProblemsOfFields(brand, (problem) => problems.push(problem));
  return problems;
}

/** The problems of a quote, in the same form. */
export function problemsOfQuote(quote: Quote): string[] {
  const problems = isSound(quote) ? [] : [...problemsOfAnyValue('', quote)];
  reportProblemsOfQuote(quote, (problem) => problems.push(problem));
  return problems;
}

/** The problems as one reason of refusal; undefined: there are none. */
export function refusalOf(problems: readonly string[]): string | undefined {
  if (problems.length === 0) return undefined;
  const more = problems.length - MAX_PROBLEMS_REPORTED;
  return problems.slice(0, MAX_PROBLEMS_REPORTED).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

export function isSlug(value: string): boolean {
  return value.length <= 100 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value);
}

/** Whether problemsOfAnyValue would find nothing; faster, as it does not build the names of the fields. */
function isSound(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  if (typeof value === 'string') return value.length <= MAX_STRING && !CONTROL.test(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value))
    return value.length <= MAX_LIST && value.every((item) => item !== '' && isSound(item));
  if (typeof value !== 'object' || value === null) return true;
  for (const name in value) if (!isSound((value as Record<string, unknown>)[name])) return false;
  return true;
}

function* problemsOfAnyValue(path: string, value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (value.length > MAX_STRING) yield `${path} is longer than ${MAX_STRING} characters: shorten it`;
    if (CONTROL.test(value)) yield `${path} holds a control character: remove it`;
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
      const fieldName = recordFieldName(name);
      yield* problemsOfAnyValue(path === '' ? fieldName : `${path}.${fieldName}`, field);
    }
  }
}

type Report = (problem: string) => void;

function reportProblemsOfFields(brand: Brand, report: Report): void {
  const { company, links, images, stock, manager } = brand;

  if (!isSlug(brand.id))
    report('id must be a lower-case slug such as "berkshire-hathaway", 100 characters at most');
  if (brand.type === BrandType.UNSPECIFIED) report('type is missing: stock, brand or superinvestor');
  if (brand.name === '') report('name is missing');
  if (brand.description === '') report('description is missing: write a sentence');
  if (!/^[a-z0-9]+(_[a-z0-9]+)*$/.test(brand.category))
    report('category must be a lower-case slug with underscores, such as "fast_food"');
  if (brand.rank > 1_000) report('rank must be 0 to 1000');
  if (brand.lei && !isLei(brand.lei)) report('lei is not an LEI with valid check digits: correct it');

  const isStock = brand.type === BrandType.STOCK;
  if (isStock && brand.listings.length === 0)
    report('listings is missing: a stock has its main listing there');
  if (!isStock && (brand.listings.length > 0 || stock !== undefined))
    report('listings and stock are for records of type stock: leave them out or set the type');
  if (brand.type !== BrandType.SUPERINVESTOR && manager !== undefined)
    report('manager is for records of type superinvestor: leave it out or set the type');
  reportProblemsOfSecurities(brand, report);
  for (const [index, domain] of brand.domains.entries()) {
    if (!isDomain(domain)) report(`domains[${index}] must be a domain alone, such as "example.com"`);
  }

  for (const [index, { name }] of company?.keyPeople.entries() ?? []) {
    if (name === '') report(`company.key_people[${index}].name is missing`);
  }
  const { countryCode, latitude, longitude } = company?.headquarters ?? {};
  if (countryCode && !/^[A-Z]{2}$/.test(countryCode))
    report('company.headquarters.country_code must be two capitals (ISO 3166-1), such as "US"');
  if ((latitude === undefined) !== (longitude === undefined))
    report('company.headquarters must have both latitude and longitude, or neither');
  if (Math.abs(latitude ?? 0) > 90) report('company.headquarters.latitude must be -90 to 90');
  if (Math.abs(longitude ?? 0) > 180) report('company.headquarters.longitude must be -180 to 180');

  const checkUrl = (path: string, url: string) => {
    if (url !== '' && !isWebUrl(url)) report(`${path} must be an http or https URL`);
  };
  for (const [index, url] of links?.websites.entries() ?? []) checkUrl(`links.websites[${index}]`, url);
  checkUrl('links.wikipedia', links?.wikipedia ?? '');
  for (const [index, { name, url }] of links?.socialMedia.entries() ?? []) {
    checkUrl(`links.social_media[${index}].url`, url || 'missing');
    if (name === '') report(`links.social_media[${index}].name is missing: name the network`);
  }
  checkUrl('manager.portfolio_manager_source', manager?.portfolioManagerSource ?? '');
  if (links?.wikidataQid && !/^Q[1-9][0-9]*$/.test(links.wikidataQid))
    report('links.wikidata_qid must be Q and digits, such as "Q312"');

  const checkPath = (path: string, value: string | undefined) => {
    if (value && !isImagePath(value))
      report(
        `${path} must be a path below the logo host, without a leading slash, such as "logos/apple/big.svg"`,
      );
  };
  for (const [path, variants] of [
    ['images.logo', images?.logo],
    ['images.stock_logo', images?.stockLogo],
  ] as const) {
    if (variants?.big) checkPath(`${path}.big.path`, variants.big.path || '/');
    if (variants?.small) checkPath(`${path}.small.path`, variants.small.path || '/');
  }
  checkPath('images.banner_path', images?.bannerPath);
  checkPath('stock.exchange_logo_path', stock?.exchangeLogoPath);
  checkPath('manager.logo_path', manager?.logoPath);

  for (const [index, source] of brand.sources.entries())
    reportProblemsOfSource(`sources[${index}]`, source, report);
}

function reportProblemsOfSecurities({ listings, stock }: Brand, report: Report): void {
  // Records repeat most identifiers, and checking digits is slow.
  const sound = new Set<string>();
  const checkDigits = (path: string, value: string, kind: string, isValid: (value: string) => boolean) => {
    if (value === '' || sound.has(value)) return;
    if (isValid(value)) sound.add(value);
    else report(`${path} is not ${kind} with a valid check digit: correct it`);
  };
  for (const [index, listing] of listings.entries()) {
    const path = `listings[${index}]`;
    if (!/^[A-Z0-9][A-Z0-9.&-]{0,19}$/.test(listing.ticker))
      report(`${path}.ticker must be capitals and digits as the exchange writes them, such as "BRK-B"`);
    if (!/^[A-Z0-9]{4}$/.test(listing.mic))
      report(`${path}.mic must be a market identifier code (ISO 10383), such as "XNAS"`);
    checkDigits(`${path}.isin`, listing.isin, 'an ISIN', isIsin);
    checkDigits(`${path}.cusip`, listing.cusip, 'a CUSIP', isCusip);
    checkDigits(`${path}.figi`, listing.figi, 'a FIGI', isFigi);
    checkDigits(`${path}.composite_figi`, listing.compositeFigi, 'a FIGI', isFigi);
    checkDigits(`${path}.share_class_figi`, listing.shareClassFigi, 'a FIGI', isFigi);
  }
  if (stock === undefined) return;
  checkDigits('stock.isin', stock.isin, 'an ISIN', isIsin);
  checkDigits('stock.cusip', stock.cusip, 'a CUSIP', isCusip);
  if (stock.ipoDate !== '') {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(stock.ipoDate)) report('stock.ipo_date must be YYYY-MM-DD');
    else if (!isDate(stock.ipoDate)) report('stock.ipo_date is not a calendar date');
  }
  reportProblemOfCurrency(stock.currency, report);
}

function reportProblemsOfQuote({ symbol, mic, isin, stock, source }: Quote, report: Report): void {
  if (symbol === '' && isin === '') report('symbol is missing: give it, or isin');
  if (isin !== '' && !isIsin(isin)) report('isin is not an ISIN with a valid check digit: correct it');
  if (mic !== '' && !/^[A-Z0-9]{4}$/.test(mic))
    report('mic must be a market identifier code (ISO 10383), such as "XNAS"');
  const given = Object.entries(stock ?? {}).flatMap(([field, value]) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0) ? [] : [field],
  );
  if (given.length === 0) report('stock is missing: give figures, such as price and currency');
  const figures: readonly string[] = FIGURES;
  for (const field of given.filter((field) => !figures.includes(field)))
    report(`stock.${recordFieldName(field)} is not a figure of a quote: leave it out`);
  reportProblemOfCurrency(stock?.currency ?? '', report);
  if (source !== undefined) reportProblemsOfSource('source', source, report);
}

function reportProblemOfCurrency(currency: string, report: Report): void {
  if (currency !== '' && !/^[A-Z]{3}$/.test(currency))
    report('stock.currency must be three capitals (ISO 4217), such as "USD"');
}

function reportProblemsOfSource(path: string, { name, url, date }: Source, report: Report): void {
  if (name === '') report(`${path}.name is missing`);
  if (url !== '' && !isWebUrl(url)) report(`${path}.url must be an http or https URL`);
  if (date !== '' && !isDate(date)) report(`${path}.date must be YYYY, YYYY-MM or YYYY-MM-DD`);
}

function isWebUrl(value: string): boolean {
  return /^https?:\/\//.test(value) && URL.canParse(value);
}

function isDomain(value: string): boolean {
  const url = URL.canParse(`http://${value}`) ? new URL(`http://${value}`) : undefined;
  return url !== undefined && /^[^/:@?#\s]+\.[^/:@?#\s.]+$/.test(value) && url.hostname.includes('.');
}

/** Whether it is a relative path of a URL without "." and ".." segments. */
function isImagePath(value: string): boolean {
  return value
    .split('/')
    .every((segment) => /^[\w.~!$&'()*+,;=@%-]+$/.test(segment) && segment !== '.' && segment !== '..');
}

/** Whether it is a year, a month or a calendar date. */
function isDate(value: string): boolean {
  const [, year, month = '01', day = '01'] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(value) ?? [];
  if (year === undefined || month < '01' || month > '12' || day < '01') return false;
  return day <= '28' || Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}
