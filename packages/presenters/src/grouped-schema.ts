import { type Static, type TProperties, Type } from 'typebox';

const text = (description: string) => Type.String({ description, minLength: 1 });
const number = (description: string) => Type.Number({ description });
const texts = (description: string) =>
  Type.Array(text('One item of the list.'), { description, minItems: 1 });

/** A field that is left out if it has no data. */
const maybe = Type.Optional;

/** An object with only the listed fields. It is never empty: without data it is left out. */
const record = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false, minProperties: 1 });

const records = <P extends TProperties>(description: string, properties: P) =>
  Type.Array(record('One item of the list.', properties), { description, minItems: 1 });

const oneOrMany = (description: string) =>
  Type.Union([text('The only value.'), Type.Array(text('One of several values.'), { minItems: 2 })], {
    description,
  });

const imageProperties = {
  url: text('URL of the image.'),
  width: maybe(number('Width in pixels.')),
  height: maybe(number('Height in pixels.')),
  format: maybe(text('Kind of file: "svg", "png".')),
};

const stockImage = record('The image in one size.', imageProperties);

const logoImage = record('The image in one size.', {
  ...imageProperties,
  sizeKb: maybe(number('Size of the file in kilobytes of 1024 bytes.')),
});

const company = record('Facts about the organization.', {
  industry: maybe(text('Primary industry.')),
  sector: maybe(text('Primary sector.')),
  industries: maybe(texts('All industry classifications.')),
  company_type: maybe(texts('Such as "Public", "Private", "Subsidiary".')),
  founded: maybe(text('Founding or IPO date: an ISO date from a stock profile, else free text.')),
  founders: maybe(texts('Founders.')),
  ceo: maybe(text('Name of the chief executive.')),
  key_people: maybe(
    records('People who lead the company.', {
      name: maybe(text('Name of the person.')),
      role: maybe(text('Role in the company.')),
    }),
  ),
  employees: maybe(text('Number of employees, sometimes with the year.')),
  number_of_locations: maybe(text('Number of locations, sometimes with the year.')),
  headquarters: maybe(
    record('Location of the headquarters.', {
      city: maybe(text('City, in English.')),
      state: maybe(text('State or region, in English.')),
      country: maybe(text('Country, in English.')),
      countryCode: maybe(text('ISO 3166-1 alpha-2 code of the country.')),
      latitude: maybe(number('Degrees north, WGS 84.')),
      longitude: maybe(number('Degrees east, WGS 84.')),
      cityNative: maybe(text('City, in the language of the country.')),
      stateNative: maybe(text('State or region, in the language of the country.')),
      countryNative: maybe(text('Country, in its own language.')),
    }),
  ),
  area_served: maybe(texts('Regions that the company serves.')),
});

const ownership = record('Owners, and what the company owns.', {
  owner: maybe(texts('Major shareholders of a public company, or the owner of a private company.')),
  parent_company: maybe(texts('Parent companies in the corporate structure.')),
  subsidiaries: maybe(texts('Subsidiaries in the corporate structure.')),
  divisions: maybe(texts('Divisions of the company.')),
});

const offerings = record('Products, services and brands.', {
  products: maybe(texts('Notable products.')),
  services: maybe(texts('Notable services.')),
  brands: maybe(texts('Sub-brands.')),
});

const history = record('Past of a company that changed its name or no longer operates.', {
  formerly: maybe(texts('Former names.')),
  predecessor: maybe(texts('Organizations from which the company arose.')),
  successor: maybe(texts('Organizations that continue the company.')),
  defunct: maybe(oneOrMany('When the company ceased to exist.')),
  fate: maybe(oneOrMany('How the company ended, such as by acquisition or dissolution.')),
  ceased_operations: maybe(oneOrMany('When the company stopped operating.')),
});

const transport = record('Network and fleet of a transport company.', {
  hubs: maybe(texts('Hub airports.')),
  focus_cities: maybe(texts('Focus cities.')),
  fleet_size: maybe(text('Number of aircraft or vehicles.')),
});

