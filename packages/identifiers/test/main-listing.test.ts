import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isinOfMain, orderListings } from '../src/index.ts';

interface Written {
  readonly ticker: string;
  readonly mic: string;
  readonly isin?: string;
  readonly shareClassFigi?: string;
  readonly primary?: boolean;
}

/** Reads listings such as "7203@XTKS JP3633400001". A "+" after the MIC marks a listing as primary. */
function listing(text: string): Written {
  const [ticker = '', mic = '', isin] = text.split(/[@ ]/);
  return {
    ticker,
    mic: mic.replace('+', ''),
    ...(isin && { isin }),
    ...(mic.endsWith('+') && { primary: true }),
  };
}

function written({ ticker, mic, primary }: Written): string {
  return `${ticker}@${mic}${primary ? '+' : ''}`;
}

function ordered(listings: string[], country?: string): string[] {
  return orderListings(listings.map(listing), { country }).map(written);
}

describe('the main listing is', () => {
  test.each([
    [
      "at the primary venue of its ISIN's country",
      'US',
      ['APC@XBER US0378331005', 'APC@XETR US0378331005', 'AAPL@XNAS US0378331005'],
      'AAPL@XNAS',
    ],
    [
      "there without an ISIN of its own, when the company's others say the country",
      undefined,
      ['AAPL@XMEX', 'APC@XETR US0378331005', 'AAPL@XNAS'],
      'AAPL@XNAS',
    ],
    [
      'a share before a preferred share, though its ticker is larger',
      'US',
      ['ACMEM@XNAS', 'ACMES@XNAS'],
      'ACMES@XNAS',
    ],
    [
      'the listing with an ISIN, before one at the same venue without',
      'FR',
      ['CBE@XPAR', 'RBT@XPAR FR0000039091'],
      'RBT@XPAR',
    ],
    ["in the company's country, where no ISIN is known", 'JP', ['TYT@XLON', '7203@XTKS'], '7203@XTKS'],
    [
      "in the company's country, though a depositary receipt is at home too",
      'JP',
      ['TM@XNYS US8923313071', '7203@XTKS JP3633400001'],
      '7203@XTKS',
    ],
    [
      "in the company's country, though only the depositary receipt's ISIN is known",
      'JP',
      ['TM@XNYS US8923313071', '7203@XTKS'],
      '7203@XTKS',
    ],
    [
      'that of the security with more listings, where the company’s country is not known',
      undefined,
      ['TM@XNYS US8923313071', '7203@XTKS JP3633400001', 'TOM@XBER JP3633400001'],
      '7203@XTKS',
    ],
    [
      "in the company's country, where the ISIN is a tax haven's",
      'HK',
      ['CKHUY@OTCM US12562Y1001', '2CK@XBER KYG217651051', '0001@XHKG KYG217651051'],
      '0001@XHKG',
    ],
    [
      'at the venue with the most turnover, where it has none at home',
      'SE',
      ['639@XETR LU1778762911', 'SPOT@XNYS LU1778762911', '639@XBER LU1778762911'],
      'SPOT@XNYS',
    ],
    [
      "not one of London's codes for shares from abroad",
      'GB',
      ['0XHL@XLON IE00BLP1HW54', 'AON@XNYS IE00BLP1HW54'],
      'AON@XNYS',
    ],
    [
      'on the primary venue before others of the country',
      'DE',
      ['SAP@XFRA DE0007164600', 'SAP@XBER DE0007164600', 'SAP@XETR DE0007164600'],
      'SAP@XETR',
    ],
    [
      'over the counter, where it is nowhere else in its country',
      'US',
      ['FNM@XBER', 'FNMA@OTCM'],
      'FNMA@OTCM',
    ],
    [
      "in the company's country, though it has the ISIN of the American receipt there",
      'KR',
      ['PKX@XNYS US6934831099', '005490@XKRX US6934831099'],
      '005490@XKRX',
    ],
    [
      "in the company's country, though only a regional exchange has the share's own ISIN",
      'DE',
      ['EVK@XBER DE000EVNK013', 'EVK@XETR US3005031097'],
      'EVK@XETR',
    ],
    [
      'in New York, if Germany lists only the receipt, under a code for securities from abroad',
      'DE',
      ['22UA@XETR US09075V1026', '22UA@XBER US09075V1026', 'BNTX@XNAS US09075V1026'],
      'BNTX@XNAS',
    ],
    [
      "in New York, for a Canadian company's share that is American",
      'CA',
      ['MUX@XTSE US58039P3055', 'MUX@XNYS US58039P3055'],
      'MUX@XNYS',
    ],
    ['the ordinary share before a preference share', 'CA', ['ALA-PA@XTSE', 'ALA@XTSE'], 'ALA@XTSE'],
    ['what is not marked as a further security', 'US', ['GOOG@XNAS+', 'GOOGL@XNAS'], 'GOOGL@XNAS'],
    ['a known venue before one that is not', undefined, ['ABC@ZZZZ', 'XYZ@XNZE'], 'XYZ@XNZE'],
  ])('%s', (_, country, listings, main) => {
    expect(ordered(listings, country)[0]).toBe(main);
    expect(ordered(listings.toReversed(), country)[0]).toBe(main);
  });
});

