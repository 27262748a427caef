import { Brand, BrandType, Manager } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  companyName,
  compareNames,
  identityOf,
  linkBetween,
  secondaryKeys,
  whyNotLinked,
} from '../src/index.ts';

type Facts = Parameters<typeof Brand.fromPartial>[0];

const company = (facts: Facts): Brand => Brand.fromPartial({ type: BrandType.STOCK, ...facts });
const manager = (facts: Facts): Brand => Brand.fromPartial({ type: BrandType.SUPERINVESTOR, ...facts });
const linkOf = (a: Brand, b: Brand) => linkBetween(identityOf(a), identityOf(b));
const areLinked = (a: Brand, b: Brand) => linkOf(a, b).strength > 0;
const mayBeLinked = (a: Brand, b: Brand) => linkOf(a, b).strengthIfUnique > 0;
const whyNot = (a: Brand, b: Brand) => whyNotLinked(identityOf(a), identityOf(b));
const keysOf = (brand: Brand) => identityOf(brand).keys;

const ISINS = ['GB0000000001', 'US1234567890', 'US9999999992', 'DE0000000003'];
const NAMES = [
  'Kestrel Mining plc',
  'Kestrel Mng',
  'Kestrel Mining Group',
  'Otter Foods Inc.',
  'Otter Food Systems',
  'Toyota Motor',
];
const maybe = (...values: string[]) => fc.constantFrom('', ...values);

/** There are only a few values, so that records often share identifiers and often conflict. */
const anyRecord = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    type: fc.constantFrom(BrandType.STOCK, BrandType.BRAND, BrandType.SUPERINVESTOR),
    name: fc.constantFrom(...NAMES),
    names: fc.array(fc.constantFrom(...NAMES), { maxLength: 2 }),
    lei: maybe('LEI1', 'LEI2'),
    listings: fc.array(
      fc.record({
        ticker: fc.constantFrom('KES', 'OTR', '7203'),
        mic: fc.constantFrom('XLON', 'XBER', 'XMEX', 'XNYS'),
        isin: maybe(...ISINS),
        cusip: maybe('123456789', '999999999'),
        compositeFigi: maybe('BBG000000001', 'BBG000000002'),
        shareClassFigi: maybe('BBG001000001', 'BBG001000002'),
      }),
      { maxLength: 3 },
    ),
    links: fc.record({
      websites: fc.array(fc.constantFrom('https://www.kestrel.example.com', 'https://otter.co.uk/about')),
      wikidataQid: maybe('Q1', 'Q2'),
    }),
    company: fc.record({
      headquarters: fc.record({ countryCode: maybe('GB', 'US'), city: maybe('London', 'New York') }),
    }),
    manager: fc.record({ firm: maybe('Kestrel Capital', 'Otter Partners') }),
  })
  .map((facts) => Brand.fromPartial(facts));

test('a link is symmetric', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      expect(linkOf(a, b)).toEqual(linkOf(b, a));
      expect(whyNot(a, b)).not.toBe('');
    }),
  );
});

test('records that link share an identity key', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      fc.pre(areLinked(a, b));
      const keys = new Set(keysOf(a));
      expect(keysOf(b).some((key) => keys.has(key))).toBe(true);
    }),
  );
});

test('if a key has secondary keys, records that it links share one of them', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      fc.pre(areLinked(a, b));
      const [one, other] = [identityOf(a), identityOf(b)];
      const meets = one.keys.some((key) => {
        if (!other.keys.includes(key)) return false;
        const secondary = secondaryKeys(one, key);
        return (
          secondary === undefined || secondaryKeys(other, key)?.some((shared) => secondary.includes(shared))
        );
      });
      expect(meets).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('names alone never link', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      const bare = (record: Brand, id: string) =>
        company({
          id,
          name: record.name,
          names: record.names,
          company: { headquarters: { countryCode: 'US' } },
        });
      expect(areLinked(bare(a, 'a'), bare(b, 'b'))).toBe(false);
    }),
  );
});

