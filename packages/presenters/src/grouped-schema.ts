import { type Static, type TProperties, type TSchema, Type } from 'typebox';

/** The base URL of images in examples. The OpenAPI document has that of the installation in its place. */
export const EXAMPLE_LOGO_HOST = 'https://api.example.com/images';

const LOGO = `${EXAMPLE_LOGO_HOST}/logos/ede9a6697d52c2b2e7e907ea30cdef09.svg`;

const text = (description: string, example: string) =>
  Type.String({ description, minLength: 1, examples: [example] });
const number = (description: string, example: number) => Type.Number({ description, examples: [example] });
const texts = (description: string, ...example: string[]) =>
  Type.Array(Type.String({ minLength: 1 }), { description, minItems: 1, examples: [example] });

/** A field that is left out if it has no data. */
const maybe = Type.Optional;

/** @param title the object's name in the OpenAPI document */
const named = (title: string, description: string) => ({ title, description, additionalProperties: false });

/** Returns an object with only the listed fields. */
export const record = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Object(properties, named(title, description));

/** Returns an object that is never empty: without data it is left out. */
const group = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Object(properties, { ...named(title, description), minProperties: 1 });

/** Returns a group of which each field is left out if it has no data. */
const optional = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Partial(Type.Object(properties), { ...named(title, description), minProperties: 1 });

const records = <S extends TSchema>(description: string, item: S) =>
  Type.Array(item, { description, minItems: 1 });

const oneOrMany = (description: string, example: string) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 2 })], {
    description,
    examples: [example],
  });

const imageProperties = {
  url: text('URL of the image.', LOGO),
  width: maybe(number('Width in pixels.', 512)),
  height: maybe(number('Height in pixels.', 512)),
  format: maybe(text('Kind of file: "svg", "png".', 'svg')),
};

const tickerLogoImage = group('TickerLogoImage', 'The image in one size.', imageProperties);

const logoImage = group('LogoImage', 'The image in one size.', {
  ...imageProperties,
  sizeKb: maybe(number('Size of the file in kilobytes of 1024 bytes.', 1.08)),
});

const company = optional('Company', 'Facts about the organization.', {
  industry: text('Primary industry.', 'Airlines'),
  sector: text('Primary sector.', 'Industrials'),
  industries: texts('All industry classifications.', 'Passenger airlines', 'Air cargo'),
  company_type: texts('Such as "Public", "Private", "Subsidiary".', 'Public'),
  founded: text('Founding or IPO date: an ISO date from a stock profile, else free text.', '1925-03-02'),
  founders: texts('Founders.', 'Collett E. Woolman'),
  ceo: text('Name of the chief executive.', 'Ed Bastian'),
  key_people: records(
    'People who lead the company.',
    optional('KeyPerson', 'A person who leads the company.', {
      name: text('Name of the person.', 'Ed Bastian'),
      role: text('Role in the company.', 'Chief Executive Officer'),
    }),
  ),
  employees: text('Number of employees, sometimes with the year.', '61,500 (2024)'),
  number_of_locations: text('Number of locations, sometimes with the year.', 'over 19,000 (2024)'),
  headquarters: optional('Headquarters', 'Location of the headquarters.', {
    city: text('City, in English.', 'Dubai'),
    state: text('State or region, in English.', 'Dubai'),
    country: text('Country, in English.', 'United Arab Emirates'),
    countryCode: text('ISO 3166-1 alpha-2 code of the country.', 'AE'),
    latitude: number('Degrees north, WGS 84.', 25.2532),
    longitude: number('Degrees east, WGS 84.', 55.3657),
    cityNative: text('City, in the language of the country.', 'دبي'),
    stateNative: text('State or region, in the language of the country.', 'دبي'),
    countryNative: text('Country, in its own language.', 'الإمارات العربية المتحدة'),
  }),
  area_served: texts('Regions that the company serves.', 'Worldwide'),
});

