import { type Account, AccountState, type LedgerUsage } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { type AllowanceUse, allowanceUse } from '../allowance-use.ts';
import type { Context } from '../context.ts';
import { csv } from '../csv.ts';
import { table } from '../output.ts';
import { pages } from '../pages.ts';
import { plansByName } from '../plans.ts';
import { STATE_NAME } from './account-state.ts';
import { isCurrent, MAY_BE_TOO_SMALL, USE_HEADERS, useCells } from './usage-text.ts';

const ACCOUNTS_IN_PAGE = 500;

interface AccountUse {
  id: string;
  /** Absent: accounts does not have the account that metering has billed, for example after its backup was restored. */
  account: Account | undefined;
  pools: AllowanceUse[];
}

/** Shows the use of every account, and of every ledger of metering, so that the sums are those of the ledgers. */
export async function showUsageOfAll(
  { connect, output }: Context,
  { month = '', csv: asCsv }: { month: string | undefined; csv: boolean },
): Promise<void> {
  const connection = connect();
  const { accounts, metering } = connection;
  let about = { month, final: true, isExact: true };
  const ledgers = new Map<string, LedgerUsage[]>();
  const ledgerPages = pages(async (after) => {
    // All pages are of the month of the first one, also if the month ends meanwhile.
    const request = { month: about.month, accountIds: [], limit: 0, after };
    const page = await metering().call((client) => client.listUsage, request);
    const { final, complete, next } = page;
    about = {
      month: page.month,
      final: about.final && final,
      isExact: about.isExact && (final || complete),
    };
    return { items: page.ledgers, next };
  });
  for await (const page of ledgerPages)
    for (const ledger of page)
      ledgers.set(ledger.accountId, [...(ledgers.get(ledger.accountId) ?? []), ledger]);

  const plans = await plansByName(connection);
  const planFor = (account: Account | undefined) =>
    account && isCurrent(about.month) ? plans.get(account.plan) : undefined;
  const uses: AccountUse[] = [];
  const accountPages = pages(async (after) => {
    const filters = { plan: '', state: AccountState.UNSPECIFIED, text: '' };
    const page = await accounts().call((client) => client.listAccounts, {
      ...{ ...filters, limit: ACCOUNTS_IN_PAGE, after },
    });
    return { items: page.accounts, next: page.next };
  });
  for await (const page of accountPages)
    for (const account of page) {
      const { id } = account;
      uses.push({ id, account, pools: allowanceUse(planFor(account), ledgers.get(id) ?? []) });
      ledgers.delete(id);
    }
  for (const [id, rest] of ledgers)
    uses.push({ id, account: undefined, pools: allowanceUse(undefined, rest) });

  const { month: shown, final, isExact } = about;
  if (asCsv) output.text(usageCsv(shown, uses));
  else
    output.answer({ month: shown, final, complete: isExact, accounts: uses.map(useToJson) }, () =>
      usageTable(`${shown}${final ? '' : ' (so far)'}`, uses),
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
      ...[id, account?.name, account?.plan, account && STATE_NAME[account.state], month, use.pool],
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