test('the order of listings, names and websites does not matter', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      const turned: Brand = {
        ...a,
        listings: a.listings.toReversed(),
        names: a.names.toReversed(),
        ...(a.links && { links: { ...a.links, websites: a.links.websites.toReversed() } }),
      };
      expect(linkOf(turned, b)).toEqual(linkOf(a, b));
    }),
  );
});

test('identity keys are bounded, and a record with many listings keeps the strongest keys', () => {
  const listings = Array.from({ length: 500 }, (_, index) => ({
    ticker: `T${index}`,
    mic: 'XBER',
    shareClassFigi: 'BBG001000001',
  }));
  const keys = keysOf(company({ id: 'many', lei: 'LEI1', listings, domains: ['kestrel.com'] }));
  expect(keys.length).toBeLessThanOrEqual(64);
  expect(keys).toEqual(
    expect.arrayContaining(['id:many', 'lei:LEI1', 'figi:BBG001000001', 'domain:kestrel.com']),
  );
});

const SHARED: Record<string, Facts> = {
  id: { id: 'same' },
  'Wikidata item': { links: { wikidataQid: 'Q1' } },
  LEI: { lei: 'LEI1' },
  ISIN: { stock: { isin: 'GB0000000001' } },
  CUSIP: { stock: { cusip: '123456789' } },
  FIGI: { listings: [{ ticker: 'KES', mic: '', shareClassFigi: 'BBG001000001' }] },
  listing: { listings: [{ ticker: 'KES', mic: 'XLON' }] },
};
/** Two records with different ids that share some facts and differ in others. */
const two = (shared: Facts, a: Facts, b: Facts): [Brand, Brand] => [
  company({ id: 'a', ...a, ...shared }),
  company({ id: 'b', ...b, ...shared }),
];

test.each(Object.entries(SHARED))('the same %s alone links no records with other names', (_, shared) => {
  const [a, b] = two(shared, { name: 'Kestrel Mining plc' }, { name: 'Otter Foods plc' });
  expect(areLinked(a, b)).toBe(false);
  expect(whyNot(a, b)).toBe('the names differ, and no second fact agrees');
});

test.each(Object.entries(SHARED))('the same %s and name link', (_, shared) => {
  const [a, b] = two(shared, { name: 'Kestrel Mining plc' }, { name: 'KESTREL MNG PLC' });
  expect(areLinked(a, b)).toBe(true);
});

const SITE = { links: { websites: ['https://kestrel.com'] } };
const LONDON = { company: { headquarters: { countryCode: 'GB', city: 'London' } } };

test.each(Object.entries(SHARED).filter(([name]) => name !== 'listing' && name !== 'Wikidata item'))(
  'the same %s and one more fact link under other names: a website, or the country and city',
  (_, shared) => {
    const names = [{ name: 'Kestrel Mining plc' }, { name: 'Talon Resources plc' }] as const;
    expect(areLinked(...two({ ...shared, ...SITE }, ...names))).toBe(true);
    expect(areLinked(...two({ ...shared, ...LONDON }, ...names))).toBe(true);
  },
);

test('an American ISIN and the CUSIP in it are one fact, and so are two kinds of FIGI', () => {
  const names = [{ name: 'Kestrel Mining' }, { name: 'Otter Foods' }] as const;
  const isin = { stock: { isin: 'US1234567890', cusip: '123456789' } };
  const figis = {
    listings: [{ ticker: 'KES', mic: 'XBER', compositeFigi: 'BBG000000001', shareClassFigi: 'BBG001000001' }],
    company: { headquarters: { countryCode: 'GB' } },
  };
  expect(areLinked(...two(isin, ...names))).toBe(false);
  expect(areLinked(...two(figis, ...names))).toBe(false);
  const lei = { lei: 'LEI1' };
  expect(areLinked(...two({ ...isin, ...lei }, ...names))).toBe(true);
});

test('the domain and the city of a parent company do not link its subsidiary', () => {
  expect(
    areLinked(...two({ ...SITE, ...LONDON }, { name: 'Kestrel Group plc' }, { name: 'Otter Foods' })),
  ).toBe(false);
});

