import { addMonths, isMonth, MONTHS_KEPT, monthOf } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { type Html, html } from '@brand-data/runtime/html';
import { figure } from '../text/reports.ts';
import type { AllowanceUse } from '../usage/allowance-use.ts';
import { shareBar } from './charts.ts';

/** Where the page of all accounts and the style are. */
export const HOME = '/';
export const STYLE = '/style.css';

/** Returns a whole page. */
export function wholePage(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${STYLE}">
</head>
<body>
<header><a href="${HOME}">Usage of accounts</a></header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.markup;
}

/** The heading of a column, and how the rows are sorted by it, if they are. */
type Head = string | { head: Html; sorted: 'ascending' | 'descending' | undefined };
/** Numbers are figures, which are aligned to the right. */
type Cell = Html | string | number;

/** Returns a table that the keyboard can scroll on narrow screens. The first cell of a row is its heading. */
export function htmlTable(
  label: string,
  heads: readonly Head[],
  rows: readonly (readonly Cell[])[],
  sums?: readonly Cell[],
): Html {
  const isFigure = heads.map((_, place) => rows.every((row) => typeof row[place] === 'number'));
  const classOf = (place: number) => (isFigure[place] ? html` class="figure"` : undefined);
  const texts = heads.map((each, place) => {
    const { head, sorted } = typeof each === 'string' ? { head: each } : each;
    return html`<th scope="col"${classOf(place)}${sorted && html` aria-sort="${sorted}"`}>${head}</th>`;
  });
  const row = (cells: readonly Cell[]) =>
    html`<tr>${cells.map((cell, place) => {
      const text = typeof cell === 'number' ? figure(cell) : cell;
      return place === 0
        ? html`<th scope="row"${classOf(place)}>${text}</th>`
        : html`<td${classOf(place)}>${text}</td>`;
    })}</tr>\n`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>
<thead><tr>${texts}</tr></thead>
<tbody>
${rows.map(row)}</tbody>${sums && html`<tfoot>${row(sums)}</tfoot>`}
</table></div>`;
}

/** Returns a choice of values, with the chosen one among them. The empty value stands for all. */
export function select(label: string, name: string, values: readonly string[], chosen: string): Html {
  const all = values.includes(chosen) ? values : [...values, chosen];
  const options = all.map(
    (value) =>
      html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${value || 'all'}</option>`,
  );
  return html`<label>${label}<select name="${name}">${options}</select></label>`;
}

/** Returns a choice of the months that metering keeps, the current one first. */
export function selectMonth(chosen: string): Html {
  const current = monthOf(Date.now());
  const kept = Array.from({ length: MONTHS_KEPT }, (_, ago) => addMonths(current, -ago));
  return select('Month', 'month', kept, chosen);
}

/** Calls beyond an allowance of 0 were made before the plan changed. */
export function usedShare({ allowance, used }: AllowanceUse): number {
  if (used === 0) return 0;
  return allowance === 0 ? 1 : used / allowance;
}

/** Returns a share as a bar, and in percent: rounded down, so that only a whole allowance is 100 %. */
export function shareCell(share: number): Html {
  return html`${shareBar(share)}${Math.floor(share * 100)} %`;
}

/**
 * Returns the month that a page is asked for, by default the current one. Throws a Fault if the text is not a month, or the month
 * has not begun.
 */
export function monthAskedFor(query: URLSearchParams): string {
  const current = monthOf(Date.now());
  const month = query.get('month') || current;
  if (!isMonth(month)) throw new Fault('invalid_argument', 'A month is YYYY-MM, for example 2026-11.');
  if (month > current)
    throw new Fault('invalid_argument', `The month ${month} has not begun, so it has no usage.`);
  return month;
}

/** Returns a relative URL with those parameters that are not empty. */
export function urlOf(path: string, parameters: Readonly<Record<string, string | number>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '');
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return given.length === 0 ? path : `${path}?${query}`;
}

export function accountUrl(id: string, month: string): string {
  return urlOf(`/accounts/${encodeURIComponent(id)}`, { month });
}
