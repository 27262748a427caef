import { MonthUsage, Route } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usageText, usageToJson } from '../src/commands/accounts/usage.ts';
import { allowanceUse } from '../src/usage/allowance-use.ts';

const known = { keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2026-11-20', count: 2 };
const unattributed = {
  keyId: 'unattributed',
  route: Route.UNSPECIFIED,
  status: 0,
  day: '2026-11-01',
  count: 1,
};

function monthOf(more: Parameters<typeof MonthUsage.fromPartial>[0]) {
  return MonthUsage.fromPartial({ month: '2026-11', complete: true, ...more });
}

const pool = { pool: 'calls', limit: 10, used: 3, remaining: 5, out: 2, cells: [known, unattributed] };

const uses = allowanceUse(undefined, [{ pool: 'calls', allowance: 10, used: 3, heldByGateways: 2 }]);

describe('figures that may be too small are never shown as exact', () => {
  test.each([
    ['with calls', [pool]],
    ['without any', []],
  ])('%s', (_what, pools) => {
    expect(usageText(monthOf({ pools, complete: false }), uses)).toMatch(/these figures may be too small/);
    expect(usageToJson('acme', monthOf({ pools, complete: false }), uses)).toMatchObject({ complete: false });
    expect(usageText(monthOf({ pools }), uses)).not.toMatch(/too small/);
    expect(usageToJson('acme', monthOf({ pools }), uses)).toMatchObject({ complete: true });
  });
});

test('calls whose key is no longer stored are billed, and shown as unknown', () => {
  const { pools } = usageToJson('acme', monthOf({ pools: [pool] }), uses);
  expect(pools[0]?.breakdown).toEqual([
    { key: 'key-1', route: 'brands', status: 200, day: '2026-11-20', count: 2 },
    { key: 'unattributed', route: 'unknown', status: null, day: '2026-11-01', count: 1 },
  ]);
  expect(usageText(monthOf({ pools: [pool] }), uses)).toMatch(/^unattributed +unknown +unknown +1$/m);
});

describe('of an allowance', () => {
  const ledger = fc.record({
    pool: fc.constantFrom('calls', 'logos'),
    allowance: fc.nat(50),
    used: fc.nat(50),
    heldByGateways: fc.nat(50),
  });
  const ledgers = fc.uniqueArray(ledger, { selector: ({ pool }) => pool });

  test('what remains and what is used are the whole allowance, whatever gateways hold', () => {
    fc.assert(
      fc.property(ledgers, fc.nat(100), (stored, allowance) => {
        const plan = { pools: [{ name: 'calls', allowance, routes: [] }] };
        for (const use of allowanceUse(plan, stored)) {
          expect(use.allowance).toBe(use.pool === 'calls' ? allowance : 0);
          expect(use.remaining).toBe(Math.max(0, use.allowance - use.used));
          expect(use.used).toBe(stored.find(({ pool }) => pool === use.pool)?.used ?? 0);
        }
      }),
    );
  });

  test('every ledger is shown once, and every pool of the plan', () => {
    fc.assert(
      fc.property(ledgers, fc.boolean(), (stored, isPlanned) => {
        const plan = isPlanned ? { pools: [{ name: 'calls', allowance: 1, routes: [] }] } : undefined;
        const wanted = new Set([...stored.map(({ pool }) => pool), ...(isPlanned ? ['calls'] : [])]);
        expect(allowanceUse(plan, stored).map((use) => use.pool)).toEqual([...wanted].sort());
      }),
    );
  });
});
