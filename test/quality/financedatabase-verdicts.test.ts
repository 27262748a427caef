import { readFinanceDatabase } from '@brand-data/importers';
import { beforeAll, describe, expect, test } from 'vitest';
import verdicts from './financedatabase-verdicts.json' with { type: 'json' };
import { MemoryCatalogue } from './memory-catalogue.ts';

/**
 * Tests the linkage of listings on real data, which is not part of the repository: FinanceDatabase's files of Berlin, Frankfurt
 * (Xetra), Tokyo, London, Mexico and Toronto of August 2026, in FINANCEDATABASE_DIR. We judged pairs of listings by hand: pairs that
 * an earlier version joined, and pairs that it kept apart.
 */
const dir = process.env.FINANCEDATABASE_DIR ?? '';
const RIGHT = 0.99;
/** The exchanges' codes by the suffixes of the judged symbols. */
const MICS: Readonly<Record<string, string>> = {
  BE: 'XBER',
  DE: 'XETR',
  T: 'XTKS',
  L: 'XLON',
  MX: 'XMEX',
  TO: 'XTSE',
};

if (dir === '')
  console.warn('SKIPPED: the listings of FinanceDatabase, as FINANCEDATABASE_DIR names no folder of it');

describe.skipIf(dir === '')('FinanceDatabase', () => {
  const companyOf = new Map<string, string>();

  beforeAll(async () => {
    const catalogue = new MemoryCatalogue();
    const listings = [];
    for await (const read of readFinanceDatabase(dir)) if ('item' in read) listings.push(read.item);
    await catalogue.put('financedatabase', listings);
    for (const { _id, contributions } of catalogue.docs())
      for (const { id } of contributions) companyOf.set(id, _id);
  }, 600_000);

  test('at least 99 % of the judged pairs of listings are one company, or two, as judged', () => {
    const idOf = (symbol: string) => {
      const [, ticker = '', suffix = ''] = /^(.+)\.([A-Z]+)$/.exec(symbol) ?? [];
      return `${MICS[suffix]}-${ticker}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    };
    const judged = [...verdicts.merges, ...verdicts.apart].flatMap(({ a, b, verdict }) => {
      const [one, other] = [companyOf.get(idOf(a)), companyOf.get(idOf(b))];
      return one === undefined || other === undefined ? [] : [(one === other) === (verdict === 'same')];
    });
    expect(judged.length).toBeGreaterThan(400);
    expect(judged.filter((isRight) => isRight).length / judged.length).toBeGreaterThanOrEqual(RIGHT);
  });
});
