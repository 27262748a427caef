import { EXAMPLE_LOGO_HOST, type FlatRecord, type GroupedRecord } from '@brand-data/presenters';

/** An answer of the service with the sample catalogue, as an Example Object. */
interface RecordExample<T> {
  summary: string;
  value: T;
}

/**
 * Answers of /v1/brands/{identifier}, by the identifier. test/e2e/docs.test.ts compares them with what the service answers.
 */
export const GROUPED_EXAMPLES: Record<string, RecordExample<GroupedRecord>> = {
  'figma.com': {
    summary: 'A listed company, by its domain',
    value: {
      type: 'stock',
      name: 'Figma',
      symbol: 'FIG',
      description:
        'Figma makes a browser-based tool for designing and prototyping user interfaces together in real time. It was founded in 2012 and listed its Class A shares on the New York Stock Exchange in July 2025.',
      category: 'software',
      company: {
        industry: 'Application software',
        sector: 'Information Technology',
        industries: ['Application software', 'Design software'],
        company_type: ['Public'],
        founded: '2012',
        founders: ['Dylan Field', 'Evan Wallace'],
        ceo: 'Dylan Field',
        key_people: [
          {
            name: 'Dylan Field',
            role: 'Co-founder, chair and chief executive officer',
          },
          {
            name: 'Evan Wallace',
            role: 'Co-founder',
          },
        ],
        employees: '1,646 (March 2025)',
        headquarters: {
          city: 'San Francisco',
          state: 'California',
          country: 'United States',
          countryCode: 'US',
          latitude: 37.7749,
          longitude: -122.4194,
        },
        area_served: ['Worldwide'],
      },
      offerings: {
        products: [
          'Figma Design',
          'FigJam',
          'Figma Slides',
          'Dev Mode',
          'Figma Make',
          'Figma Sites',
          'Figma Buzz',
          'Figma Draw',
        ],
      },
      links: {
        websites: ['https://www.figma.com/'],
        wikipedia: 'https://en.wikipedia.org/wiki/Figma',
        social_media: [
          {
            name: 'X',
            url: 'https://x.com/figma',
          },
          {
            name: 'Instagram',
            url: 'https://www.instagram.com/figma/',
          },
          {
            name: 'LinkedIn',
            url: 'https://www.linkedin.com/company/figma',
          },
          {
            name: 'GitHub',
            url: 'https://github.com/figma',
          },
        ],
      },
      images: {
        logo: {
          big: {
            url: `${EXAMPLE_LOGO_HOST}/logos/ede9a6697d52c2b2e7e907ea30cdef09.svg`,
            width: 512,
            height: 512,
            format: 'svg',
            sizeKb: 1.08,
          },
          small: {
            url: `${EXAMPLE_LOGO_HOST}/logos/ede9a6697d52c2b2e7e907ea30cdef09.svg?size=64`,
            width: 64,
            height: 64,
            format: 'svg',
            sizeKb: 1.08,
          },
        },
        banner: {
          url: `${EXAMPLE_LOGO_HOST}/banners/dbb7372e7b4895b88203b008d353f212.svg`,
        },
        stock_logo: {
          big: {
            url: `${EXAMPLE_LOGO_HOST}/logos/ede9a6697d52c2b2e7e907ea30cdef09.svg`,
            width: 512,
            height: 512,
            format: 'svg',
          },
          small: {
            url: `${EXAMPLE_LOGO_HOST}/logos/ede9a6697d52c2b2e7e907ea30cdef09.svg?size=64`,
            width: 64,
            height: 64,
            format: 'svg',
          },
        },
      },
      stock: {
        exchange: 'NYSE',
        exchange_full_name: 'New York Stock Exchange',
        listings: ['NYSE'],
        isin: 'US3168411052',
        cusip: '316841105',
        ipo_date: '2025-07-31',
        currency: 'USD',
        is_actively_trading: true,
      },
    },
  },
  LEGO: {
    summary: 'A private company, by its name',
    value: {
      type: 'brand',
      name: 'LEGO',
      description:
        'The LEGO Group makes interlocking plastic building bricks and play sets. Ole Kirk Kristiansen founded the company in Billund, Denmark, in 1932, and his family still controls it.',
      category: 'toys',
      company: {
        industry: 'Toys',
        sector: 'Consumer Discretionary',
        industries: ['Toys', 'Entertainment'],
        company_type: ['Private'],
        founded: '1932',
        founders: ['Ole Kirk Kristiansen'],
        ceo: 'Niels B. Christiansen',
        key_people: [
          {
            name: 'Niels B. Christiansen',
            role: 'Chief executive officer',
          },
          {
            name: 'Thomas Kirk Kristiansen',
            role: 'Chairman',
          },
        ],
        headquarters: {
          city: 'Billund',
          state: 'Region of Southern Denmark',
          country: 'Denmark',
          countryCode: 'DK',
          latitude: 55.7309,
          longitude: 9.1153,
          cityNative: 'Billund',
          stateNative: 'Region Syddanmark',
          countryNative: 'Danmark',
        },
        area_served: ['Worldwide'],
      },
      ownership: {
        owner: ['KIRKBI (75%)', 'LEGO Foundation (25%)'],
        parent_company: ['KIRKBI'],
        subsidiaries: ['BrickLink'],
      },
      offerings: {
        products: ['LEGO bricks', 'LEGO DUPLO', 'LEGO Technic', 'LEGO City', 'LEGO Star Wars', 'LEGO Icons'],
        brands: ['DUPLO', 'Technic', 'NINJAGO', 'BIONICLE', 'MINDSTORMS'],
      },
      links: {
        websites: ['https://www.lego.com/'],
        wikipedia: 'https://en.wikipedia.org/wiki/The_Lego_Group',
        wikidata_qid: 'Q1063455',
        social_media: [
          {
            name: 'X',
            url: 'https://x.com/LEGO_Group',
          },
          {
            name: 'Instagram',
            url: 'https://www.instagram.com/lego/',
          },
          {
            name: 'LinkedIn',
            url: 'https://www.linkedin.com/company/lego-group',
          },
          {
            name: 'YouTube',
            url: 'https://www.youtube.com/@LEGO',
          },
        ],
      },
      images: {
        logo: {
          big: {
            url: `${EXAMPLE_LOGO_HOST}/monograms/L-b94f1f-200f3549c7478680.svg`,
            width: 512,
            height: 512,
            format: 'svg',
            sizeKb: 0.26,
          },
          small: {
            url: `${EXAMPLE_LOGO_HOST}/monograms/L-b94f1f-200f3549c7478680.svg?size=64`,
            width: 64,
            height: 64,
            format: 'svg',
            sizeKb: 0.25,
          },
        },
      },
    },
  },
  'Warren Buffett': {
    summary: 'A superinvestor',
    value: {
      type: 'superinvestor',
      name: 'Warren Buffett',
      description:
        'Warren Buffett is an American investor who built Berkshire Hathaway from a textile mill into a conglomerate with a large portfolio of shares. He handed over as its chief executive to Greg Abel at the end of 2025.',
      category: 'superinvestor',
      portfolio_manager: 'Warren Buffett',
      firm: 'Berkshire Hathaway',
      portfolio_manager_source:
        'https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK=0001067983&type=13F',
      logo: `${EXAMPLE_LOGO_HOST}/monograms/WB-006cd3-e83a283285a1ebef.svg`,
    },
  },
};