test('a listing abroad and a domain link only if the names agree, a home listing and a domain always', () => {
  const names = [{ name: 'Kestrel Mining' }, { name: 'Otter Foods' }] as const;
  const at = (mic: string) => ({
    ...SITE,
    listings: [{ ticker: 'KES', mic }],
    company: { headquarters: { countryCode: 'GB', city: '' } },
  });
  expect(areLinked(...two(at('XLON'), ...names))).toBe(true);
  expect(areLinked(...two(at('XBER'), ...names))).toBe(false);
});

const CONTRADICTIONS: [string, Facts, Facts, string][] = [
  ['legal forms', { name: 'Kestrel KGaA' }, { name: 'Kestrel Inc.' }, 'legal forms'],
  [
    'sure countries',
    { name: 'Kestrel', company: { headquarters: { countryCode: 'DE', city: 'Berlin' } } },
    { name: 'Kestrel', company: { headquarters: { countryCode: 'US', city: 'Boston' } } },
    'countries',
  ],
  [
    'websites',
    { name: 'Kestrel', links: { websites: ['https://kestrelgold.com'] } },
    { name: 'Kestrel', links: { websites: ['https://otter.com'] } },
    'websites',
  ],
  ['LEIs', { name: 'Kestrel', lei: 'LEI1' }, { name: 'Kestrel', lei: 'LEI2' }, 'LEIs'],
];

test.each(CONTRADICTIONS)('different %s prevent a link by the name and one identifier', (_, a, b, reason) => {
  const isin = { listings: [{ ticker: 'KES', mic: 'XMEX', isin: 'GB0000000001' }] };
  const other = { listings: [{ ticker: 'KSTL', mic: 'XBER', isin: 'GB0000000001' }] };
  const [one, two] = [company({ id: 'a', ...a, ...isin }), company({ id: 'b', ...b, ...other })];
  expect(areLinked(one, two)).toBe(false);
  expect(whyNot(one, two)).toContain(reason);
});

test.each(CONTRADICTIONS)('an ISIN, a listing and the name outweigh different %s', (_, a, b) => {
  const facts = { listings: [{ ticker: 'KES', mic: 'XMEX', isin: 'GB0000000001' }] };
  const [one, two] = [company({ id: 'a', ...a, ...facts }), company({ id: 'b', ...b, ...facts })];
  expect(areLinked(one, two)).toBe(true);
  const away = { company: { headquarters: { countryCode: 'FR', city: 'Paris' } } };
  const elsewhere = { links: { websites: ['https://kestrel-paris.fr'] } };
  const rome = { company: { headquarters: { countryCode: 'IT', city: 'Rome' } } };
  const [far, further] = [
    company({ id: 'a', ...facts, name: 'Kestrel', ...away, ...elsewhere }),
    company({ id: 'b', ...facts, name: 'Kestrel', ...rome, links: { websites: ['https://otter.it'] } }),
  ];
  expect(areLinked(far, further)).toBe(false);
});

test('a stated rename explains another legal form, country and website', () => {
  const isin = { stock: { isin: 'GB0000000001' } };
  const now = company({
    id: 'a',
    name: 'Talon plc',
    history: { formerly: ['Kestrel AG (1999–2018)'] },
    links: { websites: ['https://talon.com'] },
    ...LONDON,
    ...isin,
  });
  const before = company({
    id: 'b',
    name: 'Kestrel AG',
    links: { websites: ['https://kestrel.de'] },
    company: { headquarters: { countryCode: 'DE', city: 'Munich' } },
    ...isin,
  });
  expect(areLinked(now, before)).toBe(true);
  expect(areLinked({ ...now, history: undefined }, before)).toBe(false);
});

