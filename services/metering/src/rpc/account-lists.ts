import {
  isMonth,
  type ListLastCallsRequest,
  type ListLastCallsResponse,
  type ListUsageRequest,
  type ListUsageResponse,
  MONTH_MARGIN_MS,
  monthOf,
} from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import type { UsageLists } from '../ledger/usage-lists.ts';

const MOST_ACCOUNTS = 100;
const MOST_LEDGERS = 500;

/**
 * Returns a page of all accounts' usage in a month, or of some accounts' usage. See ListUsage in
 * proto/brand_data/v1/metering.proto.
 */
export async function listUsage(
  { lists, catchUp }: { lists: UsageLists; catchUp: () => Promise<boolean> },
  request: ListUsageRequest,
): Promise<ListUsageResponse> {
  const nowMs = Date.now();
  const month = request.month || monthOf(nowMs);
  if (!isMonth(month)) throw new Fault('invalid_argument', 'a month is YYYY-MM, for example 2026-11');
  const { accountIds, limit, after } = request;
  if (limit < 0 || limit > MOST_LEDGERS)
    throw new Fault('invalid_argument', `a page can have at most ${MOST_LEDGERS} entries`);
  requireFew(accountIds);
  const page = { month, accountIds, limit: limit || MOST_LEDGERS, after: cursorOf(after, month) };
  // Later pages are read later, so they have the same calls.
  const complete = after !== '' || (await catchUp());
  const { ledgers, next, anyOpen } = await lists.list(page);
  return { month, ledgers, next, complete, final: month < monthOf(nowMs - MONTH_MARGIN_MS) && !anyOpen };
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

/** A page ends with the id of its last ledger, which begins with the account's. */
function cursorOf(after: string, month: string) {
  if (after === '') return undefined;
  const [, accountId, ofMonth] = /^([^/]+)\/[^/]+\/(\d{4}-\d{2})$/.exec(after) ?? [];
  if (accountId === undefined || ofMonth !== month)
    throw new Fault('invalid_argument', 'a page must begin where the page before ended');
  return { accountId, ledgerId: after };
}
