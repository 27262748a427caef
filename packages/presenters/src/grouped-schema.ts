import { type Static, type TProperties, type TSchema, Type } from 'typebox';

/** The base URL of images in examples. The OpenAPI document has that of the installation in its place. */
export const EXAMPLE_LOGO_HOST = 'https://api.example.com/images';

const LOGO = `${EXAMPLE_LOGO_HOST}/logos/ede9a6697d52c2b2e7e907ea30cdef09.svg`;

const text = (description: string, example: string) =>
  Type.String({ description, minLength: 1, examples: [example] });
const number = (description: string, example: number) => Type.Number({ description, examples: [example] });
const texts = (description: string, example: string[]) =>
  Type.Array(Type.String({ minLength: 1 }), { description, minItems: 1, examples: [example] });

/** A field that is left out if it has no data. */
const maybe = Type.Optional;

/**
 * Returns an object with only the listed fields. It is never empty: without data it is left out.
 *
 * @param title the object's name in the OpenAPI document
 */
const record = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Object(properties, { title, description, additionalProperties: false, minProperties: 1 });

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

const tickerLogoImage = record('TickerLogoImage', 'The image in one size.', imageProperties);

const logoImage = record('LogoImage', 'The image in one size.', {
  ...imageProperties,
  sizeKb: maybe(number('Size of the file in kilobytes of 1024 bytes.', 1.08)),
});

const company = record('Company', 'Facts about the organization.', {
  industry: maybe(text('Primary industry.', 'Airlines')),
  sector: maybe(text('Primary sector.', 'Industrials')),
  industries: maybe(texts('All industry classifications.', ['Passenger airlines', 'Air cargo'])),
  company_type: maybe(texts('Such as "Public", "Private", "Subsidiary".', ['Public'])),
  founded: maybe(
    text('Founding or IPO date: an ISO date from a stock profile, else free text.', '1925-03-02'),
  ),
  founders: maybe(texts('Founders.', ['Collett E. Woolman'])),
  ceo: maybe(text('Name of the chief executive.', 'Ed Bastian')),
  key_people: maybe(
    records(
      'People who lead the company.',
      record('KeyPerson', 'A person who leads the company.', {
        name: maybe(text('Name of the person.', 'Ed Bastian')),
        role: maybe(text('Role in the company.', 'Chief Executive Officer')),
      }),
    ),
  ),
  employees: maybe(text('Number of employees, sometimes with the year.', '61,500 (2024)')),
  number_of_locations: maybe(text('Number of locations, sometimes with the year.', 'over 19,000 (2024)')),
  headquarters: maybe(
    record('Headquarters', 'Location of the headquarters.', {
      city: maybe(text('City, in English.', 'Dubai')),
      state: maybe(text('State or region, in English.', 'Dubai')),
      country: maybe(text('Country, in English.', 'United Arab Emirates')),
      countryCode: maybe(text('ISO 3166-1 alpha-2 code of the country.', 'AE')),
      latitude: maybe(number('Degrees north, WGS 84.', 25.2532)),
      longitude: maybe(number('Degrees east, WGS 84.', 55.3657)),
      cityNative: maybe(text('City, in the language of the country.', 'دبي')),
      stateNative: maybe(text('State or region, in the language of the country.', 'دبي')),
      countryNative: maybe(text('Country, in its own language.', 'الإمارات العربية المتحدة')),
    }),
  ),
  area_served: maybe(texts('Regions that the company serves.', ['Worldwide'])),
});

const ownership = record('Ownership', 'Owners, and what the company owns.', {
  owner: maybe(
    texts('Major shareholders of a public company, or the owner of a private company.', [
      'The Vanguard Group',
      'BlackRock',
      'State Street',
    ]),
  ),
  parent_company: maybe(
    texts('Parent companies in the corporate structure.', ['Restaurant Brands International']),
  ),
  subsidiaries: maybe(
    texts('Subsidiaries in the corporate structure.', ['Endeavor Air', 'Monroe Energy', 'Delta Vacations']),
  ),
  divisions: maybe(
    texts('Divisions of the company.', ['Safety & Industrial', 'Transportation & Electronics', 'Consumer']),
  ),
});

const offerings = record('Offerings', 'Products, services and brands.', {
  products: maybe(
    texts('Notable products.', [
      'Whopper',
      'Hamburgers',
      'Chicken Fries',
      'Onion rings',
      'Impossible Whopper',
    ]),
  ),
  services: maybe(
    texts('Notable services.', ['Passenger flights', 'SkyMiles', 'Delta Cargo', 'Delta TechOps']),
  ),
  brands: maybe(texts('Sub-brands.', ['Delta Connection', 'Delta One', 'Delta Sky Club', 'Delta Shuttle'])),
});

const history = record('History', 'Past of a company that changed its name or no longer operates.', {
  formerly: maybe(texts('Former names.', ['Delta Air Service', 'Delta Air Corporation'])),
  predecessor: maybe(texts('Organizations from which the company arose.', ['Air Berlin USA'])),
  successor: maybe(texts('Organizations that continue the company.', ['UBS'])),
  defunct: maybe(oneOrMany('When the company ceased to exist.', '2017')),
  fate: maybe(
    oneOrMany(
      'How the company ended, such as by acquisition or dissolution.',
      'Filed for insolvency on 15 August 2017; Lufthansa and easyJet took over parts of the business',
    ),
  ),
  ceased_operations: maybe(oneOrMany('When the company stopped operating.', '2017-10-27 (last flight)')),
});