test.each([
  ['one record has both', ['https://kestrel.com', 'https://otter.com'], ['https://otter.com']],
  ['the same brand on another suffix', ['https://kestrel.co.jp'], ['https://www.kestrel.com/en']],
  ['both are named after the company', ['https://kestrel.com'], ['https://kestrelmining.com']],
  ['one begins with the other', ['https://kestrel.com'], ['https://kestrelgroup.com']],
])('two websites are no contradiction if %s', (_, a, b) => {
  const isin = { name: 'Kestrel Mining', stock: { isin: 'GB0000000001' } };
  expect(areLinked(...two(isin, { links: { websites: a } }, { links: { websites: b } }))).toBe(true);
});

test('names and countries that are equal link if each source has one record of the name', () => {
  const of = (id: string, facts: Facts) =>
    company({ id, company: { headquarters: { countryCode: 'US' } }, ...facts });
  const list = of('a', { name: 'Kestrel & Otter Corp', listings: [{ ticker: 'KES', mic: 'XNAS' }] });
  const abroad = [{ ticker: 'KE1', mic: 'XBER' }];
  const same = { name: 'The Kestrel and Otter Corporation', listings: abroad };
  expect(areLinked(list, of('b', same))).toBe(false);
  expect(mayBeLinked(list, of('b', same))).toBe(true);
  const canada = { company: { headquarters: { countryCode: 'CA' } } };
  expect(mayBeLinked(list, of('b', { ...same, ...canada }))).toBe(false);
  expect(mayBeLinked(list, of('b', { ...same, name: 'Kestrel & Otter Group' }))).toBe(false);
  expect(mayBeLinked(list, of('b', { ...same, name: 'Kestrel & Otter plc' }))).toBe(false);
});

test('another ticker at home keeps records of one name apart, unless it has several words, "Holdings" and the legal form included, or is a long word with one form', () => {
  const of = (name: string, ticker: string) =>
    company({ id: ticker, name, listings: [{ ticker, mic: 'XNYS' }] });
  const mayBeRenamed = (one: string, other: string) => mayBeLinked(of(one, 'KES'), of(other, 'OTR'));
  expect(mayBeRenamed('Kestrel & Otter Corp', 'The Kestrel and Otter Corporation')).toBe(true);
  expect(mayBeRenamed('Kestrel Holdings Ltd', 'KESTREL HOLDINGS LIMITED')).toBe(true);
  expect(mayBeRenamed('Kestrel & Otter & Co.', 'KESTREL & OTTER & CO')).toBe(true);
  expect(mayBeRenamed('Kestrelotter, Inc.', 'KESTRELOTTER INC')).toBe(true);
  expect(mayBeRenamed('Otter, Inc.', 'OTTER INC')).toBe(false);
  expect(mayBeRenamed('Kestrel Corp', 'Kestrel Inc.')).toBe(false);
  expect(mayBeRenamed('Kestrel & Otter', 'Kestrel & Otter')).toBe(false);
  expect(mayBeRenamed('Kestrel Foods Holdings Inc.', 'Kestrel Foods Inc.')).toBe(false);
  expect(mayBeRenamed('Kestrel & Otter Ltd', 'Kestrel & Otter plc')).toBe(false);
  expect(mayBeRenamed('Kestrel & Otter Inc /MO/', 'Kestrel & Otter Inc')).toBe(false);
  expect(mayBeRenamed('Kestrel Acquisition Corp.', 'Kestrel Acquisition Corp.')).toBe(false);
});

test('a name and a ticker in the United States are two facts, also over the counter with its mark of a share from abroad', () => {
  const of = (name: string, ticker: string, mic: string, countryCode = '') =>
    company({ id: mic, name, listings: [{ ticker, mic }], company: { headquarters: { countryCode } } });
  const home = of('Kestrel', 'KSTL', 'XNYS');
  for (const ticker of ['KSTL', 'KSTLF', 'KSTLY', 'KSTLQ', 'KSTLW'])
    expect(areLinked(home, of('KESTREL', ticker, 'OTCM'))).toBe(true);
  expect(areLinked(home, of('KESTREL', 'KSTLX', 'OTCM'))).toBe(false);
  expect(areLinked(home, of('Kestrel Foods', 'KSTLF', 'OTCM'))).toBe(false);
  expect(areLinked(home, of('Kestrel', 'KSTL', 'XTSE'))).toBe(false);
});

