import { type Static, type TProperties, type TSchema, Type } from 'typebox';

const orNull = <S extends TSchema>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const text = (description: string) => orNull(Type.String({ minLength: 1 }), description);
const number = (description: string) => orNull(Type.Number(), description);

const record = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/**
 * JSON Schema of the flat record (packages/presenters/README.md). Every record has every key, in this order. null means that the
 * field does not apply or is not known.
 */
export const flatRecordSchema = Type.Object(
  {
    name: Type.String({ description: 'Display name.', minLength: 1 }),
    type: Type.Enum(['stock', 'merchant'], {
      description: '"stock": a listed company; "merchant": any other company.',
    }),
    logo: Type.String({
      description: 'URL of the logo, or of a monogram if no logo is known.',
      minLength: 1,
    }),
    description: Type.String({ description: 'What the company does.', minLength: 1 }),
    website: text('URL of the primary website.'),
    headquarters: orNull(
      record({
        city: text('City, in English.'),
        state: text('State or region, in English.'),
        country: text('Country, in English.'),
      }),
      'Location of the headquarters; null if no part is known.',
    ),
    employees: text('Number of employees, sometimes with the year.'),
    industry: text('Primary industry; stocks only.'),
    sector: text('Primary sector; stocks only.'),
    ceo: text('Name of the chief executive; stocks only.'),
    exchange: text('Short code of the exchange; stocks only.'),
    isin: text('ISIN of the security; stocks only.'),
    currency: text('Trading currency, ISO 4217; stocks only.'),
    market_cap: number('Market capitalization in US dollars; stocks only.'),
    price: number('Last closing price, in the trading currency; stocks only.'),
    is_actively_trading: orNull(Type.Boolean(), 'Whether the ticker is traded at present; stocks only.'),
    symbol: text('Ticker of the main listing; stocks only.'),
    founded: text('Founding or IPO date: an ISO date from a stock profile, else free text.'),
    founders: orNull(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }), 'Founders; merchants only.'),
    key_people: orNull(
      Type.Array(record({ name: text('Name of the person.'), role: text('Role in the company.') }), {
        minItems: 1,
      }),
      'People who lead the company; merchants only.',
    ),
    social_media: orNull(
      Type.Array(record({ name: text('Name of the network.'), url: text('URL of the profile.') }), {
        minItems: 1,
      }),
      'Profiles on social networks; merchants only.',
    ),
    wikipedia: text('URL of the Wikipedia article; merchants only.'),
  },
  { title: 'Flat record', additionalProperties: false },
);

export type FlatRecord = Static<typeof flatRecordSchema>;
