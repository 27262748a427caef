import { Brand, BrandType } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { identityOf, LINK, linkBetween, namesAgree, secondaryKeys } from '../src/index.ts';

type Facts = Parameters<typeof Brand.fromPartial>[0];

const company = (facts: Facts): Brand => Brand.fromPartial({ type: BrandType.STOCK, ...facts });
const manager = (facts: Facts): Brand => Brand.fromPartial({ type: BrandType.SUPERINVESTOR, ...facts });
const linkOf = (a: Brand, b: Brand) => linkBetween(identityOf(a), identityOf(b));
const keysOf = (brand: Brand) => identityOf(brand).keys;
const agree = (a: Brand, b: Brand) => namesAgree(identityOf(a), identityOf(b));
const listed = (isin: string, shareClassFigi: string) => [
  { ticker: 'ABC', mic: 'XLON', isin, shareClassFigi },
];

const ISINS = ['GB0000000001', 'US1234567890', 'US9999999992', 'DE0000000003'];
const NAMES = ['Kestrel Mining plc', 'Kestrel Mng', 'Otter Foods Inc.', 'Otter Food Systems', 'Toyota Motor'];
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
  fc.assert(fc.property(anyRecord, anyRecord, (a, b) => linkOf(a, b) === linkOf(b, a)));
});

test('a record links with a copy of itself under another id when it has any identifier', () => {
  fc.assert(
    fc.property(anyRecord, (record) => {
      const copy = { ...record, id: 'copy' };
      const isCompany = record.type !== BrandType.SUPERINVESTOR;
      const hasMore = isCompany ? keysOf(record).length > 1 : record.manager?.firm !== '';
      expect(linkOf(record, record)).toBe(LINK.id);
      expect(linkOf(record, copy) > 0).toBe(hasMore);
    }),
  );
});

test('records that link share an identity key', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      fc.pre(linkOf(a, b) > 0);
      const keys = new Set(keysOf(a));
      expect(keysOf(b).some((key) => keys.has(key))).toBe(true);
    }),
  );
});