test('a name with its legal form and a ticker are two facts, in whatever countries', () => {
  const of = (name: string, mic: string, countryCode: string) =>
    company({
      id: mic,
      name,
      listings: [{ ticker: 'KSTL', mic }],
      company: { headquarters: { countryCode } },
    });
  expect(areLinked(of('Kestrel PLC', 'XNYS', 'US'), of('Kestrel plc', 'XLON', 'GB'))).toBe(true);
  expect(areLinked(of('Kestrel Corp', 'XNYS', 'US'), of('Kestrel Group Inc', 'XTSE', 'CA'))).toBe(false);
  expect(areLinked(of('Kestrel', 'XNYS', 'US'), of('Kestrel plc', 'XLON', 'GB'))).toBe(false);
});

test('if a record does not state the country, "Inc." does, else the ticker at home, the sector or the industry is needed', () => {
  const list = (name: string, facts: Facts = {}) =>
    company({
      id: 'a',
      name,
      listings: [{ ticker: 'KES', mic: 'XNAS' }],
      company: { headquarters: { countryCode: 'US' }, sector: 'Health Care' },
      ...facts,
    });
  const of = (name: string, mic: string, facts: Facts = {}) =>
    company({ id: 'b', name, listings: [{ ticker: 'KES', mic }], ...facts });
  expect(mayBeLinked(list('Kestrel Inc.'), of('Kestrel, Inc.', 'XBER'))).toBe(true);
  expect(mayBeLinked(list('Kestrel'), of('Kestrel', 'XBER'))).toBe(false);
  expect(mayBeLinked(list('Kestrel & Otter plc'), of('Kestrel & Otter plc', 'XBER'))).toBe(true);
  expect(mayBeLinked(list('Kestrel'), of('Kestrel', 'XMEX'))).toBe(true);
  const noListing = { listings: [{ ticker: 'OTR', mic: 'XNYS' }] };
  expect(mayBeLinked(list('Kestrel'), of('Kestrel', '', noListing))).toBe(false);
});

test("a registry's mark of a state keeps namesakes apart, but not a company from its listing under another legal form", () => {
  const of = (name: string, ticker: string, mic = 'XNYS') =>
    company({ id: name, name, listings: [{ ticker, mic }] });
  const marked = of('Kestrel & Otter Inc. /DE/', 'KES');
  expect(mayBeLinked(marked, of('Kestrel & Otter N.V.', 'KES'))).toBe(true);
  expect(mayBeLinked(marked, of('Kestrel & Otter Inc.', 'OTR'))).toBe(false);
  expect(mayBeLinked(of('Kestrel & Otter Inc. /DE/', 'KES', 'OTCM'), of('Kestrel & Otter Inc.', 'OTR'))).toBe(
    false,
  );
});

test('an equal name in the same country links with the same city or ticker at home', () => {
  const of = (id: string, facts: Facts) =>
    company({ id, name: 'Kestrel Mining Inc.', company: { headquarters: { countryCode: 'US' } }, ...facts });
  const boston = { company: { headquarters: { countryCode: 'US', city: 'Boston' } } };
  const home = of('a', { listings: [{ ticker: 'KES-B', mic: 'XNYS' }] });
  expect(areLinked(home, of('b', { listings: [{ ticker: 'KESB', mic: 'XMEX' }] }))).toBe(true);
  expect(areLinked(home, of('b', { listings: [{ ticker: 'KESB', mic: 'XBER' }] }))).toBe(false);
  expect(areLinked(of('a', boston), of('b', { ...boston, name: 'KESTREL MINING CORP' }))).toBe(true);
  expect(areLinked(of('a', boston), of('b', { ...boston, name: 'Kestrel Mining Partners' }))).toBe(false);
});

test.each([
  ['Supermicro', 'Super Micro Computer Inc.'],
  ['Honeywell Technologies', 'Honeywell International Inc.'],
])('with the same ticker on the same exchange, "%s" and "%s" are one company', (one, other) => {
  const listed = { listings: [{ ticker: 'KES', mic: 'XNAS' }] };
  expect(areLinked(...two(listed, { name: one }, { name: other }))).toBe(true);
});

