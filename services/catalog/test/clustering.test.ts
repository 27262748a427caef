import { Brand, BrandType, Listing } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cluster } from '../src/linkage/clustering.ts';
import { statesListings } from '../src/records/precedence.ts';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../src/records/source-record.ts';
import { SOURCES, someRecords } from './some-records.ts';

const grouped = (companies: readonly (readonly SourceRecord[])[]) =>
  companies
    .map((members) => ({ founder: members[0]?.id, members: members.map(referenceOf) }))
    .sort((a, b) => (String(a.members) < String(b.members) ? -1 : 1));

test('clusters do not depend on the order of the source records', () => {
  fc.assert(
    fc.property(someRecords, fc.infiniteStream(fc.nat()), (all, numbers) => {
      const shuffled = all
        .map((one) => ({ one, place: numbers.next().value }))
        .sort((a, b) => a.place - b.place)
        .map(({ one }) => one);
      expect(grouped(cluster(shuffled))).toEqual(grouped(cluster(all)));
    }),
  );
});

test('every source record is in one cluster, and a cluster has several of a source only if they are listings', () => {
  fc.assert(
    fc.property(someRecords, (all) => {
      const companies = cluster(all);
      expect(companies.flat().map(referenceOf).toSorted()).toEqual(all.map(referenceOf).toSorted());
      for (const members of companies) {
        const sources = members.map(({ source }) => source).filter((source) => !statesListings(source));
        expect(sources).toEqual([...new Set(sources)]);
      }
    }),
  );
});

test('records that are not linked do not change the clusters of linked records', () => {
  fc.assert(
    fc.property(someRecords, someRecords, (some, others) => {
      // They share neither an identifier nor a name with the first records.
      const apart = others.map(({ source, brand }) =>
        sourceRecordOf(source, 'run', {
          ...brand,
          id: `apart-${brand.id}`,
          name: `Apart ${brand.name}`,
          listings: brand.listings.map(({ ticker, mic }) => ({
            ...Listing.create(),
            ticker: `Z${ticker}`,
            mic,
          })),
          domains: brand.domains.map((domain) => `apart-${domain}`),
          links: undefined,
          company: undefined,
          lei: '',
        }),
      );
      expect(grouped(cluster([...some, ...apart]))).toEqual(grouped([...cluster(some), ...cluster(apart)]));
    }),
  );
});

test('two superinvestors with different firms are never one, not even through a record that names no firm', () => {
  const someManager = fc.record({
    source: fc.constantFrom(...SOURCES),
    id: fc.constantFrom('ada', 'a-kestrel', 'q1'),
    name: fc.constantFrom('Ada Kestrel', 'A. Kestrel', 'Grace Otter'),
    firm: fc.constantFrom(
      '',
      '',
      'Kestrel Capital',
      'Kestrel Capital LLC',
      'Otter Partners',
      'Otter Capital',
    ),
  });
  const someManagers = fc.uniqueArray(someManager, {
    maxLength: 8,
    selector: ({ source, id }) => `${source}/${id}`,
  });
  fc.assert(
    fc.property(someManagers, (managers) => {
      const records = managers.map(({ source, firm, ...facts }) =>
        sourceRecordOf(
          source,
          'run',
          Brand.fromPartial({ ...facts, type: BrandType.SUPERINVESTOR, manager: { firm } }),
        ),
      );
      for (const members of cluster(records)) {
        const firms = members.map(({ brand }) => brand.manager?.firm.replace(' LLC', '') ?? '');
        expect(new Set(firms.filter((firm) => firm !== '')).size).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('two websites are no contradiction if a record of the company that is linked with both has both', () => {
  const record = (source: string, brand: Parameters<typeof Brand.fromPartial>[0]) =>
    sourceRecordOf(source, 'run', Brand.fromPartial(brand));
  const listed = {
    name: 'Alphabet Inc.',
    listings: [{ ticker: 'GOOGL', mic: 'XNAS', isin: 'US02079K3059' }],
    company: { headquarters: { countryCode: 'US', city: 'Mountain View' } },
  };
  const ofOneSite = { ...listed, id: 'isin-us02079k3059', links: { websites: ['https://abc.xyz/'] } };
  const ofBoth = {
    ...listed,
    id: 'alphabet',
    names: ['Google'],
    links: ofOneSite.links,
    domains: ['google.com'],
  };
  const icon = { id: 'google', name: 'Google', links: { websites: ['https://www.google.com/'] } };
  const companiesWith = (curated: typeof ofOneSite | typeof ofBoth) =>
    cluster([
      record('sample', curated),
      record('financedatabase', ofOneSite),
      record('simple-icons', icon),
    ]).map((members) => members.map(({ source }) => source));
  expect(companiesWith(ofBoth)).toEqual([['sample', 'financedatabase', 'simple-icons']]);
  expect(companiesWith({ ...ofOneSite, id: 'alphabet' })).toEqual([
    ['sample', 'financedatabase'],
    ['simple-icons'],
  ]);
});

test('a record that is linked with two companies of other sources makes them one, unless it has only the name of namesakes in common', () => {
  const record = (source: string, id: string, name: string, ticker: string, mic = 'XNYS') =>
    sourceRecordOf(source, 'run', Brand.fromPartial({ id, name, listings: [{ ticker, mic }] }));
  const companiesOf = (...records: SourceRecord[]) =>
    cluster(records).map((members) => members.map(({ id }) => id));
  const today = record('list', 'today', 'Otter, Inc.', 'OTT');
  const before = record('old-list', 'before', 'Otter, Inc.', 'OTR');
  const inMexico = record('financedatabase', 'abroad', 'Otter, Inc.', 'OTR', 'XMEX');
  const inBerlin = record('financedatabase', 'abroad', 'Otter, Inc.', '6OT', 'XBER');
  expect(companiesOf(today, before, inMexico)).toEqual([['today', 'before', 'abroad']]);
  expect(companiesOf(today, before, inBerlin)).toHaveLength(2);
  const renamed = record('old-list', 'before', 'Kestrel, Inc.', 'KES');
  const ofOneShare = (id: string, facts: Parameters<typeof Brand.fromPartial>[0]) =>
    sourceRecordOf('financedatabase', 'run', Brand.fromPartial({ id, ...facts }));
  const isin = 'US0378331005';
  const ofBoth = ofOneShare('berlin', {
    name: 'Otter, Inc.',
    names: ['Kestrel, Inc.'],
    listings: [{ ticker: '6OT', mic: 'XBER', isin }],
  });
  const ofOne = ofOneShare('mexico', {
    name: 'Kestrel, Inc.',
    listings: [{ ticker: 'KES', mic: 'XMEX', isin }],
  });
  expect(companiesOf(today, renamed, ofBoth, ofOne)).toEqual([['today', 'before', 'berlin', 'mexico']]);
  const another = record('list', 'another', 'Kestrel, Inc.', 'KES');
  expect(companiesOf(today, another, ofBoth, ofOne)).toHaveLength(2);
});
