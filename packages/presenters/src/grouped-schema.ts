import { type Static, type TProperties, Type } from 'typebox';

const text = (description: string) => Type.String({ description, minLength: 1 });
const number = (description: string) => Type.Number({ description });
const texts = (description: string) => Type.Array(text('One of them.'), { description, minItems: 1 });

/** Left out when there is no data. */
const maybe = Type.Optional;

/** An object that holds what is listed and nothing else, and is left out rather than empty. */
const record = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false, minProperties: 1 });

const records = <P extends TProperties>(description: string, properties: P) =>
  Type.Array(record('One of them.', properties), { description, minItems: 1 });

const oneOrMany = (description: string) =>
  Type.Union([text('The only one.'), Type.Array(text('One of several.'), { minItems: 2 })], { description });

const imageProperties = {
  url: text('Where the image is.'),
  width: maybe(number('Pixels.')),
  height: maybe(number('Pixels.')),
  format: maybe(text('Kind of file: "svg", "png".')),
};

const stockImage = record('The image in one size.', imageProperties);

const logoImage = record('The image in one size.', {
  ...imageProperties,
  sizeKb: maybe(number('Size of the file in kilobytes of 1024 bytes.')),
});

const company = record('What the organization is.', {
  industry: maybe(text('Primary industry.')),
  sector: maybe(text('Primary sector.')),
  industries: maybe(texts('All industry classifications.')),
  company_type: maybe(texts('Such as "Public", "Private", "Subsidiary".')),
  founded: maybe(text('Founding or IPO date: an ISO date from a stock profile, else free text.')),
  founders: maybe(texts('Founders.')),
  ceo: maybe(text('Chief executive.')),
  key_people: maybe(
    records('People who lead it.', {
      name: maybe(text('Name.')),
      role: maybe(text('What the person does.')),
    }),
  ),
  employees: maybe(text('How many; sometimes with the year.')),
  number_of_locations: maybe(text('How many; sometimes with the year.')),
  headquarters: maybe(
    record('Where it is led from.', {
      city: maybe(text('In English.')),
      state: maybe(text('In English.')),
      country: maybe(text('In English.')),
      countryCode: maybe(text('ISO 3166-1 alpha-2.')),
      latitude: maybe(number('Degrees, WGS 84.')),
      longitude: maybe(number('Degrees, WGS 84.')),
      cityNative: maybe(text('In the language of the country.')),
      stateNative: maybe(text('In the language of the country.')),
      countryNative: maybe(text('In the language of the country.')),
    }),
  ),
  area_served: maybe(texts('Regions served.')),
});

const ownership = record('Who owns it and what it owns.', {
  owner: maybe(texts('Major shareholders of a public company, the owner of a private one.')),
  parent_company: maybe(texts('Companies above it.')),
  subsidiaries: maybe(texts('Companies below it.')),
  divisions: maybe(texts('Its parts.')),
});

const offerings = record('What it sells.', {
  products: maybe(texts('Notable products.')),
  services: maybe(texts('Notable services.')),
  brands: maybe(texts('Sub-brands.')),
});

const history = record('Only of brands that changed their name or no longer operate.', {
  formerly: maybe(texts('Former names.')),
  predecessor: maybe(texts('What it came from.')),
  successor: maybe(texts('What became of it.')),
  defunct: maybe(oneOrMany('Since when it is no more.')),
  fate: maybe(oneOrMany('How it ended: an acquisition, a dissolution.')),
  ceased_operations: maybe(oneOrMany('When it stopped operating.')),
});

const transport = record('Only of airlines and fleets.', {
  hubs: maybe(texts('Hub airports.')),
  focus_cities: maybe(texts('Focus cities.')),
  fleet_size: maybe(text('Number of aircraft or vehicles.')),
});

const links = record('Where to read more.', {
  websites: maybe(texts('Website URLs, the primary one first.')),
  wikipedia: maybe(text('Encyclopedia article URL.')),
  wikidata_qid: maybe(text('Knowledge-base identifier, Q and digits, for joining with other data sets.')),
  social_media: maybe(
    records('Profiles on social networks.', { name: maybe(text('The network.')), url: maybe(text('URL.')) }),
  ),
});

const groups = {
  company: maybe(company),
  ownership: maybe(ownership),
  offerings: maybe(offerings),
  history: maybe(history),
  transport: maybe(transport),
  links: maybe(links),
};

const imageGroup = {
  logo: maybe(record('The logo.', { big: maybe(logoImage), small: maybe(logoImage) })),
  banner: maybe(record('Banner image.', { url: text('Where the image is.') })),
};

const stock = record('Market data of the main listing.', {
  exchange: maybe(text('Short code of the exchange.')),
  exchange_full_name: maybe(text('Full name of the exchange.')),
  exchange_logo: maybe(text("URL of the exchange's logo.")),
  listings: maybe(texts('Short names of the venues where the company trades.')),
  index_memberships: maybe(texts('Indices that include it.')),
  isin: maybe(text('International security identifier.')),
  cusip: maybe(text('Security identifier, mostly of US listings.')),
  ipo_date: maybe(text('YYYY-MM-DD.')),
  currency: maybe(text('Trading currency, ISO 4217.')),
  price: maybe(number('Last close in the trading currency.')),
  price_usd: maybe(number('Last close in US dollars.')),
  change: maybe(number('Daily movement in the trading currency.')),
  change_percentage: maybe(number('Daily movement in percent.')),
  market_cap_usd: maybe(number('Market capitalization in US dollars.')),
  range: maybe(text('52-week range, "low-high".')),
  percent_from_52_week_low: maybe(number('Distance of the price from the 52-week low, in percent.')),
  is_actively_trading: maybe(Type.Boolean({ description: 'Whether the ticker trades now.' })),
});

const name = text('Display name.');
const description = text('What the company does.');
const category = text('Brand category: lower-case words with underscores.');

const stockRecord = Type.Object(
  {
    type: Type.Literal('stock'),
    name,
    symbol: maybe(text('Ticker of the main listing.')),
    description,
    category,
    ...groups,
    images: maybe(
      record('Images.', {
        ...imageGroup,
        stock_logo: maybe(
          record('Logo of the ticker.', { big: maybe(stockImage), small: maybe(stockImage) }),
        ),
      }),
    ),
    stock: maybe(stock),
  },
  { title: 'Listed company', additionalProperties: false },
);

const brandRecord = Type.Object(
  {
    type: Type.Literal('brand'),
    name,
    description,
    category,
    ...groups,
    images: maybe(record('Images.', imageGroup)),
  },
  { title: 'Private company or merchant', additionalProperties: false },
);

const superinvestorRecord = Type.Object(
  {
    type: Type.Literal('superinvestor'),
    name,
    description,
    category,
    portfolio_manager: maybe(text("The manager's name.")),
    firm: maybe(text('Investment firm.')),
    portfolio_manager_source: maybe(text('URL of the data source.')),
    logo: maybe(text('URL of the logo.')),
  },
  { title: 'Portfolio manager', additionalProperties: false },
);

/**
 * JSON Schema of the grouped record (spec.md 2.1), by `type`. A property's place in its object is its place in the
 * record; nothing is ever null, "", [] or {}.
 */
export const groupedRecordSchema = Type.Union([stockRecord, brandRecord, superinvestorRecord], {
  title: 'Grouped record',
});

export type StockRecord = Static<typeof stockRecord>;
export type BrandRecord = Static<typeof brandRecord>;
export type SuperinvestorRecord = Static<typeof superinvestorRecord>;
export type GroupedRecord = Static<typeof groupedRecordSchema>;
