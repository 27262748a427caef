import type { MonthUsage, UsageCell } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../connection/failures.ts';
import { readMonth } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { csvOf, fieldColumns, table } from '../../text/tables.ts';
import {
  type AllowanceUse,
  MAY_BE_TOO_SMALL,
  readUsageOf,
  readUsageOfAll,
  routeWord,
  stateWord,
  USE_CSV,
  USE_HEADERS,
  useCells,
} from '../../usage/allowance-use.ts';

const NO_CALLS = 'There are no calls in this month.';

export function usageCommand(context: Context) {
  return new Command('usage')
    .description('Show how many calls of an account, or of all accounts, are billed in a month')
    .argument('[account]', "the account's id")
    .option('--all', 'show all accounts, without the breakdown by key, route and status')
    .option('--month <YYYY-MM>', 'show this month, UTC (default: the current month)', readMonth)
    .option('--csv', 'with --all: print CSV, one line for each account and pool')
    .action(async (accountId, { all = false, month = '', csv }) => {
      if (all === (accountId !== undefined)) throw new UsageError('give the id of an account, or --all');
      if (accountId === undefined) return showUsageOfAll(context, month, csv);
      if (csv) throw new UsageError('--csv is for --all: for one account, use --json');
      const { usage, uses } = await readUsageOf(context.connect(), accountId, month);
      context.output.answer(usageToJson(accountId, usage, uses), () => usageText(usage, uses));
    });
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
  const rows = uses.map((use) => [use.pool, ...useCells(use)]);
  return [
    titleOf({ month, final }),
    ...(complete ? [] : [MAY_BE_TOO_SMALL]),
    uses.length === 0 ? NO_CALLS : table(['POOL', ...USE_HEADERS], rows),
    ...uses.flatMap(otherAllowance),
    ...(cells.length === 0 ? [] : ['', table(['KEY', 'ROUTE', 'STATUS', 'CALLS'], cells)]),
  ].join('\n');
}

function titleOf({ month, final }: { month: string; final: boolean }): string {
  return `${month}${final ? '' : ' (so far)'}`;
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

/** Shows the use of every account, and of every ledger of metering, so that the sums are those of the ledgers. */
async function showUsageOfAll({ connect, output }: Context, asked: string, csv?: boolean): Promise<void> {
  const { month, final, isExact, accounts: uses } = await readUsageOfAll(connect(), asked);
  const accounts = uses.map(({ id, account, pools }) => {
    const { name = null, plan = null } = account ?? {};
    return { account: id, name, plan, state: account ? stateWord(account.state) : null, pools };
  });
  const lines = accounts.flatMap(({ pools, ...each }) => pools.map((use) => ({ ...each, month, ...use })));
  if (csv) output.text(csvOf(CSV, lines));
  else
    output.answer({ month, final, complete: isExact, accounts }, () => {
      const rows = lines.map((line) => [
        line.account,
        line.plan ?? 'not in accounts',
        line.pool,
        ...useCells(line),
      ]);
      const shown = rows.length === 0 ? NO_CALLS : table(['ACCOUNT', 'PLAN', 'POOL', ...USE_HEADERS], rows);
      return [titleOf({ month, final }), shown];
    });
  if (!isExact) throw new Fault('unavailable', MAY_BE_TOO_SMALL);
}

const CSV = {
  ...fieldColumns('account', 'name', 'plan', 'state', 'month'),
  ...USE_CSV,
  ...fieldColumns('held_by_gateways'),
};
