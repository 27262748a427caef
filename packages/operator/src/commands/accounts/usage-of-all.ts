import { Fault } from '@brand-data/runtime';
import type { Context } from '../../terminal/context.ts';
import { csvOf } from '../../text/csv.ts';
import { type Columns, table } from '../../text/tables.ts';
import { STATE_NAME } from '../../usage/account-state.ts';
import type { AllowanceUse } from '../../usage/allowance-use.ts';
import { type AccountUse, readUsageOfAll } from '../../usage/usage-of-all.ts';
import { MAY_BE_TOO_SMALL, USE_HEADERS, useCells } from '../../usage/usage-text.ts';

/** Shows the use of every account, and of every ledger of metering, so that the sums are those of the ledgers. */
export async function showUsageOfAll(
  { connect, output }: Context,
  { month = '', csv: asCsv }: { month: string | undefined; csv: boolean },
): Promise<void> {
  const { month: shown, final, isExact, accounts } = await readUsageOfAll(connect(), month);
  const lines = accounts.flatMap((each) => each.pools.map((use): Line => ({ ...each, use, month: shown })));
  if (asCsv) output.text(csvOf(CSV, lines));
  else
    output.answer({ month: shown, final, complete: isExact, accounts: accounts.map(useToJson) }, () =>
      usageTable(`${shown}${final ? '' : ' (so far)'}`, lines),
    );
  if (!isExact) throw new Fault('unavailable', MAY_BE_TOO_SMALL);
}

function useToJson({ id, account, pools }: AccountUse) {
  const { name = null, plan = null, state } = account ?? {};
  return { account: id, name, plan, state: state === undefined ? null : STATE_NAME[state], pools };
}

interface Line extends AccountUse {
  month: string;
  use: AllowanceUse;
}

const CSV: Columns<Line> = {
  account: ({ id }) => id,
  name: ({ account }) => account?.name,
  plan: ({ account }) => account?.plan,
  state: ({ account }) => account && STATE_NAME[account.state],
  month: ({ month }) => month,
  pool: ({ use }) => use.pool,
  allowance: ({ use }) => use.allowance,
  used: ({ use }) => use.used,
  remaining: ({ use }) => use.remaining,
  held_by_gateways: ({ use }) => use.held_by_gateways,
};

function usageTable(title: string, lines: readonly Line[]): string {
  if (lines.length === 0) return `${title}\nThere are no calls in this month.`;
  const rows = lines.map(({ id, account, use }) => [
    id,
    account?.plan ?? 'not in accounts',
    use.pool,
    ...useCells(use),
  ]);
  return [title, table(['ACCOUNT', 'PLAN', 'POOL', ...USE_HEADERS], rows)].join('\n');
}
