import { type Html, html } from '@brand-data/runtime/html';

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

/** A column of a table. Figures are aligned to the right. */
interface Column {
  head: Html | string;
  isFigure?: boolean;
  /** How the rows are sorted by this column, if they are. */
  sorted?: 'ascending' | 'descending' | undefined;
}

/** Returns a table that the keyboard can scroll on narrow screens. The first cell of a row is its heading. */
export function htmlTable(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly (Html | string | number)[])[],
  sums?: readonly (Html | string | number)[],
): Html {
  const classOf = (place: number) => (columns[place]?.isFigure ? html` class="figure"` : undefined);
  const heads = columns.map(
    ({ head, sorted }, place) =>
      html`<th scope="col"${classOf(place)}${sorted && html` aria-sort="${sorted}"`}>${head}</th>`,
  );
  const row = (cells: readonly (Html | string | number)[]) =>
    html`<tr>${cells.map((cell, place) =>
      place === 0
        ? html`<th scope="row"${classOf(place)}>${cell}</th>`
        : html`<td${classOf(place)}>${cell}</td>`,
    )}</tr>\n`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>
<thead><tr>${heads}</tr></thead>
<tbody>
${rows.map(row)}</tbody>${sums && html`<tfoot>${row(sums)}</tfoot>`}
</table></div>`;
}
