import {
  type Account,
  AccountState,
  addMonths,
  type Key,
  type LedgerUsage,
  type MonthUsage,
} from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { type AllowanceUse, allowanceUse } from '../allowance-use.ts';
import { isCurrent } from '../commands/usage-text.ts';
import type { Connection } from '../connection.ts';
import { pages } from '../pages.ts';
import { plansByName } from '../plans.ts';

/** The page of all accounts reads at most this many ledgers. bds usage --all has no such bound. */
const MOST_LEDGERS = 20_000;
/** Metering answers about at most this many accounts at once. */
const MOST_FOUND = 100;
const MONTHS_SHOWN = 6;

/** An account's use of its pools in a month. */
export interface AccountRow {
  id: string;
  /** Absent: accounts does not have the account that metering has billed. */
  account: Account | undefined;
  pools: AllowanceUse[];
}

export interface MonthOfAll {
  rows: AccountRow[];
  /** The number of accounts that are not on this page. */
  further: number;
  /** Billed calls of all ledgers by pool. Absent if only some accounts were looked for. */
  sums: { pool: string; used: number }[] | undefined;
  /** Whether there are more ledgers than were read. */
  isCut: boolean;
  /** Whether the figures include every call that was answered before. */
  isComplete: boolean;
}

/** The accounts with the most billed calls in the month, or the accounts whose id or name contains the text. */
export async function readMonthOfAll(
  connection: Connection,
  { month, search, from, count }: { month: string; search: string; from: number; count: number },
): Promise<MonthOfAll> {
  const found = search === '' ? undefined : await accountsWith(connection, search);
  const { ledgers, isComplete, isCut } =
    found?.length === 0
      ? { ledgers: [], isComplete: true, isCut: false }
      : await ledgersOf(connection, month, found?.map(({ id }) => id) ?? []);
  const byAccount = Map.groupBy(ledgers, ({ accountId }) => accountId);
  const usedOf = (id: string) => (byAccount.get(id) ?? []).reduce((sum, { used }) => sum + used, 0);
  const ids = (found?.map(({ id }) => id) ?? [...byAccount.keys()]).sort(
    (a, b) => usedOf(b) - usedOf(a) || (a < b ? -1 : 1),
  );
  const shown = ids.slice(from, from + count);
  const known = new Map((found ?? (await accountsOf(connection, shown))).map((each) => [each.id, each]));
  const plans = await plansByName(connection);
  const rows = shown.map((id) => {
    const account = known.get(id);
    const plan = account && isCurrent(month) ? plans.get(account.plan) : undefined;
    return { id, account, pools: allowanceUse(plan, byAccount.get(id) ?? []) };
  });
  const sums = [...Map.groupBy(ledgers, ({ pool }) => pool)]
    .map(([pool, own]) => ({ pool, used: own.reduce((sum, { used }) => sum + used, 0) }))
    .sort((a, b) => (a.pool < b.pool ? -1 : 1));
  const further = Math.max(0, ids.length - from - shown.length);
  return { rows, further, isCut, isComplete, sums: found ? undefined : sums };
}

async function ledgersOf(connection: Connection, month: string, accountIds: string[]) {
  const ledgers: LedgerUsage[] = [];
  let isComplete = true;
  const read = pages(async (after) => {
    const request = { month, accountIds, limit: 0, after };
    const page = await connection.metering().call((client) => client.listUsage, request);
    isComplete &&= page.final || page.complete;
    return { items: page.ledgers, next: page.next };
  });
  for await (const page of read) {
    ledgers.push(...page);
    if (ledgers.length > MOST_LEDGERS) return { ledgers, isComplete, isCut: true };
  }
  return { ledgers, isComplete, isCut: false };
}

async function accountsWith({ accounts }: Connection, text: string): Promise<Account[]> {
  const request = { plan: '', state: AccountState.UNSPECIFIED, text, limit: MOST_FOUND, after: '' };
  return (await accounts().call((client) => client.listAccounts, request)).accounts;
}

async function accountsOf(connection: Connection, ids: readonly string[]): Promise<Account[]> {
  const found = await Promise.all(ids.map((id) => readAccount(connection, id)));
  return found.flatMap(({ account }) => account ?? []);
}

/** The account with its keys, or neither if accounts does not have it. */
async function readAccount(
  { accounts }: Connection,
  id: string,
): Promise<{ account?: Account | undefined; keys: Key[] }> {
  try {
    return await accounts().call((client) => client.getAccount, { id });
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return { keys: [] };
    throw error;
  }
}

export interface MonthOfOne extends AccountRow {
  keys: Key[];
  usage: MonthUsage;
  /** Billed calls of this month and those before, the earliest first. */
  months: { month: string; used: number }[];
}

/** undefined: there is no such account, and metering has billed none of its calls in these months. */
export async function readMonthOfOne(
  connection: Connection,
  { id, month }: { id: string; month: string },
): Promise<MonthOfOne | undefined> {
  const monthsBefore = Array.from({ length: MONTHS_SHOWN }, (_, index) =>
    addMonths(month, index + 1 - MONTHS_SHOWN),
  );
  const read = async (of: string) => {
    const request = { accountId: id, month: of };
    const { usage } = await connection.metering().call((client) => client.getUsage, request);
    if (!usage) throw new Error('metering answered without usage');
    return usage;
  };
  const [{ account, keys }, plans, usages] = await Promise.all([
    readAccount(connection, id),
    plansByName(connection),
    Promise.all(monthsBefore.map(read)),
  ]);
  const months = usages.map(({ month: of, pools }) => ({
    month: of,
    used: pools.reduce((sum, { used }) => sum + used, 0),
  }));
  const usage = usages.at(-1);
  if (!usage || (!account && months.every(({ used }) => used === 0))) return undefined;
  const plan = account && isCurrent(month) ? plans.get(account.plan) : undefined;
  const ledgers = usage.pools.map(({ pool, limit, used, out }) => ({
    ...{ pool, allowance: limit, used, heldByGateways: out },
  }));
  return { id, account, keys, usage, months, pools: allowanceUse(plan, ledgers) };
}
