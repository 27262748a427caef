import { type Account, AccountState, type LedgerUsage } from '@brand-data/contracts';
import type { Connection } from '../connection/connection.ts';
import { readPages } from '../connection/pages.ts';
import { type AllowanceUse, allowanceUse } from './allowance-use.ts';
import { plansByName } from './plans.ts';
import { isCurrent } from './usage-text.ts';

const ACCOUNTS_IN_PAGE = 500;

export interface AccountUse {
  id: string;
  /** Absent: accounts does not have the account that metering has billed, for example after its backup was restored. */
  account: Account | undefined;
  pools: AllowanceUse[];
}

/** The use of all accounts in a month. */
export interface MonthOfAll {
  /** YYYY-MM. */
  month: string;
  /** The figures will not change any more. */
  final: boolean;
  /** False: the figures may be too small. */
  isExact: boolean;
  accounts: AccountUse[];
}

/**
 * Reads the use of every account, and of every ledger of metering, so that the sums are those of the ledgers.
 *
 * @param month YYYY-MM; empty: the current month
 * @param signal if it is aborted, no further page is read and this rejects with the signal's reason
 */
export async function readUsageOfAll(
  connection: Connection,
  month: string,
  signal?: AbortSignal,
): Promise<MonthOfAll> {
  const { accounts, metering } = connection;
  let about = { month, final: true, isExact: true };
  const ledgers = await readPages<LedgerUsage>({}, async ({ after }) => {
    signal?.throwIfAborted();
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
  const plans = await plansByName(connection);
  const all = await readPages<Account>({ pageSize: ACCOUNTS_IN_PAGE }, async (page) => {
    signal?.throwIfAborted();
    const request = { plan: '', state: AccountState.UNSPECIFIED, text: '', ...page };
    const answer = await accounts().call((client) => client.listAccounts, request);
    return { items: answer.accounts, next: answer.next };
  });
  const ledgersOf = Map.groupBy(ledgers.items, ({ accountId }) => accountId);
  const planFor = (account: Account) => (isCurrent(about.month) ? plans.get(account.plan) : undefined);
  const uses = all.items.map((account): AccountUse => {
    const pools = allowanceUse(planFor(account), ledgersOf.get(account.id) ?? []);
    ledgersOf.delete(account.id);
    return { id: account.id, account, pools };
  });
  for (const [id, rest] of ledgersOf)
    uses.push({ id, account: undefined, pools: allowanceUse(undefined, rest) });
  return { ...about, accounts: uses };
}
