import { Brand, BrandType } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { identityKeysOf, LINK, linkBetween, namesAgree } from '../src/index.ts';

type Facts = Parameters<typeof Brand.fromPartial>[0];

const company = (facts: Facts): Brand => Brand.fromPartial({ type: BrandType.STOCK, ...facts });
const manager = (facts: Facts): Brand => Brand.fromPartial({ type: BrandType.SUPERINVESTOR, ...facts });
const listed = (isin: string, shareClassFigi: string) => [
  { ticker: 'ABC', mic: 'XLON', isin, shareClassFigi },
];

const ISINS = ['GB0000000001', 'US1234567890', 'US9999999992', 'DE0000000003'];
const NAMES = ['Kestrel Mining plc', 'Kestrel Mng', 'Otter Foods Inc.', 'Otter Food Systems', 'Toyota Motor'];
const maybe = (...values: string[]) => fc.constantFrom('', ...values);

/** Few values, so that records share and contradict each other's all the time. */
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
        mic: fc.constantFrom('XLON', 'XBER', 'XTKS'),
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
    manager: fc.record({ firm: maybe('Kestrel Capital', 'Otter Partners') }),
  })
  .map((facts) => Brand.fromPartial(facts));

test('a link is symmetric, whatever two records say', () => {
  fc.assert(fc.property(anyRecord, anyRecord, (a, b) => linkBetween(a, b) === linkBetween(b, a)));
});

test('a record links with a copy of itself under another id when it has any identifier', () => {
  fc.assert(
    fc.property(anyRecord, (record) => {
      const copy = { ...record, id: 'copy' };
      const isCompany = record.type !== BrandType.SUPERINVESTOR;
      const hasMore = isCompany ? identityKeysOf(record).length > 1 : record.manager?.firm !== '';
      expect(linkBetween(record, record)).toBe(LINK.id);
      expect(linkBetween(record, copy) > 0).toBe(hasMore);
    }),
  );
});

test('records that link share an identity key, by which the one is found from the other', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      fc.pre(linkBetween(a, b) > 0);
      const keys = new Set(identityKeysOf(a));
      expect(identityKeysOf(b).some((key) => keys.has(key))).toBe(true);
    }),
  );
});

test('names alone never link', () => {
  fc.assert(
    fc.property(anyRecord, anyRecord, (a, b) => {
      const bare = (record: Brand, id: string) =>
        company({ id, name: record.name, names: record.names, listings: [], links: { websites: [] } });
      expect(linkBetween(bare(a, 'a'), bare(b, 'b'))).toBe(LINK.none);
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
      expect(linkBetween(turned, b)).toBe(linkBetween(a, b));
    }),
  );
});

test('identity keys are bounded, and of a record of many listings the strongest stay', () => {
  const listings = Array.from({ length: 500 }, (_, index) => ({
    ticker: `T${index}`,
    mic: 'XBER',
    shareClassFigi: 'BBG001000001',
  }));
  const keys = identityKeysOf(company({ id: 'many', lei: 'LEI1', listings }));
  expect(keys.length).toBeLessThanOrEqual(64);
  expect(keys).toEqual(expect.arrayContaining(['id:many', 'lei:LEI1', 'figi:BBG001000001']));
});

test('one kind of evidence after the other is weaker', () => {
  const strengthOf = (facts: Facts, others: Facts = facts) =>
    linkBetween(
      company({ id: 'a', name: 'Kestrel Mining plc', ...facts }),
      company({ id: 'b', name: 'Kestrel Mining', ...others }),
    );
  expect(strengthOf({ id: 'same' })).toBe(LINK.id);
  expect(strengthOf({ links: { wikidataQid: 'Q1' } })).toBe(LINK.entity);
  expect(strengthOf({ lei: 'LEI1' })).toBe(LINK.entity);
  expect(strengthOf({ stock: { isin: 'GB0000000001' } })).toBe(LINK.security);
  expect(strengthOf({ listings: [{ ticker: 'KES', mic: 'XLON' }] })).toBe(LINK.ticker);
  expect(strengthOf({ links: { websites: ['https://kestrel.com'] } }, { domains: ['kestrel.com'] })).toBe(
    LINK.domain,
  );
});

