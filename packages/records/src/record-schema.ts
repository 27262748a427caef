import { LONGEST_NAME } from '@brand-data/identifiers';
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';

/**
 * The format in which people and programs write records: the fields of proto/brand_data/v1/brand.proto in snake_case. A record
 * omits fields without a value: null, "", [] and {} are refused. validation.ts has the rules that a schema cannot express.
 */

/** By default the library reports at most 8 errors. The catalogue needs all, to count the problems that it does not list. */
Settings.Set({ maxErrors: 1_000 });
const MAX_PROBLEMS = 8;

/** Returns the schema of an object that has no other fields. */
export const closed = <Fields extends TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
/** Returns an optional group, at least one of whose fields must be present. */
const group = <Fields extends TProperties>(fields: Fields, description?: string) =>
  optional(Type.Object(fields, { additionalProperties: false, minProperties: 1, ...about(description) }));
const fullList = <Item extends TSchema>(item: Item, description?: string) =>
  Type.Array(item, { minItems: 1, maxItems: 1_000, ...about(description) });
const list = <Item extends TSchema>(item: Item, description?: string) =>
  optional(fullList(item, description));
const about = (description: string | undefined) => (description === undefined ? {} : { description });

const anyText = (description?: string) =>
  Type.String({ minLength: 1, maxLength: 4_096, ...about(description) });
/** `description` completes the sentence "… must be" of a refusal. */
const textLike = (pattern: string, description: string) =>
  Type.String({ pattern, maxLength: 4_096, description });

const aName = (description?: string) =>
  Type.String({ minLength: 1, maxLength: LONGEST_NAME, ...about(description) });
const text = (description?: string) => optional(anyText(description));
const texts = (description?: string) => list(anyText(), description);
const number = (description?: string) => optional(Type.Number(about(description)));
const url = textLike('^https?://[^\\s/]+(/\\S*)?$', 'an http or https URL');
const path = textLike(
  '^[^/\\s]+(/[^/\\s]+)*$',
  'a path on the logo host, without a leading slash, such as "banners/apple.svg"',
);
const isin = optional(textLike('^[A-Z]{2}[A-Z0-9]{9}[0-9]$', 'an ISIN'));
const cusip = optional(textLike('^[A-Z0-9*@#]{8}[0-9]$', 'a CUSIP'));
const figi = optional(textLike('^[B-DF-HJ-NP-TV-Z]{2}G[B-DF-HJ-NP-TV-Z0-9]{8}[0-9]$', 'a FIGI'));

const picture = group({
  path,
  width: optional(Type.Integer({ minimum: 1, description: 'pixels' })),
  height: optional(Type.Integer({ minimum: 1, description: 'pixels' })),
  format: text('the kind of file: "svg"'),
  size_kb: optional(Type.Number({ minimum: 0, description: 'kilobytes of 1024 bytes' })),
});
const variants = group({ big: picture, small: picture });

const ticker = textLike(
  '^[A-Z0-9][A-Z0-9.&-]{0,19}$',
  'capitals and digits, as the exchange writes them without a suffix, such as "BRK-B"',
);
export const listing = closed({
  ticker,
  mic: textLike('^[A-Z0-9]{4}$', 'a market identifier code (ISO 10383) such as "XNAS"'),
  primary: optional(
    Type.Boolean({
      description:
        'whether this is the main listing of a further security of the company, such as a share class or a depositary receipt',
    }),
  ),
  isin,
  cusip,
  /** The FIGIs of this venue, of the country's composite, and of the share class. */
  figi,
  composite_figi: figi,
  share_class_figi: figi,
});
export const stock = group(
  {
    exchange: text('the short name, such as "NASDAQ"'),
    exchange_full_name: text(),
    exchange_logo: optional(path),
    index_memberships: texts('the names of indices, such as "S&P 500"'),
    isin,
    cusip,
    ipo_date: optional(textLike('^\\d{4}-\\d{2}-\\d{2}$', 'YYYY-MM-DD')),
    currency: optional(textLike('^[A-Z]{3}$', 'three capitals (ISO 4217), such as "USD"')),
    price: number('the last closing price, in the currency'),
    price_usd: number('the last closing price, in US dollars'),
    change: number('the change of the price in one trading day, in the currency'),
    change_percentage: number('the change of the price in one trading day, in percent'),
    market_cap_usd: number('the market value of the company, in US dollars'),
    range: text('the lowest and the highest price of 52 weeks, as "low-high"'),
    percent_from_52_week_low: number('how far the price is above the 52-week low, in percent'),
    is_actively_trading: optional(Type.Boolean()),
  },
  'market data of the main listing; only in records of type stock',
);
export const source = closed({
  name: anyText(),
  url: optional(url),
  licence: text(),
  date: optional(
    textLike(
      '^\\d{4}(-\\d{2}(-\\d{2})?)?$',
      'YYYY, YYYY-MM or YYYY-MM-DD: the date at which the facts were true',
    ),
  ),
  fields: texts(
    'dotted names of the fields that the source covers; if omitted, all fields that no other source names',
  ),
});