test('an abbreviation agrees only with an identifier', () => {
  const [short, long] = ['AMER EL PWR', 'American Electric Power Company'];
  const [one, other] = [companyName(short), companyName(long)];
  expect(one !== undefined && other !== undefined && compareNames(one, other)).toBe('alike');
  expect(areLinked(withIsin('a', short), withIsin('b', long))).toBe(true);
  expect(areLinked(...two({ domains: ['aep.com'] }, { name: short }, { name: long }))).toBe(false);
});

test('a record that agrees in more facts has the stronger link', () => {
  const facts = { name: 'Kestrel Mining', stock: { isin: 'GB0000000001' } };
  const sample = company({ id: 'a', ...facts, ...LONDON, listings: [{ ticker: 'KES', mic: 'XLON' }] });
  const right = company({ id: 'b', ...facts, listings: [{ ticker: 'KES', mic: 'XLON' }] });
  const intruder = company({ id: 'c', ...facts, name: 'Otter Foods', ...LONDON });
  expect(areLinked(sample, intruder)).toBe(true);
  expect(linkOf(sample, right).strength).toBeGreaterThan(linkOf(sample, intruder).strength);
});

test('a superinvestor links only with superinvestors, by its id or by name and firm', () => {
  const a = manager({ id: 'a', name: 'Ada Kestrel', manager: { firm: 'Kestrel Capital' } });
  expect(areLinked(a, company({ id: 'a', name: 'Ada Kestrel' }))).toBe(false);
  expect(areLinked(a, manager({ id: 'a', name: 'A. K.' }))).toBe(true);
  const namesake = (firm: string) => manager({ id: 'b', name: 'Ada Kestrel', manager: { firm } });
  expect(areLinked(a, namesake('KESTREL CAPITAL, LLC'))).toBe(true);
  expect(areLinked(a, namesake('Otter Partners'))).toBe(false);
  expect(areLinked(a, namesake(''))).toBe(false);
  expect(whyNot(a, namesake(''))).toBe('only the names agree');
});

test('superinvestors whose firms differ are never linked, not even by id and name', () => {
  const one = manager({ id: 'jp', name: 'John Paulson', manager: { firm: 'Paulson & Co.' } });
  const other = manager({ id: 'jp', name: 'Jane Park', manager: { firm: 'Park Capital' } });
  for (const name of [other.name, one.name]) {
    expect(areLinked(one, { ...other, name })).toBe(false);
    expect(whyNot(one, { ...other, name })).toBe('the firms differ: paulson and park capital');
  }
  expect(areLinked(one, { ...other, manager: one.manager })).toBe(true);
  expect(areLinked(one, { ...other, manager: undefined })).toBe(true);
  const spelledOut = { ...one, manager: Manager.fromPartial({ firm: 'Paulson Investment Company' }) };
  expect(areLinked(one, spelledOut)).toBe(true);
  expect(areLinked(one, { ...spelledOut, name: 'J. P.' })).toBe(false);
});

const withIsin = (id: string, name: string) => company({ id, name, stock: { isin: 'GB0000000001' } });

test.each([
  ['Kestrel International Holdings plc', 'KESTREL INTL HLDGS'],
  ['The Walt Disney Company', 'Walt Disney Co (The)'],
  ['Nestlé S.A.', 'NESTLE SA'],
  ['Eli Lilly and Company', 'Lilly (Eli) & Co.'],
  ['A.P. Møller - Mærsk A/S', 'AP Moeller Maersk'.replace('oe', 'o')],
  ['UnitedHealth Group', 'United Health Group'],
])('with the same ISIN, "%s" and "%s" are one company', (one, other) => {
  expect(areLinked(withIsin('a', one), withIsin('b', other))).toBe(true);
});