/** Answers of /api/logos/{identifier}/info, by the identifier. */
export const FLAT_EXAMPLES: Record<string, RecordExample<FlatRecord>> = {
  AAPL: {
    summary: 'A listed company, by its ticker',
    value: {
      name: 'Apple',
      type: 'stock',
      logo: `${EXAMPLE_LOGO_HOST}/logos/a161dc3551b9e9e523b8b64727072e57.svg`,
      description:
        'Apple designs and sells smartphones, personal computers, tablets, watches and audio devices together with their operating systems. It also runs an app store and subscription services for music, video, storage and payments.',
      website: 'https://www.apple.com/',
      headquarters: {
        city: 'Cupertino',
        state: 'California',
        country: 'United States',
      },
      employees: '164,000 (2024)',
      industry: 'Technology Hardware, Storage & Peripherals',
      sector: 'Information Technology',
      ceo: 'John Ternus',
      exchange: 'NASDAQ',
      isin: 'US0378331005',
      currency: 'USD',
      market_cap: 4514709583000,
      price: 309.35,
      is_actively_trading: true,
      symbol: 'AAPL',
      founded: '1976-04-01',
      founders: null,
      key_people: null,
      social_media: null,
      wikipedia: null,
    },
  },
  LEGO: {
    summary: 'A private company, by its name',
    value: {
      name: 'LEGO',
      type: 'merchant',
      logo: `${EXAMPLE_LOGO_HOST}/monograms/L-b94f1f-200f3549c7478680.svg`,
      description:
        'The LEGO Group makes interlocking plastic building bricks and play sets. Ole Kirk Kristiansen founded the company in Billund, Denmark, in 1932, and his family still controls it.',
      website: 'https://www.lego.com/',
      headquarters: {
        city: 'Billund',
        state: 'Region of Southern Denmark',
        country: 'Denmark',
      },
      employees: null,
      industry: null,
      sector: null,
      ceo: null,
      exchange: null,
      isin: null,
      currency: null,
      market_cap: null,
      price: null,
      is_actively_trading: null,
      symbol: null,
      founded: '1932',
      founders: ['Ole Kirk Kristiansen'],
      key_people: [
        {
          name: 'Niels B. Christiansen',
          role: 'Chief executive officer',
        },
        {
          name: 'Thomas Kirk Kristiansen',
          role: 'Chairman',
        },
      ],
      social_media: [
        {
          name: 'X',
          url: 'https://x.com/LEGO_Group',
        },
        {
          name: 'Instagram',
          url: 'https://www.instagram.com/lego/',
        },
        {
          name: 'LinkedIn',
          url: 'https://www.linkedin.com/company/lego-group',
        },
        {
          name: 'YouTube',
          url: 'https://www.youtube.com/@LEGO',
        },
      ],
      wikipedia: 'https://en.wikipedia.org/wiki/The_Lego_Group',
    },
  },
};
