import { type Account, AccountState, type Plan } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { Command, Option } from '@commander-js/extra-typings';
import { readPages } from '../../connection/reading.ts';
import { readCount } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { type Columns, csvOf, fieldColumns, listTable } from '../../text/tables.ts';
import { valueNamed } from '../../text/words.ts';
import {
  type AllowanceUse,
  allowanceUse,
  plansByName,
  readLastCalls,
  stateWord,
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
      new Option('--state <state>', 'only accounts in this state (default: active and closed ones)').choices([
        'active',
        'closed',
        'deleted',
      ] as const),
    )
    .option('--search <text>', 'only accounts whose id or name contains this text')
    .option('--limit <count>', 'list at most this many accounts (default: 100; with --csv: all)', readCount)
    .option('--after <account>', 'begin after the account with this id')
    .option('--csv', 'print CSV, one line for each account and pool')
    .action(async ({ plan = '', state, search = '', csv, limit = csv ? undefined : 100, after }) => {
      const plans = await plansByName({ accounts });
      if (plan !== '' && !plans.has(plan))
        throw new Fault('not_found', `there is no plan ${JSON.stringify(plan)}: bds plan list shows all`);
      const filters = {
        plan,
        text: search,
        state: valueNamed(AccountState, state) ?? AccountState.UNSPECIFIED,
      };
      const pages = { limit, after, pageSize: ACCOUNTS_IN_PAGE };
      const readPage = async (page: { limit: number; after: string }) => {
        const answer = await accounts().call((client) => client.listAccounts, { ...filters, ...page });
        return { listed: await withUse(metering, answer.accounts, plans), next: answer.next };
      };
      const { items, next } = await readPages('listed', readPage, pages);
      const documents = items.map(listedToJson);
      const lines = documents.flatMap(linesOf);
      if (csv) return output.text(csvOf(CSV, lines));
      const more = next && `\nThere are further accounts: raise --limit, or add --after ${next}.`;
      output.answer(
        { accounts: documents, next: next || null },
        () => `${listTable(TABLE, lines, 'There is no such account.')}${more}`,
      );
    });
}

async function withUse(
  metering: Context['metering'],
  accounts: readonly Account[],
  plans: ReadonlyMap<string, Plan>,
): Promise<Listed[]> {
  if (accounts.length === 0) return [];
  const accountIds = accounts.map(({ id }) => id);
  const [ledgers, lastCalls] = await Promise.all([
    readPages('ledgers', (page) =>
      metering().call((client) => client.listUsage, { month: '', accountIds, ...page }),
    ),
    readLastCalls({ metering }, accountIds),
  ]);
  const ledgersOf = Map.groupBy(ledgers.items, ({ accountId }) => accountId);
  return accounts.map((account) => ({
    account,
    pools: allowanceUse(plans.get(account.plan) ?? { pools: [] }, ledgersOf.get(account.id) ?? []),
    lastCall: lastCalls.get(account.id),
  }));
}

function listedToJson({ account: { id, name, plan, state }, pools, lastCall }: Listed) {
  return { id, name, plan, state: stateWord(state), pools, last_call: lastCall ?? null };
}

/** Returns a line for each pool of the account. An account whose plan has no pool has a line too. */
function linesOf({ id, pools, ...account }: ReturnType<typeof listedToJson>) {
  const uses: Partial<AllowanceUse>[] = pools.length === 0 ? [{}] : pools;
  return uses.map((use) => ({ account: id, ...account, ...use }));
}

const CSV = { ...fieldColumns('account', 'name', 'plan', 'state', 'last_call'), ...USE_CSV };

const TABLE: Columns<ReturnType<typeof linesOf>[number]> = {
  ACCOUNT: ({ account }) => account,
  NAME: ({ name }) => name,
  PLAN: ({ plan }) => plan,
  STATE: ({ state }) => state,
  POOL: ({ pool }) => pool,
  USED: ({ used, allowance }) => (used === undefined ? undefined : `${used} of ${allowance}`),
  'LAST CALL': ({ last_call }) => last_call ?? 'none',
};
