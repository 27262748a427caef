import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/**
 * The format that records are written in by hand or by another program: one JSON object a company, merchant or
 * portfolio manager, its fields those of proto/brand_data/v1/brand.proto in snake_case. What is not known is left out:
 * null, "", [] and {} are refused. The catalogue checks further what takes more than a shape, such as check digits.
 * The descriptions go into record.schema.json, the same as a JSON Schema.
 */

/** A group of optional fields, of which there is at least one. */
const group = <Fields extends TProperties>(fields: Fields, description?: string) =>
  Type.Object(fields, { additionalProperties: false, minProperties: 1, ...about(description) });
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
const list = <Item extends TSchema>(item: Item, description?: string) =>
  Type.Array(item, { minItems: 1, maxItems: 1_000, ...about(description) });
const about = (description: string | undefined) => (description === undefined ? {} : { description });

const anyText = (description?: string) =>
  Type.String({ minLength: 1, maxLength: 4_096, ...about(description) });
/** `description` completes the sentence "… must be" of a refusal. */
const textLike = (pattern: string, description: string) =>
  Type.String({ pattern, maxLength: 4_096, description });

const text = (description?: string) => optional(anyText(description));
const texts = (description?: string) => optional(list(anyText(), description));
const number = (description?: string) => optional(Type.Number(about(description)));
const url = textLike('^https?://[^\\s/]+(/\\S*)?$', 'an http or https URL');
const path = textLike(
  '^[^/\\s]+(/[^/\\s]+)*$',
  'a path below the logo host, without a leading slash, such as "banners/apple.svg"',
);
const isin = textLike('^[A-Z]{2}[A-Z0-9]{9}[0-9]$', 'an ISIN');
const cusip = textLike('^[A-Z0-9*@#]{8}[0-9]$', 'a CUSIP');
const figi = textLike('^[B-DF-HJ-NP-TV-Z]{2}G[B-DF-HJ-NP-TV-Z0-9]{8}[0-9]$', 'a FIGI');

const picture = group({
  path,
  width: optional(Type.Integer({ minimum: 1, description: 'pixels' })),
  height: optional(Type.Integer({ minimum: 1, description: 'pixels' })),
  format: text('the kind of file: "svg"'),
  size_kb: optional(Type.Number({ minimum: 0, description: 'kilobytes of 1024 bytes' })),
});
const variants = group({ big: optional(picture), small: optional(picture) });

