import { MonthUsage, Route } from '@brand-data/contracts';
import { describe, expect, test } from 'vitest';
import { usageText, usageToJson } from '../src/commands/usage.ts';

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

describe('figures that may be too small are never shown as exact', () => {
  test.each([
    ['with calls', [pool]],
    ['without any', []],
  ])('%s', (_what, pools) => {
    expect(usageText(monthOf({ pools, complete: false }))).toMatch(/these figures may be too small/);
    expect(usageToJson('acme', monthOf({ pools, complete: false }))).toMatchObject({ complete: false });
    expect(usageText(monthOf({ pools }))).not.toMatch(/too small/);
    expect(usageToJson('acme', monthOf({ pools }))).toMatchObject({ complete: true });
  });
});

test('calls whose key is no longer stored are billed, and shown as unknown', () => {
  const { pools } = usageToJson('acme', monthOf({ pools: [pool] }));
  expect(pools[0]?.breakdown).toEqual([
    { key: 'key-1', route: 'brands', status: 200, day: '2026-11-20', count: 2 },
    { key: 'unattributed', route: 'unknown', status: null, day: '2026-11-01', count: 1 },
  ]);
  expect(usageText(monthOf({ pools: [pool] }))).toMatch(/^unattributed +unknown +unknown +1$/m);
});