const transport = record('Transport', 'Network and fleet of a transport company.', {
  hubs: maybe(texts('Hub airports.', ['Dubai (DXB)'])),
  focus_cities: maybe(texts('Focus cities.', ['Austin (AUS)', 'Raleigh/Durham (RDU)'])),
  fleet_size: maybe(text('Number of aircraft or vehicles.', '260 (2025)')),
});

const links = record('Links', 'Links to other sites.', {
  websites: maybe(
    texts('Website URLs, the primary one first.', [
      'https://www.adidas.com/',
      'https://www.adidas-group.com/',
    ]),
  ),
  wikipedia: maybe(text('URL of the Wikipedia article.', 'https://en.wikipedia.org/wiki/Adidas')),
  wikidata_qid: maybe(text('Wikidata identifier, Q and digits, for joining with other data sets.', 'Q3895')),
  social_media: maybe(
    records(
      'Profiles on social networks.',
      record('SocialProfile', 'A profile on a social network.', {
        name: maybe(text('Name of the network.', 'X')),
        url: maybe(text('URL of the profile.', 'https://x.com/adidas')),
      }),
    ),
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

const logo = record('Logo', 'The logo, or a monogram if no logo is known.', {
  big: maybe(logoImage),
  small: maybe(logoImage),
});
const banner = maybe(
  record('Banner', 'Banner image.', {
    url: text('URL of the image.', `${EXAMPLE_LOGO_HOST}/banners/dbb7372e7b4895b88203b008d353f212.svg`),
  }),
);

const stock = record('MarketData', 'Market data of the main listing.', {
  exchange: maybe(text('Short code of the exchange.', 'NYSE')),
  exchange_full_name: maybe(text('Full name of the exchange.', 'New York Stock Exchange')),
  exchange_logo: maybe(text("URL of the exchange's logo.", `${EXAMPLE_LOGO_HOST}/exchanges/nyse.svg`)),
  listings: maybe(
    texts('Short names of the venues where the company trades.', ['NYSE', 'XETRA', 'BER', 'LSE', 'BMV']),
  ),
  index_memberships: maybe(
    texts('Indices that include the share.', ['S&P 500', 'Dow Jones Industrial Average']),
  ),
  isin: maybe(text('ISIN of the security.', 'US2473617023')),
  cusip: maybe(text('CUSIP of the security; mostly for US listings.', '247361702')),
  ipo_date: maybe(text('Date of the initial public offering, YYYY-MM-DD.', '1995-11-17')),
  currency: maybe(text('Trading currency, ISO 4217.', 'USD')),
  price: maybe(number('Last closing price, in the trading currency.', 82.41)),
  price_usd: maybe(number('Last closing price, in US dollars.', 82.41)),
  change: maybe(number('Change of the price in one trading day, in the trading currency.', 1.35)),
  change_percentage: maybe(number('Change of the price in one trading day, in percent.', 1.665)),
  market_cap_usd: maybe(number('Market capitalization in US dollars.', 54_194_713_902)),
  range: maybe(text('Lowest and highest price of 52 weeks, as "low-high".', '65.9-103.1')),
  percent_from_52_week_low: maybe(number('How far the price is above the 52-week low, in percent.', 25.05)),
  is_actively_trading: maybe(
    Type.Boolean({ description: 'Whether the ticker is traded at present.', examples: [true] }),
  ),
});

const name = text('Display name.', 'Delta Air Lines');
const description = text(
  'What the company does.',
  'Delta Air Lines is an American airline based in Atlanta and a founding member of the SkyTeam alliance. It goes back to Huff Daland Dusters, a crop-dusting firm formed in 1925.',
);
const category = text('Brand category: lower-case words with underscores.', 'airline');

const stockRecord = Type.Object(
  {
    type: Type.Literal('stock', { description: 'A listed company.', examples: ['stock'] }),
    name,
    symbol: maybe(text('Ticker of the main listing.', 'DAL')),
    description,
    category,
    ...groups,
    images: record('StockImages', 'Images.', {
      logo: maybe(logo),
      banner,
      stock_logo: maybe(
        record('TickerLogo', 'Logo of the ticker.', {
          big: maybe(tickerLogoImage),
          small: maybe(tickerLogoImage),
        }),
      ),
    }),
    stock: maybe(stock),
  },
  {
    title: 'StockRecord',
    description: 'The grouped record of a listed company.',
    additionalProperties: false,
  },
);

const brandRecord = Type.Object(
  {
    type: Type.Literal('brand', { description: 'A private company or a merchant.', examples: ['brand'] }),
    name,
    description,
    category,
    ...groups,
    images: record('BrandImages', 'Images.', { logo, banner }),
  },
  {
    title: 'BrandRecord',
    description: 'The grouped record of a private company or a merchant.',
    additionalProperties: false,
  },
);

const superinvestorRecord = Type.Object(
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
  {
    title: 'SuperinvestorRecord',
    description: 'The grouped record of a portfolio manager.',
    additionalProperties: false,
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
export type SuperinvestorRecord = Static<typeof superinvestorRecord>;
export type GroupedRecord = Static<typeof groupedRecordSchema>;