export const BrandRecord = Type.Object(
  {
    /** Unique in its source, and the same for ever. Sources that give the same id mean the same company. */
    id: textLike('^[a-z0-9]+(-[a-z0-9]+)*$', 'a lower-case slug such as "berkshire-hathaway"'),
    type: Type.Enum(['stock', 'brand', 'superinvestor'], {
      description: 'a listed company, another company or merchant, or a portfolio manager',
    }),
    name: anyText('as it is displayed'),
    description: anyText('one to three plain sentences'),
    category: textLike(
      '^[a-z0-9]+(_[a-z0-9]+)*$',
      'a lower-case slug with underscores, such as "consumer_electronics"',
    ),
    rank: Type.Integer({
      minimum: 0,
      maximum: 1_000,
      description:
        'how well known it is: 900 and more world-famous, 700 internationally, 500 in a region or an industry',
    }),
    names: texts('other current names: legal, short, in the native language'),
    domains: texts('registrable domains beyond those of links.websites'),
    lei: optional(textLike('^[A-Z0-9]{18}[0-9]{2}$', 'an LEI')),
    listings: optional(
      list(
        Type.Object(
          {
            ticker: textLike(
              '^[A-Z0-9][A-Z0-9.&-]{0,19}$',
              'capitals and digits, as the exchange writes them without a suffix, such as "BRK-B"',
            ),
            mic: textLike('^[A-Z0-9]{4}$', 'a market identifier code (ISO 10383) such as "XNAS"'),
            primary: optional(
              Type.Boolean({
                description:
                  'the main listing of a further security of the company: a share class, a depositary receipt',
              }),
            ),
            isin: optional(isin),
            cusip: optional(cusip),
            /** Of this venue, of its country's composite, of the share class. */
            figi: optional(figi),
            composite_figi: optional(figi),
            share_class_figi: optional(figi),
          },
          { additionalProperties: false },
        ),
        "where its securities trade; stocks have them, the company's main listing first",
      ),
    ),
    company: optional(
      group({
        industry: text(),
        sector: text(),
        industries: texts(),
        company_type: texts('"Public", "Private", "Subsidiary"'),
        founded: text('a date, a year or free text'),
        founders: texts(),
        ceo: text(),
        key_people: optional(
          list(Type.Object({ name: anyText(), role: text() }, { additionalProperties: false })),
        ),
        employees: text('such as "164,000 (2024)"'),
        number_of_locations: text(),
        headquarters: optional(
          group({
            city: text(),
            state: text(),
            country: text(),
            country_code: optional(textLike('^[A-Z]{2}$', 'two capitals (ISO 3166-1), such as "US"')),
            latitude: optional(Type.Number({ minimum: -90, maximum: 90, description: 'degrees, WGS 84' })),
            longitude: optional(Type.Number({ minimum: -180, maximum: 180, description: 'degrees, WGS 84' })),
            city_native: text('where the language there is not English'),
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
    history: optional(
      group(
        {
          formerly: texts('names of before; a year in brackets behind is no part of them'),
          predecessor: texts(),
          successor: texts(),
          defunct: texts(),
          fate: texts(),
          ceased_operations: texts(),
        },
        'of companies that changed their name or no longer operate',
      ),
    ),
    transport: optional(
      group({ hubs: texts(), focus_cities: texts(), fleet_size: text() }, 'of airlines and fleets'),
    ),
    links: optional(
      group({
        websites: optional(list(url, 'primary first')),
        wikipedia: optional(url),
        wikidata_qid: optional(textLike('^Q[1-9][0-9]*$', 'Q and digits, such as "Q312"')),
        social_media: optional(
          list(Type.Object({ name: anyText("the network's"), url }, { additionalProperties: false })),
        ),
      }),
    ),
    images: optional(
      group({ logo: optional(variants), banner: optional(path), stock_logo: optional(variants) }),
    ),
    stock: optional(
      group(
        {
          exchange: text('short: "NASDAQ"'),
          exchange_full_name: text(),
          exchange_logo: optional(path),
          index_memberships: texts('"S&P 500"'),
          isin: optional(isin),
          cusip: optional(cusip),
          ipo_date: optional(textLike('^\\d{4}-\\d{2}-\\d{2}$', 'YYYY-MM-DD')),
          currency: optional(textLike('^[A-Z]{3}$', 'three capitals (ISO 4217), such as "USD"')),
          price: number('the last close, in the currency'),
          price_usd: number(),
          change: number('of a day, in the currency'),
          change_percentage: number(),
          market_cap_usd: number(),
          range: text('52 weeks: "low-high"'),
          percent_from_52_week_low: number(),
          is_actively_trading: optional(Type.Boolean()),
        },
        'market data of the main listing; of stocks alone',
      ),
    ),
    manager: optional(
      group(
        {
          portfolio_manager: text(),
          firm: text(),
          portfolio_manager_source: optional(url),
          logo: optional(path),
        },
        'of portfolio managers alone',
      ),
    ),
    sources: list(
      Type.Object(
        {
          name: anyText(),
          url: optional(url),
          licence: text(),
          date: optional(
            textLike('^\\d{4}(-\\d{2}(-\\d{2})?)?$', 'YYYY, YYYY-MM or YYYY-MM-DD, when the facts were true'),
          ),
          fields: texts(
            'dotted names of the fields that it covers; without it, all that no other source names',
          ),
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

const typeIs = (type: string) => ({ properties: { type: { const: type } }, required: ['type'] });

/** The format as a JSON Schema of its own, with what the type says of other fields: record.schema.json. */
export const RECORD_JSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Brand record',
  description: 'One company, merchant or portfolio manager. What is not known is left out.',
  ...(BrandRecord as object),
  allOf: [
    {
      if: typeIs('stock'),
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
      then: { required: ['listings'] },
      else: { properties: { listings: false, stock: false } },
    },
    { if: typeIs('superinvestor'), else: { properties: { manager: false } } },
  ],
};
