import { GrantBook } from '@brand-data/gateway/src/quota/grant-book.ts';
import { countCall } from '@brand-data/gateway/src/quota/holding.ts';
import { expect, test } from 'vitest';

const HOLDINGS = 100_000;
const SWEEPS = 50;
/** Fewer than the sweeps of due holdings, because a sweep of all holdings takes about a thousand times as long. */
const SWEEPS_OF_ALL = 5;
const BEGIN_MS = Date.UTC(2026, 10, 10);
const MONTH = { periodStartMs: Date.UTC(2026, 10, 1), periodEndMs: Date.UTC(2026, 11, 1) };

const at = (ms: number) => ({ monotonicMs: ms, wallMs: BEGIN_MS + ms });

/** A gateway with one long grant for each account, all given within ten minutes. */
function bookOfMany(): GrantBook {
  const book = new GrantBook();
  for (let account = 0; account < HOLDINGS; account++) {
    const now = at((account / HOLDINGS) * 600_000);
    const allowance = { accountId: `account-${account}`, pool: 'calls', limit: 100_000, limitRevision: 1 };
    const holding = book.holding(allowance, now);
    countCall(holding, now);
    const id = `account-${account}/calls/2026-11/1`;
    const grant = { ...MONTH, id, size: 1_000, ttlMs: 600_000, idleMs: 0, remaining: 1_000 };
    book.granted(holding, book.nextAcquire(holding, 1, now).seq, grant, now);
  }
  book.sweep(at(600_000));
  return book;
}

test(`a sweep of ${HOLDINGS.toLocaleString('en')} holdings, by due time and of all in the same run`, () => {
  const book = bookOfMany();
  let nowMs = 600_000;
  const took = (sweeps: number, sweep: (ms: number) => unknown[]): { ms: number; closed: number } => {
    const began = performance.now();
    let closed = 0;
    for (let index = 0; index < sweeps; index++) {
      nowMs += 100;
      closed += sweep(nowMs).length;
    }
    return { ms: (performance.now() - began) / sweeps, closed: closed / sweeps };
  };
  const due = took(SWEEPS, (ms) => book.sweep(at(ms)));
  const all = took(SWEEPS_OF_ALL, (ms) => book.sweepAll(at(ms)));
  console.log(
    `a sweep: ${due.ms.toFixed(3)} ms by due time (${due.closed.toFixed(1)} holdings due in each), ` +
      `${all.ms.toFixed(2)} ms of all; ratio ${(due.ms / all.ms).toFixed(4)}`,
  );
  expect(due.closed).toBeGreaterThan(0);
  expect(all.closed).toBeGreaterThan(0);
}, 120_000);
