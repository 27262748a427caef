import type { MonthUsage, PoolUsage, UsageCell } from '@brand-data/contracts';
import { Command } from 'commander';
import { UsageError } from '../../connection/usage-error.ts';
import { readMonth } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { table } from '../../text/tables.ts';
import { type AllowanceUse, allowanceUse } from '../../usage/allowance-use.ts';
import { plansByName } from '../../usage/plans.ts';
import { routeWord } from '../../usage/routes.ts';
import { isCurrent, MAY_BE_TOO_SMALL, USE_HEADERS, useCells } from '../../usage/usage-text.ts';
import { showUsageOfAll } from './usage-of-all.ts';

interface UsageOptions {
  all?: boolean;
  month?: string;
  csv?: boolean;
}

export function usageCommand(context: Context): Command {
  return new Command('usage')
    .description('Show how many calls of an account, or of all accounts, are billed in a month')
    .argument('[account]', "the account's id")
    .option('--all', 'show all accounts, without the breakdown by key, route and status')
    .option('--month <YYYY-MM>', 'show this month, UTC (default: the current month)', readMonth)
    .option('--csv', 'with --all: print CSV, one line for each account and pool')
    .action(async (accountId: string | undefined, { all = false, month, csv = false }: UsageOptions) => {
      if (all === (accountId !== undefined)) throw new UsageError('give the id of an account, or --all');
      if (all) return showUsageOfAll(context, { month, csv });
      if (csv) throw new UsageError('--csv is for --all: for one account, use --json');
      return showUsage(context, accountId ?? '', month);
    });
}

async function showUsage({ connect, output }: Context, accountId: string, month = ''): Promise<void> {
  const connection = connect();
  const { accounts, metering } = connection;
  const [{ account }, plans] = await Promise.all([
    accounts().call((client) => client.getAccount, { id: accountId }),
    plansByName(connection),
  ]);
  const { usage } = await metering().call((client) => client.getUsage, { accountId, month });
  if (!usage) throw new Error('metering answered without usage');
  const plan = isCurrent(usage.month) ? plans.get(account?.plan ?? '') : undefined;
  const uses = allowanceUse(plan, usage.pools.map(ledgerOf));
  output.answer(usageToJson(accountId, usage, uses), () => usageText(usage, uses));
}

function ledgerOf({ pool, limit, used, out }: PoolUsage) {
  return { pool, allowance: limit, used, heldByGateways: out };
}

export function usageToJson(
  account: string,
  { month, final, complete, pools }: MonthUsage,
  uses: readonly AllowanceUse[],
) {
  const cells = new Map(pools.map((pool) => [pool.pool, pool.cells]));
  return {
    account,
    month,
    final,
    complete,
    pools: uses.map((use) => ({ ...use, breakdown: (cells.get(use.pool) ?? []).map(cellToJson) })),
  };
}

export function usageText(
  { month, final, complete, pools }: MonthUsage,
  uses: readonly AllowanceUse[],
): string {
  const cells = pools.flatMap((pool) => sumOverDays(pool.cells));
  return [
    `${month}${final ? '' : ' (so far)'}`,
    ...(complete ? [] : [MAY_BE_TOO_SMALL]),
    uses.length === 0
      ? 'There are no calls in this month.'
      : table(
          ['POOL', ...USE_HEADERS],
          uses.map((use) => [use.pool, ...useCells(use)]),
        ),
    ...uses.flatMap(otherAllowance),
    ...(cells.length === 0 ? [] : ['', table(['KEY', 'ROUTE', 'STATUS', 'CALLS'], cells)]),
  ].join('\n');
}

function otherAllowance({ pool, allowance, allowance_in_metering: inMetering }: AllowanceUse): string[] {
  if (inMetering === null || inMetering === allowance) return [];
  return [
    `Metering still uses the allowance ${inMetering} for the pool ${pool}. The account's next call changes this. If it does not, run bds account repair-limits.`,
  ];
}

/** A billed call whose answer is no longer stored has the status 0. */
function cellToJson({ keyId, route, status, day, count }: UsageCell) {
  return { key: keyId, route: routeWord(route), status: status || null, day, count };
}

function sumOverDays(cells: readonly UsageCell[]): [string, string, string, number][] {
  const same = Map.groupBy(cells, ({ keyId, route, status }) => JSON.stringify([keyId, route, status]));
  return [...same.values()].flatMap((group): [string, string, string, number][] => {
    const [first] = group;
    if (first === undefined) return [];
    const calls = group.reduce((total, { count }) => total + count, 0);
    return [[first.keyId, routeWord(first.route), String(first.status || 'unknown'), calls]];
  });
}
