import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/**
 * The format that records are written in by hand or by another program: one JSON object a company, merchant or
 * portfolio manager, its fields those of proto/brand_data/v1/brand.proto in snake_case. What is not known is left out:
 * null, "", [] and {} are refused. The catalogue checks further what takes more than a shape, such as check digits.
 */

/** A group of optional fields, of which there is at least one. */
const group = <Fields extends TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false, minProperties: 1 });
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
const list = <Item extends TSchema>(item: Item) => Type.Array(item, { minItems: 1, maxItems: 1_000 });

const anyText = Type.String({ minLength: 1, maxLength: 4_096 });
/** `description` completes the sentence "… must be" of a refusal. */
const textLike = (pattern: string, description: string) =>
  Type.String({ pattern, maxLength: 4_096, description });

const text = () => optional(anyText);
const texts = () => optional(list(anyText));
const number = () => optional(Type.Number());
const url = textLike('^https?://[^\\s/]+(/\\S*)?$', 'an http or https URL');
const path = textLike(
  '^[^/\\s]+(/[^/\\s]+)*$',
  'a path below the logo host, without a leading slash, such as "banners/apple.svg"',
);

const picture = group({
  path,
  /** Pixels. */
  width: optional(Type.Integer({ minimum: 1 })),
  height: optional(Type.Integer({ minimum: 1 })),
  /** The file's kind: "svg". */
  format: text(),
  /** Kilobytes of 1024 bytes. */
  size_kb: optional(Type.Number({ minimum: 0 })),
});
const variants = group({ big: optional(picture), small: optional(picture) });

