import { type Account, AccountState, type LedgerUsage, type Plan } from '@brand-data/contracts';
import { Command, Option } from '@commander-js/extra-typings';
import { readPages } from '../../connection/reading.ts';
import { readCount } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { type Columns, csvOf, listTable } from '../../text/tables.ts';
import {
  ACCOUNT_CSV,
  type AllowanceUse,
  allowanceUse,
  plansByName,
  STATE_NAME,
  USE_CSV,
} from '../../usage/allowance-use.ts';

/** Metering answers about at most this many accounts at once. */
const ACCOUNTS_IN_PAGE = 100;

interface Listed {
  account: Account;
  pools: AllowanceUse[];
  lastCall: string | undefined;
}

export function accountListCommand({ accounts, metering, output }: Context) {
  return new Command('list')
    .description(
      'List accounts with the use of their allowances in the current month, and the day of their last call',
    )
    .option('--plan <plan>', 'only accounts on this plan')
    .addOption(
      new Option('--state <state>', 'only accounts in this state').choices(['active', 'closed'] as const),
    )
    .option('--search <text>', 'only accounts whose id or name contains this text')
    .option('--limit <count>', 'list at most this many accounts (default: 100; with --csv: all)', readCount)
    .option('--after <account>', 'begin after the account with this id')
    .option('--csv', 'print CSV, one line for each account and pool')
    .action(async ({ plan = '', state, search = '', csv, limit = csv ? undefined : 100, after }) => {
      const plans = await plansByName({ accounts });
      const filters = { plan, text: search, state: STATE[state ?? 'any'] };
      const pages = { limit, after, pageSize: ACCOUNTS_IN_PAGE };
      const { items, next } = await readPages<Listed>(pages, async (page) => {
        const answer = await accounts().call((client) => client.listAccounts, { ...filters, ...page });
        return { items: await withUse(metering, answer.accounts, plans), next: answer.next };
      });
      const uses = items.flatMap((each) =>
        (each.pools.length === 0 ? [undefined] : each.pools).map((use): Use => ({ ...each, use })),
      );
      if (csv) return output.text(csvOf(CSV, uses));
      const more = next && `\nThere are further accounts: raise --limit, or add --after ${next}.`;
      output.answer(
        { accounts: items.map(listedToJson), next: next || null },
        () => `${listTable(TABLE, uses, 'There is no such account.')}${more}`,
      );
    });
}

const STATE = { any: AccountState.UNSPECIFIED, active: AccountState.ACTIVE, closed: AccountState.CLOSED };

async function withUse(
  metering: Context['metering'],
  accounts: readonly Account[],
  plans: ReadonlyMap<string, Plan>,
): Promise<Listed[]> {
  if (accounts.length === 0) return [];
  const accountIds = accounts.map(({ id }) => id);
  const [ledgers, { lastCalls }] = await Promise.all([
    readPages<LedgerUsage>({}, async (page) => {
      const request = { month: '', accountIds, ...page };
      const answer = await metering().call((client) => client.listUsage, request);
      return { items: answer.ledgers, next: answer.next };
    }),
    metering().call((client) => client.listLastCalls, { accountIds }),
  ]);
  const ledgersOf = Map.groupBy(ledgers.items, ({ accountId }) => accountId);
  const lastOf = new Map(lastCalls.map(({ accountId, day }) => [accountId, day]));
  return accounts.map((account) => ({
    account,
    pools: allowanceUse(plans.get(account.plan) ?? { pools: [] }, ledgersOf.get(account.id) ?? []),
    lastCall: lastOf.get(account.id),
  }));
}

function listedToJson({ account: { id, name, plan, state }, pools, lastCall }: Listed) {
  return { id, name, plan, state: STATE_NAME[state], pools, last_call: lastCall ?? null };
}

/** A line of the list. An account whose plan has no pool has a line too. */
interface Use extends Listed {
  use: AllowanceUse | undefined;
}

const CSV: Columns<Use> = {
  account: ({ account }) => account.id,
  ...ACCOUNT_CSV,
  last_call: ({ lastCall }) => lastCall,
  ...USE_CSV,
};

const TABLE: Columns<Use> = {
  ACCOUNT: ({ account }) => account.id,
  NAME: ({ account }) => account.name,
  PLAN: ({ account }) => account.plan,
  STATE: ({ account }) => STATE_NAME[account.state],
  POOL: ({ use }) => use?.pool,
  USED: ({ use }) => use && `${use.used} of ${use.allowance}`,
  'LAST CALL': ({ lastCall = 'none' }) => lastCall,
};
