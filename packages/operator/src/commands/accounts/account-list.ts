import { type Account, AccountState, type LedgerUsage } from '@brand-data/contracts';
import { Command, Option } from 'commander';
import { pages } from '../../connection/pages.ts';
import { readCount } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { csv } from '../../text/csv.ts';
import { table } from '../../text/tables.ts';
import { STATE_NAME } from '../../usage/account-state.ts';
import { type AllowanceUse, allowanceUse } from '../../usage/allowance-use.ts';
import { plansByName } from '../../usage/plans.ts';

/** Metering answers about at most this many accounts at once. */
const ACCOUNTS_IN_PAGE = 100;

interface ListOptions {
  plan?: string;
  state?: 'active' | 'closed';
  search?: string;
  limit?: number;
  after?: string;
  csv?: boolean;
}

interface Listed {
  account: Account;
  pools: AllowanceUse[];
  lastCall: string | undefined;
}

export function accountListCommand({ connect, output }: Context): Command {
  return new Command('list')
    .description(
      'List accounts with the use of their allowances in the current month, and the day of their last call',
    )
    .option('--plan <plan>', 'only accounts on this plan')
    .addOption(new Option('--state <state>', 'only accounts in this state').choices(['active', 'closed']))
    .option('--search <text>', 'only accounts whose id or name contains this text')
    .option('--limit <count>', 'list at most this many accounts (default: 100; with --csv: all)', readCount)
    .option('--after <account>', 'begin after the account with this id')
    .option('--csv', 'print CSV, one line for each account and pool')
    .action(async ({ plan = '', state, search = '', csv: asCsv = false, ...options }: ListOptions) => {
      const connection = connect();
      const { accounts, metering } = connection;
      const limit = options.limit ?? (asCsv ? Number.POSITIVE_INFINITY : 100);
      const plans = await plansByName(connection);
      const filters = { plan, text: search, state: state ? STATE[state] : AccountState.UNSPECIFIED };
      const listed: Listed[] = [];
      let after = options.after ?? '';
      do {
        const page = { limit: Math.min(limit - listed.length, ACCOUNTS_IN_PAGE), after };
        const answer = await accounts().call((client) => client.listAccounts, { ...filters, ...page });
        const accountIds = answer.accounts.map(({ id }) => id);
        const [ledgers, lastCalls] =
          accountIds.length === 0
            ? [[], []]
            : await Promise.all([ledgersOf(metering(), accountIds), lastCallsOf(metering(), accountIds)]);
        const ledgersBy = Map.groupBy(ledgers, ({ accountId }) => accountId);
        const lastBy = new Map(lastCalls.map(({ accountId, day }) => [accountId, day]));
        for (const account of answer.accounts)
          listed.push({
            account,
            pools: allowanceUse(plans.get(account.plan) ?? { pools: [] }, ledgersBy.get(account.id) ?? []),
            lastCall: lastBy.get(account.id),
          });
        after = answer.next;
      } while (after !== '' && listed.length < limit);

      if (asCsv) output.text(accountCsv(listed));
      else
        output.answer({ accounts: listed.map(listedToJson), next: after || null }, () =>
          listed.length === 0 ? 'There is no such account.' : accountTable(listed, after),
        );
    });
}

const STATE = { active: AccountState.ACTIVE, closed: AccountState.CLOSED } as const;

type Metering = ReturnType<ReturnType<Context['connect']>['metering']>;

async function ledgersOf(metering: Metering, accountIds: readonly string[]): Promise<LedgerUsage[]> {
  const ledgers: LedgerUsage[] = [];
  const read = async (after: string) => {
    const request = { month: '', accountIds: [...accountIds], limit: 0, after };
    const page = await metering.call((client) => client.listUsage, request);
    return { items: page.ledgers, next: page.next };
  };
  for await (const page of pages(read)) ledgers.push(...page);
  return ledgers;
}

async function lastCallsOf(metering: Metering, accountIds: readonly string[]) {
  const answer = await metering.call((client) => client.listLastCalls, { accountIds: [...accountIds] });
  return answer.lastCalls;
}

function listedToJson({ account: { id, name, plan, state }, pools, lastCall }: Listed) {
  return { id, name, plan, state: STATE_NAME[state], pools, last_call: lastCall ?? null };
}

function accountCsv(listed: readonly Listed[]): string {
  const headers = ['account', 'name', 'plan', 'state', 'last_call', 'pool', 'allowance', 'used', 'remaining'];
  const rows = listed.flatMap(({ account: { id, name, plan, state }, pools, lastCall }) =>
    rowsOf(pools).map((use) => [
      id,
      name,
      plan,
      STATE_NAME[state],
      lastCall,
      use?.pool,
      use?.allowance,
      use?.used,
      use?.remaining,
    ]),
  );
  return csv(headers, rows);
}

function accountTable(listed: readonly Listed[], after: string): string {
  const rows = listed.flatMap(({ account: { id, name, plan, state }, pools, lastCall = 'none' }) =>
    rowsOf(pools).map((use) => [
      id,
      name,
      plan,
      STATE_NAME[state],
      use?.pool,
      use && `${use.used} of ${use.allowance}`,
      lastCall,
    ]),
  );
  const shown = table(['ACCOUNT', 'NAME', 'PLAN', 'STATE', 'POOL', 'USED', 'LAST CALL'], rows);
  return after === ''
    ? shown
    : `${shown}\nThere are further accounts: raise --limit, or add --after ${after}.`;
}

/** An account whose plan has no pool has a line too. */
function rowsOf(pools: readonly AllowanceUse[]): readonly (AllowanceUse | undefined)[] {
  return pools.length === 0 ? [undefined] : pools;
}
