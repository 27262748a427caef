import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partition } from '../src/linkage/clustering.ts';
import { type Contribution, contributionOf, referenceOf } from '../src/records/source-record.ts';
import { someContributions } from './some-records.ts';

const grouped = (companies: readonly (readonly Contribution[])[]) =>
  companies
    .map((members) => ({ founder: members[0]?.id, members: members.map(referenceOf) }))
    .sort((a, b) => (String(a.members) < String(b.members) ? -1 : 1));

test('which contributions are of one company does not depend on their order', () => {
  fc.assert(
    fc.property(someContributions, fc.infiniteStream(fc.nat()), (all, numbers) => {
      const shuffled = all
        .map((one) => ({ one, place: numbers.next().value }))
        .sort((a, b) => a.place - b.place)
        .map(({ one }) => one);
      expect(grouped(partition(shuffled))).toEqual(grouped(partition(all)));
    }),
  );
});

test('every contribution is in one company, a company has one of a source at most, and no two have one id', () => {
  fc.assert(
    fc.property(someContributions, (all) => {
      const companies = partition(all);
      expect(companies.flat().map(referenceOf).toSorted()).toEqual(all.map(referenceOf).toSorted());
      for (const members of companies) {
        const sources = members.map(({ source }) => source);
        expect(sources).toEqual([...new Set(sources)]);
      }
      const ids = companies.map(([founder]) => founder?.id);
      expect(ids).toEqual([...new Set(ids)]);
    }),
  );
});

test('what is not linked has no influence: each linked part is divided as it would be alone', () => {
  fc.assert(
    fc.property(someContributions, someContributions, (some, others) => {
      // None of the first has one of their identifiers.
      const apart = others.map(({ source, brand }) =>
        contributionOf(source, 'run', {
          ...brand,
          id: `apart-${brand.id}`,
          listings: brand.listings.map((listing) => ({ ...listing, ticker: `Z${listing.ticker}`, isin: '' })),
          domains: brand.domains.map((domain) => `apart-${domain}`),
          links: undefined,
          company: undefined,
          lei: '',
        }),
      );
      expect(grouped(partition([...some, ...apart]))).toEqual(
        grouped([...partition(some), ...partition(apart)]),
      );
    }),
  );
});