test.each([
  ['Toyota Motor Corporation', 'Toyota Industries Corporation'],
  ['Nestlé S.A.', 'Nestlé India Limited'],
  ['Kestrel Energy', 'Kestrel Mining'],
  ['Group', 'Holdings'],
])('with the same ISIN alone, "%s" and "%s" are two companies', (one, other) => {
  expect(areLinked(withIsin('a', one), withIsin('b', other))).toBe(false);
});

test('a former name agrees, with or without its years', () => {
  const a = {
    ...withIsin('a', 'Talon Resources'),
    history: { formerly: ['Kestrel Mining plc (1999–2012)'] },
  } as Brand;
  expect(areLinked(a, withIsin('b', 'Kestrel Mining'))).toBe(true);
});

describe('one name, also without "Group", and one ticker on two exchanges', () => {
  const richmond = { headquarters: { city: 'Richmond', countryCode: 'US' } };
  const inNewYork = company({
    id: 'cik-764180',
    name: 'Altria',
    listings: [{ ticker: 'MO', mic: 'XNYS' }],
    company: richmond,
  });
  const inMexico = (facts: Facts = {}, ticker = 'MO') =>
    company({
      id: 'xmex-mo',
      name: 'Altria Group, Inc.',
      listings: [{ ticker, mic: 'XMEX' }],
      company: richmond,
      ...facts,
    });
  const at = (countryCode: string, city = '') => ({ headquarters: { countryCode, city } });

  test.each([
    ['in New York and in Mexico', inMexico()],
    ['in Mexico, with its mark of shares from abroad', inMexico({}, 'MON')],
    ['in another city of the country', inMexico({ company: at('US', 'Durham') })],
    ['if the country follows from "Inc."', inMexico({ company: undefined })],
  ])('are one company: %s', (_, other) => {
    expect(areLinked(inNewYork, other)).toBe(true);
    expect(areLinked(other, inNewYork)).toBe(true);
  });

  test.each([
    ['the ticker is another one', inMexico({}, 'MOX')],
    ['the name is another one', inMexico({ name: 'Altria Foods, Inc.' })],
    ['the country is another one', inMexico({ company: at('AU') })],
    ['the country is not known', inMexico({ name: 'Altria Group', company: undefined })],
    ['the countries are certain and two', inMexico({ company: at('PE', 'Lima') })],
    ['the exchange has tickers of its own', inMexico({ listings: [{ ticker: 'MO', mic: 'XBER' }] })],
    ['the ticker has digits', inMexico({ listings: [{ ticker: '0MO', mic: 'XLON' }] })],
  ])('are not one company if %s', (_, other) => {
    expect(areLinked(inNewYork, other)).toBe(false);
  });

  test.each([
    [
      'the websites are two',
      { links: { websites: ['https://altria.com'] } },
      { links: { websites: ['https://mo.example.com'] } },
    ],
    ['the legal forms clash', { name: 'Altria plc' }, {}],
    [
      'the ISINs are two of one country',
      { listings: [{ ticker: 'MO', mic: 'XNYS', isin: 'US1234567890' }] },
      { listings: [{ ticker: 'MO', mic: 'XMEX', isin: 'US9999999992' }] },
    ],
  ])('are not one company if %s', (_, one, other) => {
    expect(
      areLinked(
        company({ ...inNewYork, company: at('US'), ...one }),
        inMexico({ company: at('US'), ...other }),
      ),
    ).toBe(false);
  });

  test('need no country if the name has several words beside "Group" and is equal with it', () => {
    const reuters = (id: string, name: string, mic: string, countryCode: string) =>
      company({ id, name, listings: [{ ticker: 'TRI', mic }], company: at(countryCode) });
    const toronto = reuters('a', 'Thomson Reuters Corporation', 'XTSE', 'CA');
    expect(areLinked(toronto, reuters('b', 'Thomson Reuters Corporation', 'XNAS', 'US'))).toBe(true);
    expect(areLinked(toronto, reuters('b', 'Thomson Reuters Group', 'XNAS', 'US'))).toBe(false);
    const apa = company({
      id: 'c',
      name: 'APA Group',
      listings: [{ ticker: 'APA', mic: 'XASX' }],
      company: at('AU', 'Sydney'),
    });
    const corporation = company({
      id: 'd',
      name: 'APA Corporation',
      listings: [{ ticker: 'APA', mic: 'XNAS' }],
      company: at('US'),
    });
    expect(areLinked(apa, corporation)).toBe(false);
    expect(whyNot(apa, corporation)).toBe('the names and a ticker agree, but not the country');
  });
});