const ownership = optional('Ownership', 'Owners, and what the company owns.', {
  owner: texts(
    'Major shareholders of a public company, or the owner of a private company.',
    'The Vanguard Group',
    'BlackRock',
    'State Street',
  ),
  parent_company: texts('Parent companies in the corporate structure.', 'Restaurant Brands International'),
  subsidiaries: texts(
    'Subsidiaries in the corporate structure.',
    'Endeavor Air',
    'Monroe Energy',
    'Delta Vacations',
  ),
  divisions: texts(
    'Divisions of the company.',
    'Safety & Industrial',
    'Transportation & Electronics',
    'Consumer',
  ),
});

const offerings = optional('Offerings', 'Products, services and brands.', {
  products: texts(
    'Notable products.',
    'Whopper',
    'Hamburgers',
    'Chicken Fries',
    'Onion rings',
    'Impossible Whopper',
  ),
  services: texts('Notable services.', 'Passenger flights', 'SkyMiles', 'Delta Cargo', 'Delta TechOps'),
  brands: texts('Sub-brands.', 'Delta Connection', 'Delta One', 'Delta Sky Club', 'Delta Shuttle'),
});

const history = optional('History', 'Past of a company that changed its name or no longer operates.', {
  formerly: texts('Former names.', 'Delta Air Service', 'Delta Air Corporation'),
  predecessor: texts('Organizations from which the company arose.', 'Air Berlin USA'),
  successor: texts('Organizations that continue the company.', 'UBS'),
  defunct: oneOrMany('When the company ceased to exist.', '2017'),
  fate: oneOrMany(
    'How the company ended, such as by acquisition or dissolution.',
    'Filed for insolvency on 15 August 2017; Lufthansa and easyJet took over parts of the business',
  ),
  ceased_operations: oneOrMany('When the company stopped operating.', '2017-10-27 (last flight)'),
});

const transport = optional('Transport', 'Network and fleet of a transport company.', {
  hubs: texts('Hub airports.', 'Dubai (DXB)'),
  focus_cities: texts('Focus cities.', 'Austin (AUS)', 'Raleigh/Durham (RDU)'),
  fleet_size: text('Number of aircraft or vehicles.', '260 (2025)'),
});

