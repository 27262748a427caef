/** The parts of which the pages of the documentation are made, those that are built and those that the gateway fills in. */

import { type Html, type HtmlPart, html } from '@brand-data/runtime/html';

/** Returns a heading of level 2 to 4 that links to itself. */
export function heading(level: number, id: string, content: HtmlPart): Html {
  return html`<h${level} id="${id}"><a href="#${id}">${content}</a></h${level}>\n`;
}

export function list(items: readonly HtmlPart[]): Html {
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

/** Links to the parts of a page. */
export function contents(label: string, links: HtmlPart): Html {
  return html`<nav class="contents" aria-label="${label}">${links}</nav>`;
}

/** Returns a text in a programming language, in a block that the keyboard can scroll. */
export function codeBlock(text: string, language: string, label: string): Html {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code class="language-${language}">${text}\n</code></pre>`;
}

/** Returns a table that the keyboard can scroll on narrow screens. */
export function scrollTable(
  label: string,
  columns: readonly HtmlPart[],
  rows: readonly (readonly HtmlPart[])[],
): Html {
  const head = columns.map((column) => html`<th scope="col">${column}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}
