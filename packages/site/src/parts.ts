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
  return html`<nav class="contents" aria-label="${label}"><div>${links}</div></nav>`;
}

/** A call whose identifier is in the text. */
const CALL = /\/(?:v1\/brands|api\/logos)\/([^\s/?"'`${}<>]+)[/?]/;

/**
 * Returns an example in a programming language. If it is a call, a link opens the playground with the same identifier.
 *
 * @param root leads from the page to the gateway's root
 * @param marked the text with the marks of its syntax; absent: without marks
 */
export function codeBlock(text: string, language: string, root: string, marked: HtmlPart = text): Html {
  const [, identifier] = CALL.exec(text) ?? [];
  const tryIt =
    identifier &&
    html`<a href="${root}playground#${identifier}">Try it<span class="hidden"> with ${decodeURIComponent(identifier)}</span></a>`;
  return html`<figure class="code"><figcaption><span>${LANGUAGES[language] ?? language}</span>${tryIt}</figcaption><pre><code class="language-${language}">${marked}\n</code></pre></figure>\n`;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  go: 'Go',
  gs: 'Apps Script',
  html: 'HTML',
  http: 'HTTP',
  js: 'JavaScript',
  json: 'JSON',
  kotlin: 'Kotlin',
  powerquery: 'Power Query',
  py: 'Python',
  sh: 'Shell',
  svelte: 'Svelte',
  swift: 'Swift',
  ts: 'TypeScript',
  tsx: 'TSX',
  text: 'Text',
  txt: 'Formula',
  vue: 'Vue',
  yaml: 'YAML',
};

interface Field {
  name: HtmlPart;
  /** Its type, and whether it must be there. */
  type: HtmlPart;
  meaning: HtmlPart;
  example?: HtmlPart;
}

/** Returns the fields of an object, or the parameters of an operation. */
export function fieldList(fields: readonly Field[]): Html {
  const items = fields.map(
    ({ name, type, meaning, example }) =>
      html`<div><dt>${name} <small>${type}</small></dt><dd>${meaning}</dd>${example && html`<dd class="example">${example}</dd>`}</div>\n`,
  );
  return html`<dl class="fields">${items}</dl>`;
}