test('a security takes the ISIN that another listing of its share class has', () => {
  const shares = (text: string) => ({ ...listing(text), shareClassFigi: 'BBG001S5N8V8' });
  const [main] = orderListings(
    [shares('APC@XETR US0378331005'), listing('AAPL@XLON'), shares('AAPL@XNAS')],
    {},
  );
  expect(main).toMatchObject({ ticker: 'AAPL', mic: 'XNAS' });
});

test("a further security's listing at home is marked primary, and no other", () => {
  expect(
    ordered(
      [
        'TM@XNYS US8923313071',
        'TOMA@XBER US8923313071',
        '7203@XTKS JP3633400001',
        'TOM@XETR JP3633400001',
        '7203@XNGO JP3633400001',
      ],
      'JP',
    ),
  ).toEqual(['7203@XTKS', '7203@XNGO', 'TM@XNYS+', 'TOM@XETR', 'TOMA@XBER']);
});

test('a depositary receipt over the counter is not marked primary', () => {
  expect(ordered(['CKHUY@OTCM US12562Y1001', '0001@XHKG KYG217651051'], 'HK')).toEqual([
    '0001@XHKG',
    'CKHUY@OTCM',
  ]);
});

test.each([
  ['US20449X4016', ['CPG@XLON US20449X4016', 'XGR2@XBER GB00BD6K4575'], 'GB', 'GB00BD6K4575'],
  ['US75629J1016', ['6098@XTKS US75629J1016', '1RH@XBER'], 'JP', ''],
  ['US75629J1016', ['6098@XTKS JP3970300004'], 'JP', 'JP3970300004'],
  ['US58039P3055', ['MUX@XTSE US58039P3055'], 'CA', 'US58039P3055'],
  ['US37045V1008', ['GM@XNYS US37045V1008'], 'US', 'US37045V1008'],
  ['US09075V1026', ['BNTX@XNAS US09075V1026', '22UA@XETR US09075V1026'], 'DE', 'US09075V1026'],
  ['NL0012044747', ['RACE@XMIL NL0012044747'], 'IT', 'NL0012044747'],
  ['US42281P2056', ['HEIU@XBER US42281P2056'], 'DE', 'US42281P2056'],
])(
  "the ISIN %s of %j is the share's only if it is not that of a receipt: %s",
  (isin, listings, country, own) => {
    expect(isinOfMain(isin, listings.map(listing), { country })).toBe(own);
  },
);

const anyListings = fc.uniqueArray(
  fc.record({
    ticker: fc.constantFrom('A', 'AB', '0ABC', '7203', 'X-B'),
    mic: fc.constantFrom('XNAS', 'XNYS', 'OTCM', 'XETR', 'XBER', 'XLON', 'XTKS', 'XMEX', 'xtks', 'ZZZZ', ''),
    isin: fc.constantFrom('', 'US0378331005', 'US8923313071', 'JP3633400001', 'KYG217651051', 'DE0007164600'),
    shareClassFigi: fc.constantFrom('', 'BBG001S5N8V8', 'BBG001S5XQX1'),
    primary: fc.boolean(),
  }),
  { selector: ({ ticker, mic }) => `${ticker}@${mic}`, maxLength: 8 },
);
const anyCountry = fc.constantFrom(undefined, '', 'US', 'jp', 'DE', 'KY');

test('the order in which sources name listings does not matter', () => {
  fc.assert(
    fc.property(
      anyListings.chain((listings) =>
        fc.tuple(fc.constant(listings), fc.shuffledSubarray(listings, { minLength: listings.length })),
      ),
      anyCountry,
      ([listings, shuffled], country) => {
        expect(orderListings(shuffled, { country })).toEqual(orderListings(listings, { country }));
      },
    ),
  );
});

test('ordering twice is ordering once, and nothing but the mark of a primary listing changes', () => {
  fc.assert(
    fc.property(anyListings, anyCountry, (listings, country) => {
      const once = orderListings(listings, { country });
      expect(orderListings(once, { country })).toEqual(once);
      const plain = once.map((each) => ({
        ...each,
        primary: listings.some((one) => one.ticker === each.ticker && one.mic === each.mic && one.primary),
      }));
      expect(new Set(plain.map((each) => JSON.stringify(Object.entries(each).sort())))).toEqual(
        new Set(listings.map((each) => JSON.stringify(Object.entries(each).sort()))),
      );
    }),
  );
});
