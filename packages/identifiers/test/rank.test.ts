import { Brand } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  lookupRank,
  RANK_OF_UNKNOWN,
  rankOfMarketCapClass,
  rankOfMarketValue,
  rankOfSitelinks,
} from '../src/index.ts';

const classes = ['Nano Cap', 'Micro Cap', 'Small Cap', 'Mid Cap', 'Large Cap', 'Mega Cap'];
const figure = fc.double({ min: 0, max: 1e14, noNaN: true });

test.each([
  ['a market value', rankOfMarketValue],
  ['sitelinks', rankOfSitelinks],
])('the rank of %s is a whole number of 0 to 1000 and never falls as the figure grows', (_, rankOf) => {
  fc.assert(
    fc.property(figure, figure, (a, b) => {
      const [lower, higher] = [rankOf(Math.min(a, b)), rankOf(Math.max(a, b))];
      expect(Number.isInteger(lower) && lower >= 0 && higher <= 1000).toBe(true);
      expect(lower).toBeLessThanOrEqual(higher);
    }),
  );
});

test('a missing, zero, negative or invalid figure gives no rank', () => {
  for (const none of [0, -1, Number.NaN]) {
    expect([rankOfMarketValue(none), rankOfSitelinks(none)]).toEqual([0, 0]);
  }
  expect(rankOfMarketCapClass('')).toBe(0);
  expect(rankOfMarketCapClass('Giga Cap')).toBe(0);
});

test('a company with any known figure ranks above a company without one', () => {
  expect(rankOfMarketValue(1)).toBeGreaterThan(RANK_OF_UNKNOWN);
  expect(rankOfSitelinks(1)).toBeGreaterThan(RANK_OF_UNKNOWN);
  expect(rankOfMarketCapClass('nano cap ')).toBeGreaterThan(RANK_OF_UNKNOWN);
});

test('a market-value class has the rank of its lower bound, below any larger class', () => {
  const begins = [1e6, 50e6, 300e6, 2e9, 10e9, 200e9];
  expect(classes.map(rankOfMarketCapClass)).toEqual(begins.map(rankOfMarketValue));
  expect(rankOfMarketCapClass('Mega Cap')).toBe(900);
});

test('market value and number of Wikipedia editions give the best known companies similar ranks', () => {
  expect(rankOfMarketValue(5e12)).toBe(1000);
  expect(rankOfSitelinks(250)).toBe(1000);
  expect(rankOfMarketValue(1e12)).toBeGreaterThan(900);
  expect(rankOfSitelinks(100)).toBe(900);
});

test('what a register of all companies states makes no record go before a company of which more is known', () => {
  const registered = Brand.fromPartial({
    id: 'lei',
    name: 'Stryker',
    lei: '529900T8BM49AURSDO55',
    company: { headquarters: { city: 'Bonn', countryCode: 'DE' } },
    ownership: { parentCompany: ['Stryker Holding'] },
    history: { successor: ['Stryker GmbH'] },
  });
  const described = Brand.fromPartial({ ...registered, company: { industry: 'Tools' } });
  const ofOperator = Brand.fromPartial({
    id: 'crm',
    name: 'Stryker',
    company: { headquarters: { city: 'Bonn' } },
  });
  expect([registered, described, ofOperator].map((brand) => lookupRank(brand) < 0)).toEqual([
    true,
    false,
    false,
  ]);
});
