import { addMonths, dayOf, type UsageCell } from '@brand-data/contracts';
import type { AllowanceUse } from '../allowance-use.ts';
import { STATE_NAME } from '../commands/account-state.ts';
import { routeName } from '../commands/plan.ts';
import { isCurrent, MAY_BE_TOO_SMALL } from '../commands/usage-text.ts';
import { barChart } from './bar-chart.ts';
import { html, type Markup } from './html.ts';
import { shownNumber, shownShare } from './shown-number.ts';
import type { AccountRow, MonthOfAll, MonthOfOne } from './usage.ts';

/** The accounts on one page of the list. */
export const ACCOUNTS_ON_A_PAGE = 50;

/** A whole page. `operator`: who has signed in. */
export function page(title: string, body: Markup, operator?: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Brand Data Service</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header>
<a class="home" href="/">Brand Data Service: usage</a>
${
  operator === undefined
    ? undefined
    : html`<form method="post" action="/sign-out"><span class="muted">${operator}</span><button>Sign out</button></form>`
}
</header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text;
}

export function signInPage(problem?: string): string {
  return page(
    'Sign in',
    html`${problem === undefined ? undefined : html`<p class="error" role="alert">${problem}</p>`}
<form class="filter" method="post" action="/sign-in">
<label>Your operator credential
<input type="password" name="credential" required autocomplete="current-password" size="44"></label>
<button>Sign in</button>
</form>
<p class="muted">It begins with bdsop_. Whoever has the role all makes one with bds operator create.</p>`,
  );
}

export function messagePage(title: string, text: string, operator: string | undefined): string {
  return page(title, html`<p>${text}</p>\n<p><a href="/">All accounts</a></p>`, operator);
}

/** The accounts of a month. `from`: how many accounts are before those on the page. */
export function overviewPage(
  { rows, further, sums, isCut, isComplete }: MonthOfAll,
  { month, search, from, operator }: { month: string; search: string; from: number; operator: string },
): string {
  const linkTo = (at: number) => `/?${new URLSearchParams({ month, search, from: String(at) })}`;
  return page(
    `Usage in ${month}${isCurrent(month) ? ' so far' : ''}`,
    html`<form class="filter" method="get" action="/">
${monthField(month)}
<label>Id or name contains <input name="search" value="${search}"></label>
<button>Show</button>
</form>
${isComplete ? undefined : html`<p class="warning">${MAY_BE_TOO_SMALL}</p>`}
${isCut ? html`<p class="warning">There are more accounts than this page reads. bds usage --all shows all of them.</p>` : undefined}
${
  rows.length === 0
    ? html`<p>${search === '' ? 'There are no calls in this month.' : 'There is no such account.'}</p>`
    : accountTable(rows, month, sums)
}
<p>${from > 0 ? html`<a href="${linkTo(Math.max(0, from - ACCOUNTS_ON_A_PAGE))}">Accounts before</a> ` : undefined}
${further > 0 ? html`<a href="${linkTo(from + rows.length)}">${further} further accounts</a>` : undefined}</p>`,
    operator,
  );
}

function accountTable(rows: readonly AccountRow[], month: string, sums: MonthOfAll['sums']): Markup {
  return scrolling(
    `Accounts in ${month}`,
    html`<table>
<thead><tr><th scope="col">Account</th><th scope="col">Name</th><th scope="col">Plan</th><th scope="col">State</th><th scope="col">Pool</th>
${USE_HEADERS}</tr></thead>
<tbody>
${rows.flatMap(({ id, account, pools }) =>
  (pools.length === 0 ? [undefined] : pools).map(
    (use) => html`<tr><th scope="row"><a href="${accountLink(id, month)}">${id}</a></th>
<td>${account?.name ?? 'not in accounts'}</td><td>${account?.plan}</td><td>${account && STATE_NAME[account.state]}</td>
<td>${use?.pool}</td>${use ? useCells(use) : html`<td></td><td></td><td></td><td></td><td></td>`}</tr>`,
  ),
)}
</tbody>
${
  sums === undefined
    ? undefined
    : html`<tfoot>
${sums.map(
  ({ pool, used }) =>
    html`<tr><th scope="row" colspan="4">All accounts</th><td>${pool}</td><td></td><td class="number">${shownNumber(used)}</td><td></td><td></td><td></td></tr>`,
)}
</tfoot>`
}
</table>`,
  );
}

const USE_HEADERS = html`<th scope="col" class="number">Allowance</th><th scope="col" class="number">Used</th><th scope="col">Share used</th><th scope="col" class="number">Remaining</th><th scope="col" class="number">Held by gateways</th>`;

function useCells({ pool, allowance, used, remaining, held_by_gateways: held }: AllowanceUse): Markup {
  const share = shownShare(used, allowance);
  return html`<td class="number">${shownNumber(allowance)}</td><td class="number">${shownNumber(used)}</td>
<td><meter min="0" max="${Math.max(1, allowance)}" high="${0.8 * allowance}" value="${used}" aria-label="${pool}: ${share} used"></meter> ${share}</td>
<td class="number">${shownNumber(remaining)}</td><td class="number">${shownNumber(held)}</td>`;
}

