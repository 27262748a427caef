import { type Html, html } from '@brand-data/runtime/html';
import { list } from '../src/parts.ts';
import { DOCS, type DocsPage, GROUPS } from './pages.ts';

const SERVICE = 'Brand Data Service';

/** Leads from the page to the gateway's root. Links are relative, because a proxy may serve the gateway under a path prefix. */
export const rootFrom = (path: string): string => '../'.repeat(path.split('/').length - 2);

interface Content {
  /** The path of the page's URL. */
  path: string;
  title: string;
  summary: string;
  /** Between the page's header and its end. */
  body: Html;
  /** The folder of its style.css and main.js. */
  folder: 'docs' | 'playground';
  /** The path of the same page in Markdown, if there is one. */
  markdown?: string;
  /** The first link of the page: its text, and the id of the element to which it leads. */
  skip: { text: string; to: string };
}

/** Returns a whole page. */
export function sitePage({ path, title, summary, body, folder, markdown, skip }: Content): string {
  const root = rootFrom(path);
  const alternate =
    markdown && html`<link rel="alternate" type="text/markdown" href="${root}${markdown.slice(1)}">\n`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title} · ${SERVICE}</title>
<meta name="description" content="${summary}">
<link rel="icon" href="${root}style/icon.svg" type="image/svg+xml">
${alternate}<link rel="stylesheet" href="${root}style/base.css">
<link rel="stylesheet" href="${root}${folder}/style.css">
<script type="module" src="${root}${folder}/main.js"></script>
</head>
<body>
<a class="skip" href="#${skip.to}">${skip.text}</a>
<header class="bar">
<a class="home" href="${root}docs"><span class="mark" aria-hidden="true"></span>${SERVICE}</a>
${folder === 'docs' ? SEARCH : undefined}
<nav aria-label="Pages">${links(path, [
    { path: '/docs', name: 'Docs', isPart: path.startsWith('/docs') && path !== '/docs/reference' },
    { path: '/docs/reference', name: 'Reference' },
    { path: '/playground', name: 'Playground' },
  ])}</nav>
</header>
${body}
</body>
</html>
`.markup;
}

/** docs/search.ts makes it work. Browsers without scripts do not show it. */
const SEARCH = html`<div role="search" class="search">
<input id="search" type="search" role="combobox" aria-label="Search the docs" aria-expanded="false" aria-controls="found" aria-autocomplete="list" autocomplete="off" spellcheck="false" placeholder="Search (press /)">
<div id="found" role="listbox" aria-label="Pages found" hidden></div>
<p id="found-count" role="status"></p>
</div>`;

/** Returns the body of a page of the documentation: the list of its pages, and the page. */
export function docsBody(path: string, article: Html): Html {
  const index = DOCS.findIndex((page) => page.path === path);
  const groups = GROUPS.map(({ name, pages }) => html`<div><p>${name}</p>${links(path, pages)}</div>\n`);
  return html`<div class="docs">
<nav aria-label="Documentation"><details id="menu"><summary>All pages</summary>
<div>${groups}</div>
</details></nav>
<main id="content" tabindex="-1">
${article}
<nav class="onward" aria-label="Previous and next page">
${onward(path, 'prev', DOCS[index - 1])}
${onward(path, 'next', DOCS[index + 1])}
</nav>
</main>
</div>`;
}

function onward(from: string, rel: 'prev' | 'next', page: DocsPage | undefined): Html | undefined {
  const label = rel === 'prev' ? 'Previous' : 'Next';
  return (
    page &&
    html`<a rel="${rel}" href="${rootFrom(from)}${page.path.slice(1)}"><small>${label}</small> ${page.name}</a>`
  );
}

/** Returns the body of the page that browsers get at a path without one. */
export function notFoundBody(): Html {
  return html`<main id="content" class="alone" tabindex="-1">
<h1>Page not found</h1>
<p>There is no page at this address. Perhaps you are looking for one of these:</p>
${links('/not-found', [...DOCS, { path: '/playground', name: 'Playground' }])}
</main>`;
}

/** Returns a list of links. `isPart` marks the entry to which the page belongs, if it is not the page itself. */
function links(path: string, entries: readonly { path: string; name: string; isPart?: boolean }[]): Html {
  return list(
    entries.map((entry) => {
      const current = entry.path === path ? 'page' : entry.isPart ? 'true' : undefined;
      return html`<a href="${rootFrom(path)}${entry.path.slice(1)}"${current && html` aria-current="${current}"`}>${entry.name}</a>`;
    }),
  );
}