const links = record('Links to other sites.', {
  websites: maybe(texts('Website URLs, the primary one first.')),
  wikipedia: maybe(text('URL of the Wikipedia article.')),
  wikidata_qid: maybe(text('Wikidata identifier, Q and digits, for joining with other data sets.')),
  social_media: maybe(
    records('Profiles on social networks.', {
      name: maybe(text('Name of the network.')),
      url: maybe(text('URL of the profile.')),
    }),
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

const logo = record('The logo, or a monogram if no logo is known.', {
  big: maybe(logoImage),
  small: maybe(logoImage),
});
const banner = maybe(record('Banner image.', { url: text('URL of the image.') }));

const stock = record('Market data of the main listing.', {
  exchange: maybe(text('Short code of the exchange.')),
  exchange_full_name: maybe(text('Full name of the exchange.')),
  exchange_logo: maybe(text("URL of the exchange's logo.")),
  listings: maybe(texts('Short names of the venues where the company trades.')),
  index_memberships: maybe(texts('Indices that include the share.')),
  isin: maybe(text('ISIN of the security.')),
  cusip: maybe(text('CUSIP of the security; mostly for US listings.')),
  ipo_date: maybe(text('Date of the initial public offering, YYYY-MM-DD.')),
  currency: maybe(text('Trading currency, ISO 4217.')),
  price: maybe(number('Last closing price, in the trading currency.')),
  price_usd: maybe(number('Last closing price, in US dollars.')),
  change: maybe(number('Change of the price in one trading day, in the trading currency.')),
  change_percentage: maybe(number('Change of the price in one trading day, in percent.')),
  market_cap_usd: maybe(number('Market capitalization in US dollars.')),
  range: maybe(text('Lowest and highest price of 52 weeks, as "low-high".')),
  percent_from_52_week_low: maybe(number('How far the price is above the 52-week low, in percent.')),
  is_actively_trading: maybe(Type.Boolean({ description: 'Whether the ticker is traded at present.' })),
});

const name = text('Display name.');
const description = text('What the company does.');
const category = text('Brand category: lower-case words with underscores.');

const stockRecord = Type.Object(
  {
    type: Type.Literal('stock', { description: 'A listed company.' }),
    name,
    symbol: maybe(text('Ticker of the main listing.')),
    description,
    category,
    ...groups,
    images: record('Images.', {
      logo: maybe(logo),
      banner,
      stock_logo: maybe(record('Logo of the ticker.', { big: maybe(stockImage), small: maybe(stockImage) })),
    }),
    stock: maybe(stock),
  },
  { title: 'Listed company', additionalProperties: false },
);

const brandRecord = Type.Object(
  {
    type: Type.Literal('brand', { description: 'A private company or a merchant.' }),
    name,
    description,
    category,
    ...groups,
    images: record('Images.', { logo, banner }),
  },
  { title: 'Private company or merchant', additionalProperties: false },
);

const superinvestorRecord = Type.Object(
  {
    type: Type.Literal('superinvestor', { description: 'A portfolio manager.' }),
    name,
    description: text('What the portfolio manager does.'),
    category,
    portfolio_manager: maybe(text("The manager's name.")),
    firm: maybe(text('Investment firm.')),
    portfolio_manager_source: maybe(text('URL of the data source.')),
    logo: text('URL of the logo, or of a monogram if no logo is known.'),
  },
  { title: 'Portfolio manager', additionalProperties: false },
);

/**
 * JSON Schema of the grouped record (packages/presenters/README.md), by `type`. Fields of a record have the order of these
 * properties. No value is ever null, "", [] or {}.
 */
export const groupedRecordSchema = Type.Union([stockRecord, brandRecord, superinvestorRecord], {
  title: 'Grouped record',
});

export type StockRecord = Static<typeof stockRecord>;
export type BrandRecord = Static<typeof brandRecord>;
export type SuperinvestorRecord = Static<typeof superinvestorRecord>;
export type GroupedRecord = Static<typeof groupedRecordSchema>;
