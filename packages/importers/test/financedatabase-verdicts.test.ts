import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Joined, joinRows } from '../src/sources/financedatabase/join.ts';
import { type Row, readRows } from '../src/sources/financedatabase/rows.ts';
import verdicts from './financedatabase-verdicts.json' with { type: 'json' };

/**
 * Tests the joining rule on real data, which is not part of the repository: FinanceDatabase's files of Berlin, Frankfurt
 * (Xetra), Tokyo, London, Mexico and Toronto of August 2026, in FINANCEDATABASE_DIR. A seed draws 200 pairs of listings that
 * were joined and 200 that were kept apart. We judged each pair by hand.
 */
const dir = process.env.FINANCEDATABASE_DIR ?? '';
const DRAWN = 200;
const RIGHT = 0.995;

if (dir === '')
  console.warn('SKIPPED: the joins of FinanceDatabase, as FINANCEDATABASE_DIR names no folder of it');

describe.skipIf(dir === '')('FinanceDatabase', () => {
  const rows: Row[] = [];
  let joined: Joined;
  let companyOf: Map<string, Row[]>;

  beforeAll(async () => {
    for await (const row of readRows(dir)) if ('symbol' in row) rows.push(row);
    joined = joinRows(rows);
    companyOf = new Map(
      joined.companies.flatMap((company) => company.map(({ symbol }) => [symbol, company] as const)),
    );
    console.info(
      `FinanceDatabase: ${rows.length} rows, ${joined.companies.length} records, ${joined.refused.length} refused\n`,
      countsOf(joined.merges),
      countsOf(joined.conflicts),
    );
  });

  test('every listing with a ticker is in one record, or is refused with a reason', () => {
    const inRecords = joined.companies.flat().map(({ symbol }) => symbol);
    const refused = joined.refused.map(({ row }) => row.symbol);
    expect([...inRecords, ...refused].sort()).toEqual(rows.map(({ symbol }) => symbol).sort());
    expect(joined.refused.every(({ reason }) => reason !== '')).toBe(true);
  });

  test('at least 99.5 % of 200 joins drawn by a seed agree with the verdicts made by hand', () => {
    const drawn = draw(joined.merges);
    expect(drawn).toHaveLength(DRAWN);
    expect(rightOf(drawn, verdicts.merges, 'same')).toBeGreaterThanOrEqual(RIGHT);
  });

  test('at least 99.5 % of 200 conflicts kept apart, drawn by a seed, agree with the verdicts made by hand', () => {
    const drawn = draw(joined.conflicts.filter(({ reason }) => reason.startsWith('apart')));
    expect(drawn).toHaveLength(DRAWN);
    expect(rightOf(drawn, verdicts.apart, 'different')).toBeGreaterThanOrEqual(RIGHT);
  });

  test('every pair with a verdict is joined or kept apart as judged, even if it is not drawn', () => {
    const judged = [...verdicts.merges, ...verdicts.apart];
    const right = judged.filter(({ a, b, verdict }) => {
      const isOne = companyOf.has(a) && companyOf.get(a) === companyOf.get(b);
      return isOne === (verdict === 'same');
    });
    expect(right.length / judged.length).toBeGreaterThanOrEqual(RIGHT);
  });
});

interface Pair {
  a: Row;
  b: Row;
}

/**
 * Draws the pairs with the smallest hashes of seed and pair, so that most of the drawn pairs stay the same if the rule changes a
 * little.
 */
function draw(pairs: readonly Pair[]): Pair[] {
  const hashOf = ({ a, b }: Pair) =>
    createHash('sha256').update(`${verdicts.seed} ${a.symbol} ${b.symbol}`).digest('hex');
  return pairs
    .map((pair) => ({ ...pair, hash: hashOf(pair) }))
    .sort((one, other) => (one.hash < other.hash ? -1 : 1))
    .slice(0, DRAWN);
}

/** Fails for a pair without a verdict. Judge the pair by hand and add the verdict to the file. */
function rightOf(
  drawn: readonly Pair[],
  judged: readonly { a: string; b: string; verdict: string }[],
  right: string,
): number {
  const verdictOf = new Map(judged.map(({ a, b, verdict }) => [`${a} ${b}`, verdict]));
  const found = drawn.map(({ a, b }) => ({
    pair: `${a.symbol} ${b.symbol}`,
    verdict: verdictOf.get(`${a.symbol} ${b.symbol}`),
  }));
  expect(found.filter(({ verdict }) => verdict === undefined)).toEqual([]);
  return found.filter(({ verdict }) => verdict === right).length / found.length;
}

function countsOf(all: readonly { reason: string }[]): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(all, ({ reason }) => reason)].map(([reason, each]) => [reason, each.length]),
  );
}