test('if a key has secondary keys, records that it links share one of them', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      fc.pre(linkOf(a, b) > 0);
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
      expect(linkOf(bare(a, 'a'), bare(b, 'b'))).toBe(LINK.none);
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
      expect(linkOf(turned, b)).toBe(linkOf(a, b));
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

test('the kinds of evidence have different strengths', () => {
  const strengthOf = (facts: Facts, others: Facts = facts) =>
    linkOf(
      company({ id: 'a', name: 'Kestrel Mining plc', ...facts }),
      company({ id: 'b', name: 'Kestrel Mining', ...others }),
    );
  expect(strengthOf({ id: 'same' })).toBe(LINK.id);
  expect(strengthOf({ links: { wikidataQid: 'Q1' } })).toBe(LINK.entity);
  expect(strengthOf({ lei: 'LEI1' })).toBe(LINK.entity);
  expect(strengthOf({ stock: { isin: 'GB0000000001' } })).toBe(LINK.security);
  expect(strengthOf({ listings: [{ ticker: 'KES', mic: 'XLON' }] })).toBe(LINK.ticker);
  expect(strengthOf({ links: { websites: ['https://kestrel.com'] } }, { domains: ['kestrel.com'] })).toBe(
    LINK.weak,
  );
});

test('a North American ISIN links with the CUSIP that it contains', () => {
  const a = company({ id: 'a', name: 'Kestrel', stock: { cusip: '123456789' } });
  const b = company({ id: 'b', name: 'Something Else', stock: { isin: 'US1234567890' } });
  expect(linkOf(a, b)).toBe(LINK.security);
});

test('if security identifiers conflict, the names decide', () => {
  const kestrel = company({ id: 'a', name: 'Kestrel Mining plc', listings: listed('GB1', 'FIGI1') });
  const sameFigi = { listings: listed('GB2', 'FIGI1') };
  const sameIsin = { listings: listed('GB1', 'FIGI2') };
  for (const facts of [sameFigi, sameIsin]) {
    expect(linkOf(kestrel, company({ id: 'b', name: 'KESTREL MNG LTD', ...facts }))).toBe(LINK.security);
    expect(linkOf(kestrel, company({ id: 'b', name: 'Otter Foods plc', ...facts }))).toBe(LINK.none);
  }
});

test('a shared security is enough where no identifiers conflict: companies change their names', () => {
  const a = company({ id: 'a', name: 'Kestrel Mining plc', listings: listed('GB1', 'FIGI1') });
  const b = company({
    id: 'b',
    name: 'Talon Resources',
    listings: [{ ticker: 'TLN', mic: 'XBER', isin: 'GB1' }],
  });
  expect(linkOf(a, b)).toBe(LINK.security);
});

test('a shared ticker or domain is not enough under another name, nor for another legal entity', () => {
  const listing = { listings: [{ ticker: 'KES', mic: 'XLON' }] };
  const domain = { links: { websites: ['https://kestrel.com'] } };
  const a = company({ id: 'a', name: 'Kestrel Mining plc', lei: 'LEI1', ...listing, ...domain });
  const b = (facts: Facts) => company({ id: 'b', ...facts });
  expect(linkOf(a, b({ name: 'Otter Foods', ...listing }))).toBe(LINK.none);
  expect(linkOf(a, b({ name: 'Otter Foods', ...domain }))).toBe(LINK.none);
  expect(linkOf(a, b({ name: 'Kestrel Mining', lei: 'LEI2', ...listing, ...domain }))).toBe(LINK.none);
  expect(linkOf(a, b({ name: 'Kestrel Mining', ...listing, ...domain }))).toBe(LINK.ticker);
});

test('a shared home listing and domain are enough under any names, unless identifiers conflict', () => {
  const at = (mic: string, isin = '', facts: Facts = {}) =>
    company({
      id: mic + isin,
      listings: [{ ticker: 'KES', mic, isin }],
      domains: ['kestrel.com'],
      company: { headquarters: { countryCode: 'GB' } },
      ...facts,
    });
  const a = at('XLON', '', { id: 'a', name: 'Kestrel Mining', lei: 'LEI1', links: { wikidataQid: 'Q1' } });
  const other = { name: 'Otter Foods' };
  expect(linkOf(a, at('XLON', '', other))).toBe(LINK.weak);
  expect(linkOf(a, at('XLON', 'GB1', other))).toBe(LINK.weak);
  expect(linkOf(a, at('XLON', '', { ...other, lei: 'LEI2' }))).toBe(LINK.none);
  expect(linkOf(a, at('XLON', '', { ...other, links: { wikidataQid: 'Q2' } }))).toBe(LINK.none);
  expect(linkOf(at('XLON', 'GB1', { name: 'Kestrel Mining' }), at('XLON', 'GB2', other))).toBe(LINK.none);
  expect(linkOf(at('XBER', '', { id: 'a', name: 'Kestrel Mining' }), at('XBER', '', other))).toBe(LINK.none);
});

test('an equal name in the same country links with an equal home ticker or city, unless identifiers conflict', () => {
  const of = (id: string, listings: { ticker: string; mic: string; isin?: string }[], facts: Facts = {}) =>
    company({
      id,
      name: 'Kestrel Mining Inc.',
      listings,
      company: { headquarters: { countryCode: 'US', city: 'New York' } },
      ...facts,
    });
  const home = of('a', [{ ticker: 'KES-B', mic: 'XNYS' }]);
  const nowhere = { company: { headquarters: { countryCode: 'US' } } };
  const abroad = [{ ticker: 'KE1', mic: 'XFRA' }];
  const inMexico = [...abroad, { ticker: 'KESB', mic: 'XMEX' }];
  expect(linkOf(home, of('b', abroad, { name: 'KESTREL MINING CORP' }))).toBe(LINK.weak);
  expect(linkOf(home, of('b', inMexico, nowhere))).toBe(LINK.weak);
  expect(linkOf(home, of('b', abroad, nowhere))).toBe(LINK.none);
  expect(linkOf(home, of('b', inMexico, { name: 'Kestrel Mng' }))).toBe(LINK.none);
  expect(linkOf(home, of('b', abroad, { name: 'Kestrel Mining Partners' }))).toBe(LINK.none);
  const abroadOf = (countryCode: string) => ({
    company: { headquarters: { countryCode, city: 'New York' } },
  });
  expect(linkOf(home, of('b', abroad, abroadOf('GB')))).toBe(LINK.none);
  expect(linkOf(home, of('b', [{ ticker: 'OTR', mic: 'XNAS' }]))).toBe(LINK.none);
  const identified = { lei: 'LEI1', links: { wikidataQid: 'Q1' } };
  expect(linkOf({ ...home, lei: 'LEI2' }, of('b', abroad, { lei: 'LEI1' }))).toBe(LINK.none);
  expect(linkOf({ ...home, lei: 'LEI2' }, of('b', abroad))).toBe(LINK.weak);
  expect(linkOf(home, of('b', abroad, identified))).toBe(LINK.weak);
  const [one, two] = ['US1', 'US2'].map((isin) => [
    { ticker: 'KE1', mic: isin === 'US1' ? 'XFRA' : 'XBER', isin },
  ]);
  expect(linkOf(of('a', one ?? []), of('b', two ?? []))).toBe(LINK.none);
});

test('a superinvestor links only with superinvestors, by its id or by name and firm', () => {
  const a = manager({ id: 'a', name: 'Ada Kestrel', manager: { firm: 'Kestrel Capital' } });
  expect(linkOf(a, company({ id: 'a', name: 'Ada Kestrel' }))).toBe(LINK.none);
  expect(linkOf(a, manager({ id: 'a', name: 'A. K.' }))).toBe(LINK.id);
  expect(linkOf(a, manager({ id: 'b', name: 'Ada Kestrel', manager: { firm: 'KESTREL CAPITAL' } }))).toBe(
    LINK.id,
  );
  expect(linkOf(a, manager({ id: 'b', name: 'Ada Kestrel', manager: { firm: 'Otter Partners' } }))).toBe(
    LINK.none,
  );
});

test.each([
  ['Kestrel International Holdings plc', 'KESTREL INTL HLDGS'],
  ['The Walt Disney Company', 'Walt Disney Co (The)'],
  ['Nestlé S.A.', 'NESTLE SA'],
  ['Eli Lilly and Company', 'Lilly (Eli) & Co.'],
  ['A.P. Møller - Mærsk A/S', 'AP Moeller Maersk'.replace('oe', 'o')],
  ['UnitedHealth Group', 'United Health Group'],
])('"%s" and "%s" agree', (one, other) => {
  expect(agree(company({ name: one }), company({ name: other }))).toBe(true);
});

test.each([
  ['Toyota Motor Corporation', 'Toyota Industries Corporation'],
  ['Nestlé S.A.', 'Nestlé India Limited'],
  ['Kestrel Energy', 'Kestrel Mining'],
  ['Group', 'Holdings'],
])('"%s" and "%s" do not agree', (one, other) => {
  expect(agree(company({ name: one }), company({ name: other }))).toBe(false);
});

test('a former name agrees, with or without its years', () => {
  const a = company({ name: 'Talon Resources', history: { formerly: ['Kestrel Mining plc (1999–2012)'] } });
  expect(agree(a, company({ name: 'Kestrel Mining' }))).toBe(true);
});