export const BrandRecord = closed({
  /** Unique in its source, and never changes. Sources that give the same id mean the same company. */
  id: textLike('^[a-z0-9]+(-[a-z0-9]+)*$', 'a lower-case slug such as "berkshire-hathaway"'),
  type: optional(
    Type.Enum(['stock', 'brand', 'superinvestor', 'other_security'], {
      description:
        'a listed company, another company or merchant, a portfolio manager, or a security that is no company, such as a fund; left out, the listings decide',
    }),
  ),
  name: aName('the display name'),
  description: text('one to three plain sentences'),
  category: optional(
    textLike(
      '^[a-z0-9]+(_[a-z0-9]+)*$',
      'a lower-case slug with underscores, such as "consumer_electronics"',
    ),
  ),
  rank: optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000,
      description:
        'how well known the company is: 900 or more worldwide, 700 in several countries, 500 in a region or an industry; 0 if this is not known',
    }),
  ),
  names: list(aName(), 'other current names: legal, short, in the native language'),
  domains: texts('registrable domains beyond those of links.websites'),
  lei: optional(textLike('^[A-Z0-9]{18}[0-9]{2}$', 'an LEI')),
  listings: list(listing, 'where the securities of a stock trade, the main listing of the company first'),
  company: group({
    industry: text(),
    sector: text(),
    industries: texts(),
    company_type: texts('such as "Public", "Private", "Subsidiary"'),
    founded: text('a date, a year or free text'),
    founders: texts(),
    ceo: text(),
    key_people: list(closed({ name: anyText(), role: text() })),
    employees: text('such as "164,000 (2024)"'),
    number_of_locations: text(),
    headquarters: group({
      city: text(),
      state: text(),
      country: text(),
      country_code: optional(textLike('^[A-Z]{2}$', 'two capitals (ISO 3166-1), such as "US"')),
      latitude: optional(Type.Number({ minimum: -90, maximum: 90, description: 'degrees, WGS 84' })),
      longitude: optional(Type.Number({ minimum: -180, maximum: 180, description: 'degrees, WGS 84' })),
      city_native: text('the native name, if the local language is not English'),
      state_native: text(),
      country_native: text(),
    }),
    area_served: texts(),
  }),
  ownership: group({ owner: texts(), parent_company: texts(), subsidiaries: texts(), divisions: texts() }),
  offerings: group({ products: texts(), services: texts(), brands: texts() }),
  history: group(
    {
      formerly: list(aName(), 'former names; a year in brackets behind a name is not part of the name'),
      predecessor: texts(),
      successor: texts(),
      defunct: texts(),
      fate: texts(),
      ceased_operations: texts(),
      former_tickers: list(
        ticker,
        'tickers that the company no longer has; they find its record, and are not shown',
      ),
    },
    'only for companies that changed their name or no longer operate',
  ),
  transport: group(
    { hubs: texts(), focus_cities: texts(), fleet_size: text() },
    'only for airlines and other fleets',
  ),
  links: group({
    websites: list(url, 'the primary one first'),
    wikipedia: optional(url),
    wikidata_qid: optional(textLike('^Q[1-9][0-9]*$', 'Q and digits, such as "Q312"')),
    social_media: list(closed({ name: anyText('the name of the network'), url })),
  }),
  images: group({
    logo: variants,
    banner: optional(path),
    stock_logo: variants,
    logo_file: text(
      'the name of the logo’s file on Wikimedia Commons, such as "Acme logo.svg"; bds logo import-folder finds the file by it',
    ),
  }),
  stock,
  manager: group(
    {
      portfolio_manager: optional(aName()),
      firm: optional(aName()),
      portfolio_manager_source: optional(url),
      logo: optional(path),
    },
    'only in records of type superinvestor',
  ),
  sources: fullList(source),
  derived_fields: list(
    Type.Enum(['type', 'description', 'category', 'rank']),
    'fields of a shown record that no source states; an import ignores these fields',
  ),
  has_namesakes: optional(
    Type.Boolean({
      description:
        'whether the source has further records with this name in this country; only for linking records',
    }),
  ),
});

export type BrandRecord = Static<typeof BrandRecord>;

