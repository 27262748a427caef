import { isMonth, type MonthUsage, type UsageCell } from '@brand-data/contracts';
import { Command, InvalidArgumentError } from 'commander';
import type { Context } from '../context.ts';
import { table } from '../output.ts';
import { routeName } from './plan.ts';

export function usageCommand({ connect, output }: Context): Command {
  return new Command('usage')
    .description('Show how many calls of an account are billed in a month')
    .argument('<account>', "the account's id")
    .option('--month <YYYY-MM>', 'show this month, UTC (default: the current month)', readMonth)
    .action(async (accountId: string, { month = '' }: { month?: string }) => {
      const { usage } = await connect()
        .metering()
        .call((client) => client.getUsage, { accountId, month });
      if (!usage) throw new Error('metering answered without usage');
      output.answer(usageToJson(accountId, usage), () => usageText(usage));
    });
}

export function usageToJson(account: string, { month, final, complete, pools }: MonthUsage) {
  return {
    ...{ account, month, final, complete },
    pools: pools.map(({ cells, ...pool }) => ({ ...pool, breakdown: cells.map(cellToJson) })),
  };
}

export function usageText({ month, final, complete, pools }: MonthUsage): string {
  const warnings = complete ? [] : [MAY_BE_TOO_SMALL];
  if (pools.length === 0) return [`No calls in ${month}.`, ...warnings].join('\n');
  const rows = pools.map((pool) => [pool.pool, pool.limit, pool.used, pool.remaining, pool.out]);
  const cells = pools.flatMap((pool) => sumOverDays(pool.cells));
  return [
    `${month}${final ? '' : ' (so far)'}`,
    ...warnings,
    table(['POOL', 'ALLOWANCE', 'USED', 'REMAINING', 'OUT'], rows),
    ...(cells.length === 0 ? [] : ['', table(['KEY', 'ROUTE', 'STATUS', 'CALLS'], cells)]),
  ].join('\n');
}

const MAY_BE_TOO_SMALL =
  'Metering could not read all usage, so these figures may be too small. No usage is lost: repeat the command when NATS and metering work again.';

function readMonth(value: string): string {
  if (!isMonth(value)) throw new InvalidArgumentError('Write YYYY-MM.');
  return value;
}

/** A billed call whose answer is no longer stored has the status 0. */
function cellToJson({ keyId, route, status, day, count }: UsageCell) {
  return { key: keyId, route: routeName(route), status: status || null, day, count };
}

function sumOverDays(cells: readonly UsageCell[]): [string, string, string, number][] {
  const same = Map.groupBy(cells, ({ keyId, route, status }) => JSON.stringify([keyId, route, status]));
  return [...same.values()].flatMap((group): [string, string, string, number][] => {
    const [first] = group;
    if (first === undefined) return [];
    const calls = group.reduce((total, { count }) => total + count, 0);
    return [[first.keyId, routeName(first.route), String(first.status || 'unknown'), calls]];
  });
}