test('a CUSIP is also known by the North American ISIN that holds it', () => {
  const a = company({ id: 'a', name: 'Kestrel', stock: { cusip: '123456789' } });
  const b = company({ id: 'b', name: 'Something Else', stock: { isin: 'US1234567890' } });
  expect(linkBetween(a, b)).toBe(LINK.security);
});

test('where identifiers of a security contradict each other, the names decide', () => {
  const kestrel = company({ id: 'a', name: 'Kestrel Mining plc', listings: listed('GB1', 'FIGI1') });
  const sameFigi = { listings: listed('GB2', 'FIGI1') };
  const sameIsin = { listings: listed('GB1', 'FIGI2') };
  for (const facts of [sameFigi, sameIsin]) {
    expect(linkBetween(kestrel, company({ id: 'b', name: 'KESTREL MNG LTD', ...facts }))).toBe(LINK.security);
    expect(linkBetween(kestrel, company({ id: 'b', name: 'Otter Foods plc', ...facts }))).toBe(LINK.none);
  }
});

test('a security in common is enough where nothing contradicts it: companies change their names', () => {
  const a = company({ id: 'a', name: 'Kestrel Mining plc', listings: listed('GB1', 'FIGI1') });
  const b = company({
    id: 'b',
    name: 'Talon Resources',
    listings: [{ ticker: 'TLN', mic: 'XBER', isin: 'GB1' }],
  });
  expect(linkBetween(a, b)).toBe(LINK.security);
});

test('a ticker or a domain in common is not enough under another name, nor for another legal entity', () => {
  const facts = { listings: [{ ticker: 'KES', mic: 'XLON' }], links: { websites: ['https://kestrel.com'] } };
  const a = company({ id: 'a', name: 'Kestrel Mining plc', lei: 'LEI1', ...facts });
  expect(linkBetween(a, company({ id: 'b', name: 'Otter Foods', ...facts }))).toBe(LINK.none);
  expect(linkBetween(a, company({ id: 'b', name: 'Kestrel Mining', lei: 'LEI2', ...facts }))).toBe(LINK.none);
  expect(linkBetween(a, company({ id: 'b', name: 'Kestrel Mining', ...facts }))).toBe(LINK.ticker);
});

test('a superinvestor links with superinvestors alone, by its id or by name and firm', () => {
  const a = manager({ id: 'a', name: 'Ada Kestrel', manager: { firm: 'Kestrel Capital' } });
  expect(linkBetween(a, company({ id: 'a', name: 'Ada Kestrel' }))).toBe(LINK.none);
  expect(linkBetween(a, manager({ id: 'a', name: 'A. K.' }))).toBe(LINK.id);
  expect(
    linkBetween(a, manager({ id: 'b', name: 'Ada Kestrel', manager: { firm: 'KESTREL CAPITAL' } })),
  ).toBe(LINK.id);
  expect(linkBetween(a, manager({ id: 'b', name: 'Ada Kestrel', manager: { firm: 'Otter Partners' } }))).toBe(
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
  expect(namesAgree(company({ name: one }), company({ name: other }))).toBe(true);
});

test.each([
  ['Toyota Motor Corporation', 'Toyota Industries Corporation'],
  ['Nestlé S.A.', 'Nestlé India Limited'],
  ['Kestrel Energy', 'Kestrel Mining'],
  ['Group', 'Holdings'],
])('"%s" and "%s" do not agree', (one, other) => {
  expect(namesAgree(company({ name: one }), company({ name: other }))).toBe(false);
});

test('a former name agrees, with or without its years', () => {
  const a = company({ name: 'Talon Resources', history: { formerly: ['Kestrel Mining plc (1999–2012)'] } });
  expect(namesAgree(a, company({ name: 'Kestrel Mining' }))).toBe(true);
});