describe('a listing stands for the country of a record that states none', () => {
  const listed = (name: string, ticker: string, mic: string) =>
    company({ id: 'a', name, listings: [{ ticker, mic }] });
  const stated = (name: string, countryCode: string, listing: Facts['listings'] = []) =>
    company({
      id: 'b',
      name,
      listings: listing,
      company: { headquarters: { countryCode, city: 'Otterton' } },
    });

  test('beside a record of the country that has the same name and legal form, or neither has a form', () => {
    const abroad = [{ ticker: 'KE1', mic: 'XBER' }];
    expect(mayBeLinked(listed('KESTREL', 'KES', 'XNYS'), stated('Kestrel', 'US', abroad))).toBe(true);
    expect(mayBeLinked(listed('Kestrel Ltd', 'KES', 'XNYS'), stated('Kestrel Ltd.', 'US', abroad))).toBe(
      true,
    );
    expect(mayBeLinked(listed('Kestrel plc', 'KES', 'XLON'), stated('Kestrel PLC', 'GB', abroad))).toBe(true);
    expect(areLinked(listed('KESTREL', 'KES', 'XNYS'), stated('Kestrel', 'US', abroad))).toBe(false);
  });

  test('but not if only one has a legal form, unless the name has several words', () => {
    expect(mayBeLinked(listed('Kestrel', 'KES', 'XNYS'), stated('Kestrel LLC', 'US'))).toBe(false);
    expect(mayBeLinked(listed('Kestrel Ltd', 'KES', 'XNYS'), stated('Kestrel Inc.', 'US'))).toBe(false);
    expect(mayBeLinked(listed('Otter Foods Ltd', 'OTR', 'XNYS'), stated('Otter Foods', 'US'))).toBe(true);
  });

  test('but not if the record of the country has another ticker there, nor in another country', () => {
    const renamed = [{ ticker: 'OTR', mic: 'XNAS' }];
    expect(mayBeLinked(listed('Otter Foods', 'OTF', 'XNYS'), stated('Otter Foods', 'US', renamed))).toBe(
      false,
    );
    expect(mayBeLinked(listed('Otter Foods', 'OTF', 'XNYS'), stated('Otter Foods', 'CA'))).toBe(false);
  });

  test('but not under tickers that exchanges give to shares from abroad, nor over the counter', () => {
    expect(mayBeLinked(listed('Otter Foods', 'OT1', 'XBER'), stated('Otter Foods', 'DE'))).toBe(false);
    expect(mayBeLinked(listed('Otter Foods', '0OTR', 'XLON'), stated('Otter Foods', 'GB'))).toBe(false);
    expect(mayBeLinked(listed('Otter Foods', 'OTFDY', 'OTCM'), stated('Otter Foods', 'US'))).toBe(false);
  });
});

test("a registry's mark tells a company from its namesake, and hides neither a legal form nor an equal listing", () => {
  const on = (ticker: string, mic: string, name: string) =>
    company({ id: name, name, listings: [{ ticker, mic }] });
  const kestrel = on('KES', 'XNAS', 'Kestrel, Inc.');
  expect(mayBeLinked(kestrel, on('KSTL', 'OTCM', 'KESTREL INC'))).toBe(true);
  expect(mayBeLinked(kestrel, on('KSTL', 'OTCM', 'KESTREL INC /MO/'))).toBe(false);
  expect(areLinked(kestrel, on('KES', 'XNAS', 'KESTREL INC /MO/'))).toBe(true);
  expect(areLinked(kestrel, on('KES', 'XNAS', 'KESTREL SE /ADR'))).toBe(false);
});
