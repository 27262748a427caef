import { Fault } from '@brand-data/runtime';
import type { Context } from '../../terminal/context.ts';
import { csv } from '../../text/csv.ts';
import { table } from '../../text/tables.ts';
import { STATE_NAME } from '../../usage/account-state.ts';
import { type AccountUse, readUsageOfAll } from '../../usage/usage-of-all.ts';
import { MAY_BE_TOO_SMALL, USE_HEADERS, useCells } from '../../usage/usage-text.ts';

/** Shows the use of every account, and of every ledger of metering, so that the sums are those of the ledgers. */
export async function showUsageOfAll(
  { connect, output }: Context,
  { month = '', csv: asCsv }: { month: string | undefined; csv: boolean },
): Promise<void> {
  const { month: shown, final, isExact, accounts } = await readUsageOfAll(connect(), month);
  if (asCsv) output.text(usageCsv(shown, accounts));
  else
    output.answer({ month: shown, final, complete: isExact, accounts: accounts.map(useToJson) }, () =>
      usageTable(`${shown}${final ? '' : ' (so far)'}`, accounts),
    );
  if (!isExact) throw new Fault('unavailable', MAY_BE_TOO_SMALL);
}

function useToJson({ id, account, pools }: AccountUse) {
  const { name = null, plan = null, state } = account ?? {};
  return { account: id, name, plan, state: state === undefined ? null : STATE_NAME[state], pools };
}

function usageCsv(month: string, uses: readonly AccountUse[]): string {
  const headers = ['account', 'name', 'plan', 'state', 'month', 'pool'];
  const figures = ['allowance', 'used', 'remaining', 'held_by_gateways'];
  const rows = uses.flatMap(({ id, account, pools }) =>
    pools.map((use) => [
      id,
      account?.name,
      account?.plan,
      account && STATE_NAME[account.state],
      month,
      use.pool,
      ...useCells(use),
    ]),
  );
  return csv([...headers, ...figures], rows);
}

function usageTable(title: string, uses: readonly AccountUse[]): string {
  const rows = uses.flatMap(({ id, account, pools }) =>
    pools.map((use) => [id, account?.plan ?? 'not in accounts', use.pool, ...useCells(use)]),
  );
  if (rows.length === 0) return `${title}\nThere are no calls in this month.`;
  return [title, table(['ACCOUNT', 'PLAN', 'POOL', ...USE_HEADERS], rows)].join('\n');
}
