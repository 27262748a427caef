import { type Html, html } from '@brand-data/runtime/html';
import { list } from '../src/parts.ts';
import { DOCS } from './pages.ts';

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
  /** Paths of the files that it loads, in addition to the style of all pages. */
  style: string;
  script?: string;
  /** The first link of the page: its text, and the id of the element to which it leads. */
  skip: { text: string; to: string };
}

/** Returns a whole page. */
export function sitePage({ path, title, summary, body, style, script, skip }: Content): string {
  const root = rootFrom(path);
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
${['style/base.css', style].map((file) => html`<link rel="stylesheet" href="${root}${file}">\n`)}
${script && html`<script type="module" src="${root}${script}"></script>\n`}
</head>
<body>
<a class="skip" href="#${skip.to}">${skip.text}</a>
<header class="bar">
<a class="home" href="${root}docs"><span class="mark" aria-hidden="true"></span>${SERVICE}</a>
${navigation(path, 'Pages', [
  { path: '/docs', name: 'Docs', isPart: path.startsWith('/docs') && path !== '/docs/reference' },
  { path: '/docs/reference', name: 'Reference' },
  { path: '/playground', name: 'Playground' },
])}
</header>
${body}
</body>
</html>
`.markup;
}

/** Returns the body of a page of the documentation: the list of its pages, and the page. */
export function docsBody(path: string, article: Html): Html {
  const index = DOCS.findIndex((page) => page.path === path);
  const next = DOCS[index + 1];
  const onward =
    next &&
    html`<p class="onward">Next: <a href="${rootFrom(path)}${next.path.slice(1)}">${next.name}</a></p>`;
  return html`<div class="docs">
${navigation(path, 'Documentation', DOCS)}
<main id="content" tabindex="-1">
${article}
${onward}
</main>
</div>`;
}

/** Returns the body of the page that browsers get at a path without one. */
export function notFoundBody(): Html {
  return html`<main id="content" tabindex="-1">
<h1>Page not found</h1>
<p>There is no page at this address. The pages of the API are these:</p>
${list([...DOCS, { path: '/playground', name: 'Playground' }].map(({ path, name }) => html`<a href="${path.slice(1)}">${name}</a>`))}
</main>`;
}

/** Returns a list of links. `isPart` marks the entry to which the page belongs, if it is not the page itself. */
function navigation(
  path: string,
  label: string,
  entries: readonly { path: string; name: string; isPart?: boolean }[],
): Html {
  const links = entries.map((entry) => {
    const current = entry.path === path ? 'page' : entry.isPart ? 'true' : undefined;
    return html`<a href="${rootFrom(path)}${entry.path.slice(1)}"${current && html` aria-current="${current}"`}>${entry.name}</a>`;
  });
  return html`<nav aria-label="${label}">${list(links)}</nav>`;
}
