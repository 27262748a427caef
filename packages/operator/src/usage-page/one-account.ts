import {
  addMonths,
  type Key,
  type LedgerUsage,
  type MonthUsage,
  type UsageCell,
} from '@brand-data/contracts';
import { type Html, html } from '@brand-data/runtime/html';
import type { Connection } from '../connection/connection.ts';
import {
  type AllowanceUse,
  MAY_BE_TOO_SMALL,
  readUsageOf,
  routeWord,
  stateWord,
  useCells,
} from '../usage/allowance-use.ts';
import { barChart } from './charts.ts';
import {
  accountUrl,
  htmlTable,
  monthAskedFor,
  selectMonth,
  shareCell,
  usedShare,
  wholePage,
} from './layout.ts';

/** The chart of months ends with the month of the page. */
const MONTHS_IN_CHART = 12;

/**
 * Returns the page of one account in a month. Rejects with a Fault, which is `not_found` if accounts does not know the account.
 */
export async function oneAccountPage(
  connection: Connection,
  id: string,
  query: URLSearchParams,
): Promise<string> {
  const month = monthAskedFor(query);
  // Metering is asked only about an account that exists.
  const { account, keys, usage, uses } = await readUsageOf(connection, id, month);
  const months = await readMonths(connection, id, month);
  const cells = usage.pools.flatMap((pool) => pool.cells);
  return wholePage(
    account.name || id,
    html`<p class="muted">${id}, ${account.plan && `plan ${account.plan}, `}${stateWord(account.state)}</p>
<form>${selectMonth(month)}<button>Show</button></form>
${usage.complete ? undefined : html`<p class="notice">${MAY_BE_TOO_SMALL}</p>`}
${allowances(usage, uses)}
${cells.length === 0 ? undefined : breakdown(month, cells, keys)}
${monthsBefore(id, months)}`,
  );
}

type MonthSum = Awaited<ReturnType<typeof readMonths>>[number];

async function readMonths({ metering }: Connection, id: string, last: string) {
  return Promise.all(
    Array.from({ length: MONTHS_IN_CHART }, async (_, place) => {
      const month = addMonths(last, place - MONTHS_IN_CHART + 1);
      const request = { month, accountIds: [id], limit: 0, after: '' };
      const { ledgers } = await metering().call((client) => client.listUsage, request);
      return { month, allowance: sum(ledgers, 'allowance'), used: sum(ledgers, 'used') };
    }),
  );
}

function sum(ledgers: readonly LedgerUsage[], field: 'allowance' | 'used'): number {
  return ledgers.reduce((total, ledger) => total + ledger[field], 0);
}

function allowances({ month, final }: MonthUsage, uses: readonly AllowanceUse[]): Html {
  const columns = ['Pool', 'Allowance', 'Used', 'Remaining', 'Held by gateways', 'Share of allowance'];
  const rows = uses.map((use) => [use.pool, ...useCells(use), shareCell(usedShare(use))]);
  return html`<h2>${month}${final ? '' : ' (so far)'}</h2>
${uses.length === 0 ? html`<p>There are no calls in this month.</p>` : htmlTable('Allowances', columns, rows)}`;
}

function breakdown(month: string, cells: readonly UsageCell[], keys: readonly Key[]): Html {
  const byDay = countsBy(cells, ({ day }) => day);
  const labels = new Map(keys.map(({ id, label }) => [id, label]));
  const byKey = countsBy(cells, ({ keyId }) => keyId);
  const all = cells.reduce((total, { count }) => total + count, 0);
  const byAnswer = countsBy(cells, ({ route, status }) => `${routeWord(route)} ${status || 'unknown'}`);
  const keyRows = [...byKey]
    .sort(([, one], [, other]) => other - one)
    .map(([id, count]) => [id, labels.get(id) ?? '', count, shareCell(count / all)]);
  return html`<h2>Calls by day</h2>
${barChart(
  `Calls by day in ${month}`,
  daysOf(month).map((day) => ({ name: day.slice(8), value: byDay.get(day) ?? 0 })),
)}
${htmlTable('Calls by day', ['Day', 'Calls'], byName(byDay))}
<h2>Calls by key</h2>
${htmlTable('Calls by key', ['Key', 'Label', 'Calls', 'Share of calls'], keyRows)}
<h2>Calls by route and status</h2>
${htmlTable('Calls by route and status', ['Route and status', 'Calls'], byName(byAnswer))}`;
}

function monthsBefore(id: string, months: readonly MonthSum[]): Html {
  const rows = months
    .toReversed()
    .map(({ month, allowance, used }) => [
      html`<a href="${accountUrl(id, month)}">${month}</a>`,
      allowance,
      used,
    ]);
  return html`<h2>Calls by month</h2>
${barChart(
  'Calls by month',
  months.map(({ month, used }) => ({ name: month, value: used })),
)}
${htmlTable('Calls by month', ['Month', 'Allowance in metering', 'Used'], rows)}`;
}

function countsBy(cells: readonly UsageCell[], nameOf: (cell: UsageCell) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const cell of cells) counts.set(nameOf(cell), (counts.get(nameOf(cell)) ?? 0) + cell.count);
  return counts;
}

function byName(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Returns all days of the month. */
function daysOf(month: string): string[] {
  const [year = 0, number] = month.split('-').map(Number);
  const count = new Date(Date.UTC(year, number ?? 0, 0)).getUTCDate();
  return Array.from({ length: count }, (_, day) => `${month}-${String(day + 1).padStart(2, '0')}`);
}