/** One account in a month: its pools, its calls by day, key, route and status, and the months before. */
export function accountPage(
  { id, account, keys, pools, usage, months }: MonthOfOne,
  { month, operator }: { month: string; operator: string },
): string {
  const cells = usage.pools.flatMap((pool) => pool.cells);
  const labels = new Map(keys.map(({ id: keyId, label }) => [keyId, label]));
  const shown = account
    ? html`<p>${account.name}, plan ${account.plan}, ${STATE_NAME[account.state]}</p>`
    : html`<p class="warning">Accounts does not have this account, but metering has billed its calls.</p>`;
  return page(
    id,
    html`${shown}
<form class="filter" method="get" action="${accountLink(id)}">${monthField(month)}<button>Show</button></form>
${usage.complete ? undefined : html`<p class="warning">${MAY_BE_TOO_SMALL}</p>`}
${
  pools.length === 0
    ? html`<p>There are no calls in ${month}, and the plan has no pool.</p>`
    : scrolling(
        `Pools in ${month}`,
        html`<table><thead><tr><th scope="col">Pool</th>${USE_HEADERS}</tr></thead>
<tbody>${pools.map((use) => html`<tr><th scope="row">${use.pool}</th>${useCells(use)}</tr>`)}</tbody></table>`,
      )
}
<h2>By day</h2>
${byDay(month, cells)}
<h2>By key</h2>
${countTable('Calls by key', ['Key', 'Label'], cells, ({ keyId }) => [keyId, labels.get(keyId) ?? ''])}
<h2>By route and status</h2>
${countTable('Calls by route and status', ['Route', 'Status'], cells, ({ route, status }) => [
  routeName(route),
  status === 0 ? 'unknown' : String(status),
])}
<h2>By month</h2>
${byMonth(id, months)}
<p><a href="/?month=${month}">All accounts in ${month}</a></p>`,
    operator,
  );
}

function byDay(month: string, cells: readonly UsageCell[]): Markup {
  const counts = new Map<string, number>();
  for (const { day, count } of cells) counts.set(day, (counts.get(day) ?? 0) + count);
  const bars = daysOf(month).map((day) => {
    const value = counts.get(day) ?? 0;
    return { label: String(Number(day.slice(-2))), title: `${day}: ${shownNumber(value)} calls`, value };
  });
  const total = bars.reduce((sum, { value }) => sum + value, 0);
  return html`${scrolling(`Chart of the calls by day in ${month}`, barChart(`${shownNumber(total)} calls by day in ${month}; the table below has the figures`, bars))}
${countTable('Calls by day', ['Day'], cells, ({ day }) => [day])}`;
}

function byMonth(id: string, months: MonthOfOne['months']): Markup {
  const bars = months.map(({ month, used }) => ({
    ...{ label: month, title: `${month}: ${shownNumber(used)} calls`, value: used },
  }));
  return html`${scrolling('Chart of the calls by month', barChart('Calls by month; the table below has the figures', bars))}
${scrolling(
  'Calls by month',
  html`<table><thead><tr><th scope="col">Month</th><th scope="col" class="number">Used</th></tr></thead>
<tbody>${months.map(
    ({ month, used }) =>
      html`<tr><th scope="row"><a href="${accountLink(id, month)}">${month}</a></th><td class="number">${shownNumber(used)}</td></tr>`,
  )}</tbody></table>`,
)}`;
}

/** The sums of cells with the same values in all columns, in the order of these values. */
function countTable(
  label: string,
  columns: readonly string[],
  cells: readonly UsageCell[],
  valuesOf: (cell: UsageCell) => string[],
): Markup {
  if (cells.length === 0) return html`<p class="muted">No calls.</p>`;
  const same = Map.groupBy(cells, (cell) => JSON.stringify(valuesOf(cell)));
  const rows = [...same]
    .map(([values, own]) => ({
      values: JSON.parse(values) as string[],
      count: own.reduce((sum, { count }) => sum + count, 0),
    }))
    .sort((a, b) => (a.values.join() < b.values.join() ? -1 : 1));
  return scrolling(
    label,
    html`<table><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}<th scope="col" class="number">Calls</th></tr></thead>
<tbody>${rows.map(
      ({ values, count }) =>
        html`<tr>${values.map((value) => html`<td>${value}</td>`)}<td class="number">${shownNumber(count)}</td></tr>`,
    )}</tbody></table>`,
  );
}

/** On narrow screens, wide content scrolls by itself. The keyboard can scroll it too. */
function scrolling(label: string, content: Markup): Markup {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">${content}</div>`;
}

function monthField(month: string): Markup {
  return html`<label>Month <input type="month" name="month" value="${month}" pattern="[0-9]{4}-[0-9]{2}" required></label>`;
}

function accountLink(id: string, month?: string): string {
  return `/accounts/${encodeURIComponent(id)}${month === undefined ? '' : `?month=${month}`}`;
}

function daysOf(month: string): string[] {
  const days: string[] = [];
  const end = Date.parse(`${addMonths(month, 1)}-01`);
  for (let at = Date.parse(`${month}-01`); at < end; at += 86_400_000) days.push(dayOf(at));
  return days;
}
