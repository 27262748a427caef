import { isMonth, MONTH_MARGIN_MS, type MonthUsage, monthOf } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { outOf, remainingOf, usedOf } from '../ledger/ledger.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { countOf } from '../ledger/usage-merge.ts';

/**
 * Returns an account's calls in a month ("YYYY-MM"; empty: the current one). If `complete` is true, they include every call that
 * was answered before the time up to which `catchUp` applies the usage streams. It is false if `catchUp` resolves to false, or if
 * a breakdown does not have all billed calls yet.
 */
export async function readMonthUsage(
  { store, catchUp }: { store: LedgerStore; catchUp: () => Promise<boolean> },
  request: { accountId: string; month: string },
): Promise<MonthUsage> {
  const nowMs = Date.now();
  const month = request.month || monthOf(nowMs);
  if (!isMonth(month)) throw new Fault('invalid_argument', 'a month is YYYY-MM, for example 2026-11');
  if (request.accountId === '')
    throw new Fault('invalid_argument', 'the id of the account is missing: bds account list shows all');
  const caughtUp = await catchUp();
  const usage = await store.readUsage(request.accountId, month);
  const complete = caughtUp && usage.every(({ ledger, cells }) => countOf(cells) === usedOf(ledger));
  const pools = usage.map(({ ledger, cells }) => ({
    pool: ledger.pool,
    limit: ledger.limit,
    used: usedOf(ledger),
    remaining: remainingOf(ledger),
    out: outOf(ledger),
    cells,
  }));
  const final =
    month < monthOf(nowMs - MONTH_MARGIN_MS) && usage.every(({ ledger }) => ledger.grants.length === 0);
  return { month, pools, final, complete };
}
