import {
  type Account,
  AccountState,
  type LedgerUsage,
  monthOf,
  type Plan,
  type PoolUsage,
  Route,
} from '@brand-data/contracts';
import type { Connection } from '../connection/connection.ts';
import { readPages } from '../connection/reading.ts';
import { fieldColumns } from '../text/tables.ts';
import { wordOf } from '../text/words.ts';

/** How much of the allowance of one pool an account has used in a month. */
export interface AllowanceUse {
  pool: string;
  /** Calls that the plan allows in the month. 0: the plan does not have the pool any more. */
  allowance: number;
  /** Calls billed so far. */
  used: number;
  /** Calls that callers may still make. Permits that gateways hold are a part of it. */
  remaining: number;
  /** Permits that gateways hold and that metering does not know to be used. */
  held_by_gateways: number;
  /**
   * The allowance that metering used last. After a change it is outdated until the first call, which brings metering the new one.
   * Null if there were no calls.
   */
  allowance_in_metering: number | null;
}

/** The use of one account in a month. */
export interface AccountUse {
  id: string;
  /** Absent: accounts does not have the account that metering has billed, for example after its backup was restored. */
  account: Account | undefined;
  pools: AllowanceUse[];
}

/** The use of all accounts in a month. */
export interface MonthOfAll {
  /** YYYY-MM. */
  month: string;
  /** The figures will not change any more. */
  final: boolean;
  /** False: the figures may be too small. */
  isExact: boolean;
  accounts: AccountUse[];
}

export function stateWord(state: AccountState): string {
  return wordOf(AccountState, state);
}

/** "unknown" also for the route of a billed call whose answer is no longer stored. */
export function routeWord(route: Route): string {
  return wordOf(Route, route);
}

export const USE_HEADERS = ['ALLOWANCE', 'USED', 'REMAINING', 'HELD BY GATEWAYS'] as const;

export function useCells({ allowance, used, remaining, held_by_gateways }: AllowanceUse): number[] {
  return [allowance, used, remaining, held_by_gateways];
}

/** The columns of the use of a pool in CSV. */
export const USE_CSV = fieldColumns('pool', 'allowance', 'used', 'remaining');

export const MAY_BE_TOO_SMALL =
  'Metering could not read all usage, so these figures may be too small. No usage is lost: repeat the command when NATS and metering work again.';

/**
 * Returns the use of the pools of an account's plan and of all pools with ledgers, by name.
 *
 * @param plan the account's plan, if the month is the current one. Otherwise the allowances are those that metering used last
 */
export function allowanceUse(
  plan: Pick<Plan, 'pools'> | undefined,
  ledgers: readonly Pick<LedgerUsage, 'pool' | 'allowance' | 'used' | 'heldByGateways'>[],
): AllowanceUse[] {
  const planned = new Map(plan?.pools.map(({ name, allowance }) => [name, allowance]));
  const stored = new Map(ledgers.map((ledger) => [ledger.pool, ledger]));
  return [...new Set([...planned.keys(), ...stored.keys()])].sort().map((pool) => {
    const ledger = stored.get(pool);
    const { used = 0, heldByGateways = 0 } = ledger ?? {};
    const allowance = (plan ? planned.get(pool) : ledger?.allowance) ?? 0;
    return {
      pool,
      allowance,
      used,
      remaining: Math.max(0, allowance - used),
      held_by_gateways: heldByGateways,
      allowance_in_metering: ledger?.allowance ?? null,
    };
  });
}

/** Returns all plans, by name. */
export async function plansByName({ accounts }: Pick<Connection, 'accounts'>): Promise<Map<string, Plan>> {
  const { plans } = await accounts().call((client) => client.listPlans, {});
  return new Map(plans.map((plan) => [plan.name, plan]));
}

/** Returns the day of the last call of each of these accounts, by its id. Metering answers about at most 100 accounts at once. */
export async function readLastCalls(
  { metering }: Pick<Connection, 'metering'>,
  accountIds: string[],
): Promise<ReadonlyMap<string, string>> {
  if (accountIds.length === 0) return new Map();
  const { lastCalls } = await metering().call((client) => client.listLastCalls, { accountIds });
  return new Map(lastCalls.map(({ accountId, day }) => [accountId, day]));
}

/**
 * Reads an account and its use of a month, with the breakdown.
 *
 * @param month YYYY-MM; empty: the current month
 */
export async function readUsageOf(connection: Connection, id: string, month: string) {
  const { accounts, metering } = connection;
  const [{ account, keys }, plans] = await Promise.all([
    accounts().call((client) => client.getAccount, { id }),
    plansByName(connection),
  ]);
  const { usage } = await metering().call((client) => client.getUsage, { accountId: id, month });
  if (!account || !usage) throw new Error('accounts or metering answered without data');
  const plan = isCurrent(usage.month) ? plans.get(account.plan) : undefined;
  const ledgers = usage.pools.map(({ pool, limit, used, out }: PoolUsage) => {
    return { pool, allowance: limit, used, heldByGateways: out };
  });
  return { account, keys, usage, uses: allowanceUse(plan, ledgers) };
}

const ACCOUNTS_IN_PAGE = 500;

/**
 * Reads the use of every account, and of every ledger of metering, so that the sums are those of the ledgers.
 *
 * @param month YYYY-MM; empty: the current month
 * @param signal if it is aborted, no further page is read and this rejects with the signal's reason
 */
export async function readUsageOfAll(
  connection: Connection,
  month: string,
  signal?: AbortSignal,
): Promise<MonthOfAll> {
  const { accounts, metering } = connection;
  let about = { month, final: true, isExact: true };
  const ledgers = await readPages('ledgers', async ({ after }) => {
    signal?.throwIfAborted();
    // All pages are of the month of the first one, also if the month ends meanwhile.
    const request = { month: about.month, accountIds: [], limit: 0, after };
    const page = await metering().call((client) => client.listUsage, request);
    const { final, complete } = page;
    about = {
      month: page.month,
      final: about.final && final,
      isExact: about.isExact && (final || complete),
    };
    return page;
  });
  const plans = await plansByName(connection);
  const filters = { plan: '', state: AccountState.UNSPECIFIED, text: '' };
  const readPage = async (page: { limit: number; after: string }) => {
    signal?.throwIfAborted();
    return accounts().call((client) => client.listAccounts, { ...filters, ...page });
  };
  const all = await readPages('accounts', readPage, { pageSize: ACCOUNTS_IN_PAGE });
  const ledgersOf = Map.groupBy(ledgers.items, ({ accountId }) => accountId);
  const uses = all.items.map((account): AccountUse => {
    const plan = isCurrent(about.month) ? plans.get(account.plan) : undefined;
    const pools = allowanceUse(plan, ledgersOf.get(account.id) ?? []);
    ledgersOf.delete(account.id);
    return { id: account.id, account, pools };
  });
  for (const [id, rest] of ledgersOf)
    uses.push({ id, account: undefined, pools: allowanceUse(undefined, rest) });
  return { ...about, accounts: uses };
}

function isCurrent(month: string): boolean {
  return month === monthOf(Date.now());
}
