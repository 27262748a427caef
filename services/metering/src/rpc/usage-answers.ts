import {
  isMonth,
  type ListLastCallsRequest,
  type ListLastCallsResponse,
  type ListUsageRequest,
  type ListUsageResponse,
  MONTH_MARGIN_MS,
  type MonthUsage,
  monthOf,
} from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { outOf, parseGrantId, remainingOf, usedOf } from '../ledger/ledger.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { UsageLists } from '../ledger/usage-lists.ts';
import { countOf } from '../ledger/usage-merge.ts';
import type { Parked } from '../usage/catch-up.ts';

const MOST_ACCOUNTS = 100;
const MOST_LEDGERS = 500;

/**
 * Returns an account's calls in a month ("YYYY-MM"; empty: the current one). If `complete` is true, they include every call that
 * was answered before the time up to which `catchUp` applies the usage streams. It is false if `catchUp` resolves to undefined, if
 * usage of this month is parked, or if a breakdown does not have all billed calls yet.
 */
export async function readMonthUsage(
  { store, catchUp }: { store: LedgerStore; catchUp: () => Promise<Parked> },
  { accountId, ...request }: { accountId: string; month: string },
): Promise<MonthUsage> {
  const month = monthAsked(request.month);
  if (accountId === '')
    throw new Fault('invalid_argument', 'the id of the account is missing: bds account list shows all');
  const [isOver, parked] = await Promise.all([store.isOver(month), catchUp()]);
  const usage = await store.readUsage(accountId, month);
  const pools = usage.map(({ ledger, cells }) => ({
    pool: ledger.pool,
    limit: ledger.limit,
    used: usedOf(ledger),
    remaining: remainingOf(ledger),
    out: outOf(ledger),
    cells,
  }));
  return {
    month,
    pools,
    final: isOver && usage.every(({ ledger }) => ledger.grants.length === 0),
    complete:
      parked !== undefined &&
      !accountsWith(parked, month).has(accountId) &&
      pools.every(({ used, cells }) => countOf(cells) === used),
  };
}

/**
 * Returns a page of all accounts' usage in a month, or of some accounts' usage. See ListUsage in
 * proto/brand_data/v1/metering.proto.
 */
export async function listUsage(
  {
    lists,
    store,
    catchUp,
  }: { lists: UsageLists; store: Pick<LedgerStore, 'isOver'>; catchUp: () => Promise<Parked> },
  { accountIds, limit, after, ...request }: ListUsageRequest,
): Promise<ListUsageResponse> {
  const month = monthAsked(request.month);
  if (limit < 0 || limit > MOST_LEDGERS)
    throw new Fault('invalid_argument', `a page can have at most ${MOST_LEDGERS} entries`);
  requireFew(accountIds);
  const page = { month, accountIds, limit: limit || MOST_LEDGERS, after: cursorOf(after, month) };
  // Later pages are read later, so they have the same calls.
  const parked = after === '' ? await catchUp() : new Set<string>();
  const waiting = [...accountsWith(parked ?? new Set(), month)];
  const asked = waiting.filter((id) => accountIds.length === 0 || accountIds.includes(id));
  const isWaiting = async () =>
    asked.length > 0 && (await lists.list({ ...page, accountIds: asked, limit: 1 })).ledgers.length > 0;
  const complete = parked !== undefined && !(await isWaiting());
  const isOver = await store.isOver(month);
  const { ledgers, next, anyOpen } = await lists.list(page);
  return { month, ledgers, next, complete, final: isOver && !anyOpen };
}

export async function listLastCalls(
  { lists }: { lists: UsageLists },
  { accountIds }: ListLastCallsRequest,
): Promise<ListLastCallsResponse> {
  requireFew(accountIds);
  return { lastCalls: await lists.lastCalls(accountIds) };
}

function requireFew(accountIds: readonly string[]): void {
  if (accountIds.length > MOST_ACCOUNTS)
    throw new Fault('invalid_argument', `a request can name at most ${MOST_ACCOUNTS} accounts`);
}

/** Returns the accounts that have parked usage of this month. Anybody may have named them, so some may not exist. */
function accountsWith(parked: NonNullable<Parked>, month: string): Set<string> {
  const keys = parked.values().map((grantId) => parseGrantId(grantId)?.key);
  return new Set(keys.flatMap((key) => (key?.month === month ? [key.accountId] : [])));
}

function monthAsked(asked: string): string {
  const nowMs = Date.now();
  const month = asked || monthOf(nowMs);
  if (!isMonth(month)) throw new Fault('invalid_argument', 'a month is YYYY-MM, for example 2026-11');
  if (month > monthOf(nowMs + MONTH_MARGIN_MS))
    throw new Fault('invalid_argument', `the month ${month} has not begun`);
  return month;
}

/** A page ends with the id of its last ledger, which begins with the account's. */
function cursorOf(after: string, month: string) {
  if (after === '') return undefined;
  const [, accountId, ofMonth] = /^([^/]+)\/[^/]+\/(\d{4}-\d{2})$/.exec(after) ?? [];
  if (accountId === undefined || ofMonth !== month)
    throw new Fault('invalid_argument', 'a page must begin where the page before ended');
  return { accountId, ledgerId: after };
}
