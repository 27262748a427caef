import type { UsageCell } from '@brand-data/contracts';
import { Command, InvalidArgumentError } from 'commander';
import type { Context } from '../context.ts';
import { table } from '../output.ts';
import { routeName } from './plan.ts';

export function usageCommand({ connect, output }: Context): Command {
  return new Command('usage')
    .description('the calls of an account in a month, exactly')
    .argument('<account>')
    .option('--month <YYYY-MM>', 'the month, UTC (default: this one)', readMonth)
    .action(async (accountId: string, { month = '' }: { month?: string }) => {
      const { usage } = await connect()
        .metering()
        .call((client) => client.getUsage, { accountId, month });
      if (!usage) throw new Error('metering answered without usage');
      const document = {
        account: accountId,
        month: usage.month,
        final: usage.final,
        pools: usage.pools.map(({ cells, ...pool }) => ({ ...pool, breakdown: cells.map(cellToJson) })),
      };
      output.answer(document, () => {
        if (usage.pools.length === 0) return `No calls in ${usage.month}.`;
        const pools = usage.pools.map((pool) => [pool.pool, pool.limit, pool.used, pool.remaining, pool.out]);
        const cells = usage.pools.flatMap((pool) => sumOverDays(pool.cells));
        return [
          `${usage.month}${usage.final ? '' : ' (so far)'}`,
          table(['POOL', 'ALLOWANCE', 'USED', 'REMAINING', 'OUT'], pools),
          ...(cells.length === 0 ? [] : ['', table(['KEY', 'ROUTE', 'STATUS', 'CALLS'], cells)]),
        ].join('\n');
      });
    });
}

function readMonth(value: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(value)) throw new InvalidArgumentError('write YYYY-MM.');
  return value;
}

function cellToJson({ keyId, route, status, day, count }: UsageCell) {
  return { key: keyId, route: routeName(route), status, day, count };
}

function sumOverDays(cells: readonly UsageCell[]): [string, string, string, number][] {
  const same = Map.groupBy(cells, ({ keyId, route, status }) => JSON.stringify([keyId, route, status]));
  return [...same.values()].flatMap((group): [string, string, string, number][] => {
    const [first] = group;
    if (first === undefined) return [];
    const calls = group.reduce((total, { count }) => total + count, 0);
    return [[first.keyId, routeName(first.route), String(first.status), calls]];
  });
}