const links = optional('Links', 'Links to other sites.', {
  websites: texts(
    'Website URLs, the primary one first.',
    'https://www.adidas.com/',
    'https://www.adidas-group.com/',
  ),
  wikipedia: text('URL of the Wikipedia article.', 'https://en.wikipedia.org/wiki/Adidas'),
  wikidata_qid: text('Wikidata identifier, Q and digits, for joining with other data sets.', 'Q3895'),
  social_media: records(
    'Profiles on social networks.',
    optional('SocialProfile', 'A profile on a social network.', {
      name: text('Name of the network.', 'X'),
      url: text('URL of the profile.', 'https://x.com/adidas'),
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

const logo = optional('Logo', 'The logo, or a monogram if no logo is known.', {
  big: logoImage,
  small: logoImage,
});
const banner = maybe(
  group('Banner', 'Banner image.', {
    url: text('URL of the image.', `${EXAMPLE_LOGO_HOST}/banners/dbb7372e7b4895b88203b008d353f212.svg`),
  }),
);

const stock = optional('MarketData', 'Market data of the main listing.', {
  exchange: text('Short code of the exchange.', 'NYSE'),
  exchange_full_name: text('Full name of the exchange.', 'New York Stock Exchange'),
  exchange_logo: text("URL of the exchange's logo.", `${EXAMPLE_LOGO_HOST}/exchanges/nyse.svg`),
  listings: texts(
    'Short names of the venues where the company trades.',
    'NYSE',
    'XETRA',
    'BER',
    'LSE',
    'BMV',
  ),
  index_memberships: texts('Indices that include the share.', 'S&P 500', 'Dow Jones Industrial Average'),
  isin: text('ISIN of the security.', 'US2473617023'),
  cusip: text('CUSIP of the security; mostly for US listings.', '247361702'),
  ipo_date: text('Date of the initial public offering, YYYY-MM-DD.', '1995-11-17'),
  currency: text('Trading currency, ISO 4217.', 'USD'),
  price: number('Last closing price, in the trading currency.', 82.41),
  price_usd: number('Last closing price, in US dollars.', 82.41),
  change: number('Change of the price in one trading day, in the trading currency.', 1.35),
  change_percentage: number('Change of the price in one trading day, in percent.', 1.665),
  market_cap_usd: number('Market capitalization in US dollars.', 54_194_713_902),
  range: text('Lowest and highest price of 52 weeks, as "low-high".', '65.9-103.1'),
  percent_from_52_week_low: number('How far the price is above the 52-week low, in percent.', 25.05),
  is_actively_trading: Type.Boolean({
    description: 'Whether the ticker is traded at present.',
    examples: [true],
  }),
});

const name = text('Display name.', 'Delta Air Lines');
const description = text(
  'What the company does.',
  'Delta Air Lines is an American airline based in Atlanta and a founding member of the SkyTeam alliance. It goes back to Huff Daland Dusters, a crop-dusting firm formed in 1925.',
);
const category = text('Brand category: lower-case words with underscores.', 'airline');

export const stockRecord = record('StockRecord', 'The grouped record of a listed company.', {
  type: Type.Literal('stock', { description: 'A listed company.', examples: ['stock'] }),
  name,
  symbol: maybe(text('Ticker of the main listing.', 'DAL')),
  description,
  category,
  ...groups,
  images: group('StockImages', 'Images.', {
    logo: maybe(logo),
    banner,
    stock_logo: maybe(
      optional('TickerLogo', 'Logo of the ticker.', { big: tickerLogoImage, small: tickerLogoImage }),
    ),
  }),
  stock: maybe(stock),
});

export const brandRecord = record('BrandRecord', 'The grouped record of a private company or a merchant.', {
  type: Type.Literal('brand', { description: 'A private company or a merchant.', examples: ['brand'] }),
  name,
  description,
  category,
  ...groups,
  images: group('BrandImages', 'Images.', { logo, banner }),
});

export const superinvestorRecord = record(
  'SuperinvestorRecord',
  'The grouped record of a portfolio manager.',
  {
    type: Type.Literal('superinvestor', { description: 'A portfolio manager.', examples: ['superinvestor'] }),
    name: text('Display name.', 'Warren Buffett'),
    description: text(
      'What the portfolio manager does.',
      'Warren Buffett is an American investor who built Berkshire Hathaway from a textile mill into a conglomerate with a large portfolio of shares. He handed over as its chief executive to Greg Abel at the end of 2025.',
    ),
    category: text('Brand category: lower-case words with underscores.', 'superinvestor'),
    portfolio_manager: maybe(text("The manager's name.", 'Warren Buffett')),
    firm: maybe(text('Investment firm.', 'Berkshire Hathaway')),
    portfolio_manager_source: maybe(
      text(
        'URL of the data source.',
        'https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK=0001067983&type=13F',
      ),
    ),
    logo: text(
      'URL of the logo, or of a monogram if no logo is known.',
      `${EXAMPLE_LOGO_HOST}/monograms/WB-006cd3-e83a283285a1ebef.svg`,
    ),
  },
);

/**
 * JSON Schema of the grouped record (packages/presenters/README.md), by `type`. Fields of a record have the order of these
 * properties. No value is ever null, "", [] or {}.
 */
export const groupedRecordSchema = Type.Union([stockRecord, brandRecord, superinvestorRecord], {
  title: 'GroupedRecord',
  description: 'What is known of a company or a portfolio manager. A field without data is left out.',
});

export type StockRecord = Static<typeof stockRecord>;
export type CompanyRecord = Static<typeof brandRecord>;
export type GroupedRecord = Static<typeof groupedRecordSchema>;
