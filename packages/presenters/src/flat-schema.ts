import { type Static, type TSchema, Type } from 'typebox';
import { EXAMPLE_LOGO_HOST, record } from './grouped-schema.ts';

const orNull = <S extends TSchema>(schema: S, description: string, examples?: unknown[]) =>
  Type.Union([schema, Type.Null()], { description, ...(examples && { examples }) });

const text = (description: string, example: string) =>
  orNull(Type.String({ minLength: 1 }), description, [example]);
const number = (description: string, example: number) => orNull(Type.Number(), description, [example]);

const MEANING = 'What is known of a company. A field without data is null.';

/**
 * JSON Schema of the flat record (packages/presenters/README.md). Every record has every key, in this order. null means that the
 * field does not apply or is not known.
 */
export const flatRecordSchema = record('FlatRecord', MEANING, {
  name: Type.String({ description: 'Display name.', minLength: 1, examples: ['Delta Air Lines'] }),
  type: Type.Enum(['stock', 'merchant'], {
    description: '"stock": a listed company; "merchant": any other company.',
    type: 'string',
    examples: ['stock'],
  }),
  logo: Type.String({
    description: 'URL of the logo, or of a monogram if no logo is known.',
    minLength: 1,
    examples: [`${EXAMPLE_LOGO_HOST}/logos/ede9a6697d52c2b2e7e907ea30cdef09.svg`],
  }),
  description: Type.String({
    description: 'What the company does.',
    minLength: 1,
    examples: [
      'Delta Air Lines is an American airline based in Atlanta and a founding member of the SkyTeam alliance. It goes back to Huff Daland Dusters, a crop-dusting firm formed in 1925.',
    ],
  }),
  website: text('URL of the primary website.', 'https://www.delta.com/'),
  headquarters: orNull(
    record('FlatHeadquarters', 'Location of the headquarters.', {
      city: text('City, in English.', 'Atlanta'),
      state: text('State or region, in English.', 'Georgia'),
      country: text('Country, in English.', 'United States'),
    }),
    'Location of the headquarters; null if no part is known.',
  ),
  employees: text('Number of employees, sometimes with the year.', '61,500 (2024)'),
  industry: text('Primary industry; stocks only.', 'Airlines'),
  sector: text('Primary sector; stocks only.', 'Industrials'),
  ceo: text('Name of the chief executive; stocks only.', 'Ed Bastian'),
  exchange: text('Short code of the exchange; stocks only.', 'NYSE'),
  isin: text('ISIN of the security; stocks only.', 'US2473617023'),
  currency: text('Trading currency, ISO 4217; stocks only.', 'USD'),
  market_cap: number('Market capitalization in US dollars; stocks only.', 54_194_713_902),
  price: number('Last closing price, in the trading currency; stocks only.', 82.41),
  is_actively_trading: orNull(Type.Boolean(), 'Whether the ticker is traded at present; stocks only.', [
    true,
  ]),
  symbol: text('Ticker of the main listing; stocks only.', 'DAL'),
  founded: text('Founding or IPO date: an ISO date from a stock profile, else free text.', '1925-03-02'),
  founders: orNull(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }), 'Founders; merchants only.', [
    ['James McLamore', 'David Edgerton'],
  ]),
  key_people: orNull(
    Type.Array(
      record('FlatKeyPerson', 'A person who leads the company.', {
        name: text('Name of the person.', 'Tim Clark'),
        role: text('Role in the company.', 'President'),
      }),
      { minItems: 1 },
    ),
    'People who lead the company; merchants only.',
  ),
  social_media: orNull(
    Type.Array(
      record('FlatSocialProfile', 'A profile on a social network.', {
        name: text('Name of the network.', 'X'),
        url: text('URL of the profile.', 'https://x.com/BurgerKing'),
      }),
      { minItems: 1 },
    ),
    'Profiles on social networks; merchants only.',
  ),
  wikipedia: text(
    'URL of the Wikipedia article; merchants only.',
    'https://en.wikipedia.org/wiki/Burger_King',
  ),
});

export type FlatRecord = Static<typeof flatRecordSchema>;
