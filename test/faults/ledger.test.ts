import { type PoolUsage, Route } from '@brand-data/contracts';
import { describe, expect, test } from 'vitest';
import type { CallOutcome } from './api-call.ts';
import { type CallLedger, enter, judge, newCallLedger } from './ledger.ts';

const ALLOWANCE = 3;
const KEY = 'key_1';

const answered = (status: number, charged: '0' | '1'): CallOutcome => ({
  kind: 'answered',
  status,
  body: Buffer.alloc(0),
  headers: {
    'x-quota-charged': charged,
    ...(status < 400 ? {} : { 'content-type': 'application/problem+json', 'retry-after': '1' }),
  },
});

/** Returns a ledger with one call after another, a millisecond each. */
function ledgerOf(...outcomes: CallOutcome[]): CallLedger {
  const ledger = newCallLedger(ALLOWANCE, KEY);
  for (const [index, outcome] of outcomes.entries())
    enter(ledger, { route: Route.BRANDS, beganMs: index, endedMs: index + 0.5, outcome });
  return ledger;
}

const billed = (used: number, { status = 200, inCells = used, out = 0, keyId = KEY } = {}): PoolUsage => ({
  pool: 'calls',
  limit: ALLOWANCE,
  used,
  remaining: ALLOWANCE - used - out,
  out,
  cells: [{ keyId, route: Route.BRANDS, status, day: '2026-11-20', count: inCells }],
});

const ok = answered(200, '1');
const lost: CallOutcome = { kind: 'lost' };

describe('the ledger finds nothing wrong', () => {
  test.each([
    ['with what was seen and billed', ledgerOf(ok, ok), billed(2), false],
    ['with a call that was billed though its caller saw a failure', ledgerOf(ok, lost), billed(2), false],
    ['with a call that failed and was not billed', ledgerOf(ok, answered(503, '1')), billed(1), false],
    ['with an account that was used up', ledgerOf(ok, ok, ok, answered(429, '0')), billed(3), true],
    ['with permits that are yet to be settled', ledgerOf(ok), billed(1, { out: 2 }), true],
  ])('%s', (_, ledger, usage, isDriven) => {
    expect(judge(ledger, usage, isDriven)).toEqual([]);
  });
});

describe('the ledger finds', () => {
  test.each([
    ['an answer that is not billed', ledgerOf(ok, ok), billed(1, { inCells: 1 }), false],
    ['a bill for nothing', ledgerOf(ok), billed(2), false],
    ['a bill for a call that was said to be free', ledgerOf(ok, answered(503, '0')), billed(2), false],
    ['a bill for a call that reached nobody', ledgerOf(ok, { kind: 'refused' }), billed(2), false],
    ['more than the allowance', ledgerOf(ok, ok, ok, ok), billed(4), false],
    ['less than the allowance when all was tried', ledgerOf(ok, ok), billed(2), true],
    ['a 429 before the allowance is used', ledgerOf(ok, answered(429, '0')), billed(1), false],
    ['a call counted after a 429', ledgerOf(ok, ok, answered(429, '0'), ok), billed(3), false],
    ['a breakdown that sums to something else', ledgerOf(ok, ok), billed(2, { inCells: 1 }), false],
    ['a breakdown with another status', ledgerOf(ok), billed(1, { status: 404 }), false],
    ['a breakdown with another key', ledgerOf(ok), billed(1, { keyId: 'key_2' }), false],
    ['an answer that no caller should see', ledgerOf(answered(500, '0')), billed(0), false],
  ])('%s', (_, ledger, usage, isDriven) => {
    expect(judge(ledger, usage, isDriven)).not.toEqual([]);
  });
});
