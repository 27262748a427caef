import { type GrantUsage, Route, type UsageCell } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usageDefect } from '../src/ledger/usage-check.ts';

const id = `acct/calls/2026-11/1.${'A'.repeat(22)}`;
const sound: UsageCell = { keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2026-11-20', count: 3 };
const usage: GrantUsage = {
  grantId: id,
  used: 3,
  returned: 1,
  closed: false,
  cells: [sound],
  partial: false,
};

const cell: fc.Arbitrary<UsageCell> = fc.record({
  keyId: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  // UNSPECIFIED: a route that a newer gateway knows and this version of metering does not.
  route: fc.constantFrom(Route.BRANDS, Route.LOGOS, Route.UNSPECIFIED),
  status: fc.constantFrom(200, 304, 404),
  day: fc.constantFrom('2026-11-20', '2026-11-21'),
  count: fc.nat(),
});

describe('usage', () => {
  test('is valid if its cells sum to it, whatever their routes, up to the largest number of cells', () => {
    fc.assert(
      fc.property(fc.array(cell, { maxLength: 50 }), fc.nat(), fc.boolean(), (cells, returned, closed) => {
        const used = cells.reduce((sum, { count }) => sum + count, 0);
        expect(usageDefect({ ...usage, used, returned, closed, cells })).toBeUndefined();
        expect(usageDefect({ ...usage, used: used + 1, returned, closed, cells })).toBeDefined();
      }),
    );
  });

  test('with a number that is not a count is invalid', () => {
    for (const number of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(usageDefect({ ...usage, returned: number })).toBeDefined();
      expect(usageDefect({ ...usage, used: number, cells: [{ ...sound, count: number }] })).toBeDefined();
    }
    const cells = [
      { ...sound, count: 4 },
      { ...sound, count: -1 },
    ];
    expect(usageDefect({ ...usage, cells })).toBeDefined();
  });

  test('without a key or a day, or with a status that is not counted, is invalid', () => {
    const wrong: Partial<UsageCell>[] = [
      { keyId: '' },
      { keyId: 'a/b' },
      { keyId: 'k'.repeat(65) },
      { status: 0 },
      { status: 503 },
      { day: '' },
      { day: '20.11.2026' },
      { day: `2026-11-20${'0'.repeat(99)}` },
    ];
    for (const part of wrong)
      expect(usageDefect({ ...usage, cells: [{ ...sound, ...part }] }), JSON.stringify(part)).toBeDefined();
  });

  test('of more keys than an account can have is refused, so that no document outgrows its bound', () => {
    const cellsOf = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...sound, keyId: `key-${index}`, count: 1 }));
    // All keys that an account can have, on both routes, with each status, on two days.
    expect(usageDefect({ ...usage, used: 1_200, cells: cellsOf(1_200) })).toBeUndefined();
    expect(usageDefect({ ...usage, used: 10_000, cells: cellsOf(10_000) })).toBeDefined();
  });

  test('without a grant is invalid', () => {
    for (const grantId of ['', 'nonsense', `${id}/2`, 'a/b/2026-11/0'])
      expect(usageDefect({ ...usage, grantId })).toBeDefined();
  });
});