export const BrandRecord = Type.Object(
  {
    /** Unique, and the same for ever. Where a logo collection has the brand, its id there. */
    id: textLike('^[a-z0-9]+(-[a-z0-9]+)*$', 'a lower-case slug such as "berkshire-hathaway"'),
    type: Type.Enum(['stock', 'brand', 'superinvestor']),
    /** As it is displayed. */
    name: anyText,
    /** One to three plain sentences. */
    description: anyText,
    category: textLike(
      '^[a-z0-9]+(_[a-z0-9]+)*$',
      'a lower-case slug with underscores, such as "consumer_electronics"',
    ),
    /** How well known it is: 900 and more world-famous, 700 internationally, 500 in a region or an industry. */
    rank: Type.Integer({ minimum: 0, maximum: 1_000 }),
    /** Other current names: legal, short, in the native language. */
    names: texts(),
    /** Registrable domains beyond those of links.websites. */
    domains: texts(),
    /** Stocks have them, the company's main listing first. */
    listings: optional(
      list(
        Type.Object(
          {
            /** As the exchange writes it, without an exchange suffix: "BRK-B". */
            ticker: textLike('^[A-Z0-9][A-Z0-9.&-]{0,19}$', 'capitals and digits, such as "BRK-B"'),
            /** Market identifier code, ISO 10383: "XNAS". */
            mic: textLike('^[A-Z0-9]{4}$', 'a market identifier code of four capitals and digits'),
            /** The main listing of a further security of the company: a share class, a depositary receipt. */
            primary: optional(Type.Boolean()),
          },
          { additionalProperties: false },
        ),
      ),
    ),
    company: optional(
      group({
        industry: text(),
        sector: text(),
        industries: texts(),
        /** "Public", "Private", "Subsidiary". */
        company_type: texts(),
        /** A date, a year or free text. */
        founded: text(),
        founders: texts(),
        ceo: text(),
        key_people: optional(
          list(Type.Object({ name: anyText, role: text() }, { additionalProperties: false })),
        ),
        /** "164,000 (2024)". */
        employees: text(),
        number_of_locations: text(),
        headquarters: optional(
          group({
            city: text(),
            state: text(),
            country: text(),
            /** ISO 3166-1 alpha-2. */
            country_code: optional(textLike('^[A-Z]{2}$', 'two capitals (ISO 3166-1), such as "US"')),
            /** Degrees, WGS 84. */
            latitude: optional(Type.Number({ minimum: -90, maximum: 90 })),
            longitude: optional(Type.Number({ minimum: -180, maximum: 180 })),
            /** Where the language there is not English. */
            city_native: text(),
            state_native: text(),
            country_native: text(),
          }),
        ),
        area_served: texts(),
      }),
    ),
    ownership: optional(
      group({ owner: texts(), parent_company: texts(), subsidiaries: texts(), divisions: texts() }),
    ),
    offerings: optional(group({ products: texts(), services: texts(), brands: texts() })),
    /** Of companies that changed their name or no longer operate. */
    history: optional(
      group({
        formerly: texts(),
        predecessor: texts(),
        successor: texts(),
        defunct: texts(),
        fate: texts(),
        ceased_operations: texts(),
      }),
    ),
    /** Of airlines and fleets. */
    transport: optional(group({ hubs: texts(), focus_cities: texts(), fleet_size: text() })),
    links: optional(
      group({
        /** Primary first. */
        websites: optional(list(url)),
        wikipedia: optional(url),
        wikidata_qid: optional(textLike('^Q[1-9][0-9]*$', 'Q and digits, such as "Q312"')),
        social_media: optional(list(Type.Object({ name: anyText, url }, { additionalProperties: false }))),
      }),
    ),
    images: optional(
      group({ logo: optional(variants), banner: optional(path), stock_logo: optional(variants) }),
    ),
    /** Market data of the main listing; of stocks alone. */
    stock: optional(
      group({
        exchange: text(),
        exchange_full_name: text(),
        exchange_logo: optional(path),
        index_memberships: texts(),
        isin: optional(textLike('^[A-Z]{2}[A-Z0-9]{9}[0-9]$', 'an ISIN')),
        cusip: optional(textLike('^[A-Z0-9*@#]{8}[0-9]$', 'a CUSIP')),
        ipo_date: optional(textLike('^\\d{4}-\\d{2}-\\d{2}$', 'YYYY-MM-DD')),
        currency: optional(textLike('^[A-Z]{3}$', 'three capitals (ISO 4217), such as "USD"')),
        /** The last close, in `currency`. */
        price: number(),
        price_usd: number(),
        change: number(),
        change_percentage: number(),
        market_cap_usd: number(),
        /** 52 weeks: "low-high". */
        range: text(),
        percent_from_52_week_low: number(),
        is_actively_trading: optional(Type.Boolean()),
      }),
    ),
    /** Of portfolio managers alone. */
    manager: optional(
      group({
        portfolio_manager: text(),
        firm: text(),
        portfolio_manager_source: optional(url),
        logo: optional(path),
      }),
    ),
    sources: list(
      Type.Object(
        {
          name: anyText,
          url: optional(url),
          licence: text(),
          /** The day the facts were true. */
          date: optional(textLike('^\\d{4}(-\\d{2}(-\\d{2})?)?$', 'YYYY, YYYY-MM or YYYY-MM-DD')),
          /** Dotted names of the fields that it covers; without it, all that no other source names. */
          fields: texts(),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

export type BrandRecord = Static<typeof BrandRecord>;

const validator = Compile(BrandRecord);

/** The value as a record, or what is wrong with it, each problem with the field's name and what to do. */
export function readRecord(value: unknown): { record: BrandRecord } | { problems: string[] } {
  if (!validator.Check(value)) {
    const problems = validator.Errors(value).flatMap(problemOf);
    return { problems: problems.length > 0 ? [...new Set(problems)] : ['it is not a record'] };
  }
  const problems = problemsOfType(value);
  return problems.length > 0 ? { problems } : { record: value };
}

type ValidationError = ReturnType<typeof validator.Errors>[number];

function problemOf({ keyword, params, instancePath, schemaPath, message }: ValidationError): string[] {
  const field =
    instancePath
      .slice(1)
      .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
      .replaceAll('/', '.') || 'the record';
  const below = (name: string) => (instancePath === '' ? name : `${field}.${name}`);
  switch (keyword) {
    case 'required':
      return names(params, 'requiredProperties').map((name) => `${below(name)} is missing`);
    case 'additionalProperties':
      return names(params, 'additionalProperties').map((name) => `${below(name)} is not a field: remove it`);
    case 'boolean':
      return [];
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return [`${field} is empty: leave it out`];
    case 'pattern':
      return [`${field} must be ${descriptionAt(schemaPath)}`];
    case 'enum':
      return [`${field} must be one of ${names(params, 'allowedValues').join(', ')}`];
    default:
      return [`${field} ${message}`];
  }
}

function names(params: object, name: string): string[] {
  const value: unknown = Reflect.get(params, name);
  return Array.isArray(value) ? value.map(String) : [];
}

function descriptionAt(schemaPath: string): string {
  const schema = schemaPath
    .split('/')
    .slice(1)
    .reduce<unknown>((found, step) => Object(found)[step], BrandRecord);
  return String(Object(schema).description ?? 'of another form');
}

function problemsOfType({ type, listings, stock, manager }: BrandRecord): string[] {
  const problems: string[] = [];
  if (type === 'stock' && listings === undefined)
    problems.push('listings is missing: a stock has its main listing there');
  if (type !== 'stock' && (listings !== undefined || stock !== undefined))
    problems.push('listings and stock are for records of type stock: leave them out or set the type');
  if (type !== 'superinvestor' && manager !== undefined)
    problems.push('manager is for records of type superinvestor: leave it out or set the type');
  return problems;
}
