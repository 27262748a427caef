import { type Html, html } from '@brand-data/runtime/html';
import type { Connection } from '../connection/connection.ts';
import { figure } from '../text/reports.ts';
import {
  type AccountUse,
  type AllowanceUse,
  MAY_BE_TOO_SMALL,
  type MonthOfAll,
  readLastCalls,
  readUsageOfAll,
  stateWord,
  useCells,
} from '../usage/allowance-use.ts';
import {
  accountUrl,
  HOME,
  htmlTable,
  monthAskedFor,
  select,
  selectMonth,
  shareCell,
  urlOf,
  usedShare,
  wholePage,
} from './layout.ts';

/** Metering answers the last calls of at most 100 accounts at once. */
const ROWS_ON_PAGE = 50;
const LONGEST_SEARCH = 100;

/** The use of one pool by one account. */
interface Row {
  account: AccountUse;
  use: AllowanceUse;
}

const SORTS = {
  used: ({ use }: Row) => use.used,
  share: ({ use }: Row) => usedShare(use),
  allowance: ({ use }: Row) => use.allowance,
  remaining: ({ use }: Row) => use.remaining,
};
type Sort = keyof typeof SORTS | 'account';

/** The part of a month's usage that is shown, and its order. */
interface View {
  month: string;
  search: string;
  plan: string;
  state: string;
  sort: Sort;
  page: number;
}

/** Returns the page of all accounts in a month. Rejects with a Fault. */
export async function allAccountsPage(
  connection: Connection,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<string> {
  const view = viewOf(query);
  const usage = await readUsageOfAll(connection, view.month, signal);
  const rows = rowsOf(usage, view);
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_ON_PAGE));
  const page = Math.min(view.page, pages);
  const shown = rows.slice((page - 1) * ROWS_ON_PAGE, page * ROWS_ON_PAGE);
  const accountIds = [...new Set(shown.map(({ account }) => account.id))];
  const lastCalls = await readLastCalls(connection, accountIds);
  return wholePage(
    `Usage in ${usage.month}${usage.final ? '' : ' (so far)'}`,
    html`${usage.isExact ? undefined : html`<p class="notice">${MAY_BE_TOO_SMALL}</p>`}
${filterForm(view, usage.accounts)}
${rows.length === 0 ? html`<p>No account has calls or an allowance here.</p>` : listTable(view, rows, shown, lastCalls)}
${pages > 1 ? pageLinks(view, page, pages) : undefined}`,
  );
}

function viewOf(query: URLSearchParams): View {
  const text = (name: string) => (query.get(name) ?? '').slice(0, LONGEST_SEARCH);
  const sort = text('sort');
  return {
    month: monthAskedFor(query),
    search: text('search'),
    plan: text('plan'),
    state: text('state'),
    sort: sort === 'account' || Object.hasOwn(SORTS, sort) ? (sort as Sort) : 'used',
    page: Math.max(1, Math.trunc(Number(query.get('page'))) || 1),
  };
}

function rowsOf({ accounts }: MonthOfAll, { search, plan, state, sort }: View): Row[] {
  const wanted = search.toLowerCase();
  const rows = accounts
    .filter(({ id, account }) => `${id}\n${account?.name ?? ''}`.toLowerCase().includes(wanted))
    .filter(({ account }) => plan === '' || account?.plan === plan)
    .filter(({ account }) => state === '' || stateOf(account) === state)
    .flatMap((account) => account.pools.map((use): Row => ({ account, use })));
  if (sort === 'account') return rows.toSorted((one, other) => (one.account.id < other.account.id ? -1 : 1));
  return rows.toSorted((one, other) => SORTS[sort](other) - SORTS[sort](one));
}

function listTable(
  view: View,
  rows: readonly Row[],
  shown: readonly Row[],
  lastCalls: ReadonlyMap<string, string>,
): Html {
  const sortedBy = (sort: Sort, name: string) => ({
    head: html`<a href="${urlOf(HOME, { ...view, sort, page: 1 })}">${name}</a>`,
    sorted:
      view.sort !== sort ? undefined : sort === 'account' ? ('ascending' as const) : ('descending' as const),
  });
  const columns = [
    sortedBy('account', 'Account'),
    ...['Name', 'Plan', 'State', 'Pool'],
    sortedBy('allowance', 'Allowance'),
    sortedBy('used', 'Used'),
    sortedBy('remaining', 'Remaining'),
    'Held by gateways',
    sortedBy('share', 'Share of allowance'),
    'Last call',
  ];
  const cells = shown.map(({ account: { id, account }, use }) => [
    html`<a href="${accountUrl(id, view.month)}">${id}</a>`,
    account?.name ?? '',
    account?.plan ?? 'not in accounts',
    stateOf(account),
    use.pool,
    ...useCells(use),
    shareCell(usedShare(use)),
    lastCalls.get(id) ?? 'none',
  ]);
  const sums = ['allowance', 'used', 'remaining', 'held_by_gateways'] as const;
  return htmlTable('Accounts', columns, cells, [
    `Sum of ${figure(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}`,
    ...Array(4).fill(''),
    ...sums.map((name) => rows.reduce((total, { use }) => total + use[name], 0)),
    ...Array(2).fill(''),
  ]);
}

function stateOf(account: AccountUse['account']): string {
  return account === undefined ? '' : stateWord(account.state);
}

function filterForm(view: View, accounts: readonly AccountUse[]): Html {
  const plans = new Set(accounts.flatMap(({ account }) => account?.plan ?? []));
  return html`<form action="${HOME}">
${selectMonth(view.month)}
${select('Plan', 'plan', ['', ...[...plans].sort()], view.plan)}
${select('State', 'state', ['', 'active', 'closed'], view.state)}
<label>Id or name contains<input name="search" value="${view.search}" maxlength="${LONGEST_SEARCH}"></label>
<input type="hidden" name="sort" value="${view.sort}">
<button>Show</button>
</form>`;
}

function pageLinks(view: View, page: number, pages: number): Html {
  const link = (to: number, text: string) =>
    to < 1 || to > pages ? undefined : html`<a href="${urlOf(HOME, { ...view, page: to })}">${text}</a>`;
  return html`<nav class="pages" aria-label="Pages">${link(page - 1, 'Page before')}<span>Page ${page} of ${pages}</span>${link(page + 1, 'Next page')}</nav>`;
}