const validator = Compile(BrandRecord);
type ValidationError = ReturnType<typeof validator.Errors>[number];

/** A compiled schema. */
export interface Validator {
  Check(value: unknown): boolean;
  Errors(value: unknown): ValidationError[];
  Type(): TSchema;
}

/** Checks that the value is a record. If not, returns its problems, each with the name of the field and a remedy. */
export function readRecord(value: unknown): { record: BrandRecord } | { problems: string[] } {
  if (!validator.Check(value)) {
    const problems = errorsOf(validator, value).slice(0, MAX_PROBLEMS);
    return { problems: problems.length > 0 ? problems : ['it is not a record'] };
  }
  const problems: string[] = [];
  reportFieldsOfOtherTypes(value, (field, problem) => problems.push(`${field} ${problem}`));
  return problems.length > 0 ? { problems } : { record: value };
}

/** Receives the dotted name of a field and its problem, such as "is missing". */
export type Report = (field: string, problem: string) => void;

/** Reports how the value differs from the validator's schema. */
export function reportErrors(validator: Validator, value: unknown, report: Report): void {
  for (const error of validator.Errors(value)) reportError(validator.Type(), error, report);
}

/** Returns how the value differs from the validator's schema, each difference once. */
export function errorsOf(validator: Validator, value: unknown): string[] {
  const problems = new Set<string>();
  reportErrors(validator, value, (field, problem) => problems.add(`${field} ${problem}`));
  return [...problems];
}

/** Reports the fields that the type of a record requires or excludes. A record without a type may have listings. */
export function reportFieldsOfOtherTypes(record: Partial<BrandRecord>, report: Report): void {
  const { type, listings, stock, manager } = record;
  if (type === 'stock' && listings === undefined)
    report('listings', 'is missing: a record of type stock must have at least its main listing');
  const isUnlisted = type === 'brand' || type === 'superinvestor';
  if (isUnlisted && (listings !== undefined || stock !== undefined))
    report('listings', 'and stock are only for records of type stock: remove them or change the type');
  if (type !== 'superinvestor' && manager !== undefined)
    report('manager', 'is only for records of type superinvestor: remove it or change the type');
}

function reportError(schema: TSchema, error: ValidationError, report: Report): void {
  const { keyword, params, instancePath, schemaPath, message } = error;
  const field =
    instancePath
      .slice(1)
      .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
      .replaceAll('/', '.') || 'the record';
  const below = (name: string) => (instancePath === '' ? name : `${field}.${name}`);
  if (keyword === 'required') {
    for (const name of names(params, 'requiredProperties'))
      report(below(name), `is missing${hintOf(schemaAt(schema, schemaPath).properties?.[name])}`);
  } else if (keyword === 'additionalProperties') {
    for (const name of names(params, 'additionalProperties'))
      report(below(name), 'is not a field: remove it');
  } else if (keyword !== 'boolean') report(field, problemOf(error, schemaAt(schema, schemaPath)) ?? message);
}

/** Returns the problem of a value that breaks the schema. Undefined if the library's message says it well. */
function problemOf({ keyword, params, message }: ValidationError, schema: Schema): string | undefined {
  const limit = Reflect.get(params, 'limit');
  switch (keyword) {
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return 'is empty: remove it';
    case 'maxLength':
      return `is longer than ${limit} characters: shorten it`;
    case 'maxItems':
      return `has more than ${limit} items: remove the least known`;
    case 'minimum':
    case 'maximum':
      return `must be ${rangeOf(schema) ?? message}`;
    case 'pattern':
      return `must be ${schema.description ?? 'of another form'}`;
    case 'enum':
      return `must be one of ${names(params, 'allowedValues').join(', ')}`;
    case 'type':
      return Reflect.get(params, 'type') === 'number' ? 'must be a finite number' : undefined;
    default:
      return undefined;
  }
}

function names(params: object, name: string): string[] {
  return [Reflect.get(params, name) ?? []].flat().map(String);
}

/** The parts of a JSON Schema that messages use. */
interface Schema {
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Returns what a missing field must be, if only certain texts are allowed. */
function hintOf({ description, enum: values, pattern }: Schema = {}): string {
  if (values !== undefined) return `: one of ${values.join(', ')}`;
  return pattern === undefined ? '' : `: ${description}`;
}

function schemaAt(schema: TSchema, path: string): Schema {
  return path
    .split('/')
    .slice(1)
    .reduce<object>((found, step) => Object(Reflect.get(found, step)), schema);
}

function rangeOf({ minimum, maximum }: Schema): string | undefined {
  if (minimum === undefined) return undefined;
  return maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`;
}
