import type { Plan } from '@brand-data/contracts';
import { EXAMPLE_LOGO_HOST } from '@brand-data/presenters';
import { escapeHtml, type Html, html } from '@brand-data/runtime/html';
import { contents, heading, list, markdownOf, type SiteFile, sectionsOf } from '@brand-data/site';
import type { Content } from '../answers/answer.ts';
import { PROBLEMS, type ProblemCode } from '../answers/problem.ts';
import { exampleProblem } from '../openapi/responses.ts';
import type { OpenApi } from '../openapi/types.ts';
import { planList } from './plans.ts';
import { codeOf, inline, jsonBlock, referenceSections } from './reference.ts';
import { createStaticFile, type FileAnswer } from './static-file.ts';

/** Short, because the files keep their names from one version to the next. After that, browsers ask with the ETag. */
const CACHE_CONTROL = 'public, max-age=300';
const FOR_EVER = 'public, max-age=31536000, immutable';

/** What pages of other origins load, and what programs install. The bytes at a name with a version never change. */
const FOR_CALLERS = /^\/(?:elements|client|client-python)\.(?:next\.|(?<version>\d.*\.))?(?:js|tgz|tar\.gz)$/;

/** The base URL of the API in the files. */
const EXAMPLE_API = 'https://api.example.com';

/** The values that only the gateway knows and that the files lack. */
export interface Installation {
  /** The base URL of this API. Empty: unknown. */
  publicUrl: string;
  /** The base URL of images, which pages may show. */
  logoHost: string;
  /** The URL of the page of errors. */
  docsUrl: string;
  /** The token that the playground offers. Empty: none. */
  demoToken: string;
  /** The OpenAPI document. */
  description: string;
  /** The URL of the page that says whether the service works. Empty: none. */
  statusUrl: string;
  /** Returns the plans that everybody may see. */
  plans: () => readonly Plan[];
}

export interface Pages {
  /** The answers of the pages for people and of the files of packages/site, by path. */
  byPath: ReadonlyMap<string, FileAnswer>;
  /** Returns the page for browsers at a path of no route. */
  notFound: (path: string) => Content;
}

/** Makes the answers of all pages and files, which stay the same while the process runs, apart from the plans. */
export function createPages(files: readonly SiteFile[], installation: Installation): Pages {
  const policy = contentSecurityPolicy(installation.logoHost);
  const fill = fillingFor(installation);
  const filled = files.map((file) =>
    /^text\/(html|markdown|plain)/.test(file.type)
      ? { ...file, body: Buffer.from(fill(file.body.toString(), file.type)) }
      : file,
  );
  const served = filled.filter(({ path }) => path !== NOT_FOUND);
  const pages = served.filter(({ type }) => type.startsWith('text/html'));
  const made = [...forCrawlers(pages, installation.publicUrl), sectionsFile(pages)];
  const byPath = new Map([['/', redirectTo('docs')]]);
  for (const { path, type, body } of [...served, ...made]) {
    const forCallers = FOR_CALLERS.exec(path);
    const headers = {
      'Cache-Control': forCallers?.groups?.version ? FOR_EVER : CACHE_CONTROL,
      // A page's URL never holds a token, but a caller may put one there by mistake.
      'Referrer-Policy': 'no-referrer',
      ...(type.startsWith('text/html') && { 'Content-Security-Policy': policy }),
      ...(forCallers && { 'Cross-Origin-Resource-Policy': 'cross-origin' }),
    };
    const answerWith = (filled: Buffer) => createStaticFile(filled, { type, headers });
    byPath.set(
      path,
      body.includes(PLANS)
        ? answerWithPlans({ type, body }, installation.plans, answerWith)
        : answerWith(body),
    );
  }
  for (const { path } of pages) byPath.set(`${path}/`, redirectTo(`..${path.slice(path.lastIndexOf('/'))}`));
  const icon = byPath.get('/style/icon.svg');
  if (icon) byPath.set('/favicon.ico', icon);
  const missing = filled.find(({ path }) => path === NOT_FOUND)?.body.toString() ?? '';
  return { byPath, notFound: (path) => notFoundPage(missing, { path, policy }) };
}

/** The path of the page for browsers that ask for one that does not exist. It is no route. */
const NOT_FOUND = '/not-found';

/** Leads to a page. `location` is relative, because a proxy may serve the gateway under a path prefix. */
function redirectTo(location: string): FileAnswer {
  const headers = { Location: location, 'Cache-Control': CACHE_CONTROL };
  return async () => ({ status: 302, headers, body: Buffer.alloc(0) });
}

/** What search engines may read: the pages, and not the records, which need a token. A site map needs the public URL. */
function forCrawlers(pages: readonly SiteFile[], publicUrl: string): SiteFile[] {
  const robots = 'User-agent: *\nDisallow: /v1/\nDisallow: /api/\n';
  const robotsFile = (text: string) => ({
    path: '/robots.txt',
    type: 'text/plain; charset=utf-8',
    body: Buffer.from(text),
  });
  if (publicUrl === '') return [robotsFile(robots)];
  const urls = pages.map(({ path }) => html`<url><loc>${publicUrl}${path}</loc></url>\n`);
  const map = html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}</urlset>\n`;
  return [
    robotsFile(`${robots}Sitemap: ${publicUrl}/sitemap.xml\n`),
    { path: '/sitemap.xml', type: 'application/xml', body: Buffer.from(map.markup) },
  ];
}

/** What the search of the docs searches. The gateway makes it, because it has filled in the errors and the reference. */
function sectionsFile(pages: readonly SiteFile[]): SiteFile {
  const docs = pages.filter(({ path }) => path.startsWith('/docs'));
  const sections = docs.flatMap(({ path, body }) => sectionsOf(body.toString(), path));
  return {
    path: '/docs/sections.json',
    type: 'application/json',
    body: Buffer.from(JSON.stringify(sections)),
  };
}

/** No page of the gateway is nearly as deep. More steps up for each link would make long answers to long paths. */
const DEEPEST = 8;

/** Its links lead from the gateway's root, so they get as many steps up as the path is deep. */
function notFoundPage(page: string, { path, policy }: { path: string; policy: string }): Content {
  const depth = path.split('/').length - 2;
  const root = '../'.repeat(Math.max(0, Math.min(depth, DEEPEST)));
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  };
  const body = page.replaceAll(/ (?:href|src)="(?!#)/g, `$&${root}`);
  return { status: 404, headers, body: Buffer.from(body) };
}

/** Returns the function that puts the installation's own addresses, demo token, errors and reference into a page. */
function fillingFor({ publicUrl, logoHost, docsUrl, demoToken, description, statusUrl }: Installation) {
  const api = publicUrl || EXAMPLE_API;
  const fillings = {
    '<!-- fill: demo token -->': () => demoButton(demoToken),
    '<!-- fill: contact -->': () => contactText(description, statusUrl).markup,
    '<!-- fill: errors -->': () => errorSections(docsUrl).markup,
    '<!-- fill: reference -->': () => referenceSections(description, api).markup,
  };
  return (text: string, type: string) => {
    const written = writtenAs(type);
    let filled = text
      .replaceAll(EXAMPLE_LOGO_HOST, () => escapeHtml(logoHost))
      .replaceAll(EXAMPLE_API, () => escapeHtml(api));
    for (const [place, html] of Object.entries(fillings))
      if (filled.includes(place)) filled = filled.replace(place, () => written(html()));
    return filled;
  };
}

/** Returns the function that writes HTML as a file of the type has it. */
const writtenAs = (type: string) => (type.startsWith('text/markdown') ? markdownOf : (html: string) => html);

const PLANS = '<!-- fill: plans -->';

/** Fills the plans in when they are asked for, and anew when they have changed. */
function answerWithPlans(
  { type, body }: Pick<SiteFile, 'type' | 'body'>,
  plans: () => readonly Plan[],
  answerWith: (filled: Buffer) => FileAnswer,
): FileAnswer {
  let made: { of: readonly Plan[]; answer: FileAnswer } | undefined;
  return (headers) => {
    const of = plans();
    if (made?.of !== of) {
      const filled = body.toString().replace(PLANS, () => writtenAs(type)(planList(of).markup));
      made = { of, answer: answerWith(Buffer.from(filled)) };
    }
    return made.answer(headers);
  };
}

/** Returns a section for each code, under the anchor to which a problem's `type` leads. `docsUrl` is for examples. */
function errorSections(docsUrl: string): Html {
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  const links = codes.map((code) => html`<a href="#${code}">${codeOf(code)}</a>`);
  const sections = codes.map((code) => {
    const { status, title, help } = PROBLEMS[code];
    return html`<section aria-labelledby="${code}">
${heading(3, code, [codeOf(code), ` (${status})`])}<p><strong>${title}.</strong> ${inline(help)}</p>
<details><summary>Example of ${codeOf(code)}</summary>
${jsonBlock(exampleProblem(code, docsUrl))}</details>
</section>\n`;
  });
  return html`${contents('Codes', list(links))}\n${sections}`;
}

/** Returns how to reach the operator, and where the terms are, as far as the OpenAPI document says so. */
function contactText(description: string, statusUrl: string): Html {
  const { contact = {}, termsOfService: terms }: OpenApi['info'] = JSON.parse(description).info;
  const address = contact.email ?? contact.url;
  const linkTo = (text: string, href = text) => html`<a href="${href}">${text}</a>`;
  const reached = address
    ? html`The operator’s address: ${linkTo(address, contact.email && `mailto:${address}`)}`
    : 'No address is given here: ask those who gave you the address of this service.';
  return html`<p>${reached}</p>\n${terms && html`<p>The terms of use: ${linkTo(terms)}</p>\n`}${statusUrl && html`<p>Whether the service works: ${linkTo(statusUrl)}</p>\n`}`;
}

function demoButton(token: string): string {
  if (token === '') return '';
  return html`<button id="demo" type="button" class="quiet" data-token="${token}">Use the demo token</button>`
    .markup;
}

/** Pages load only files and answers of this gateway, and images from `logoHost`. */
function contentSecurityPolicy(logoHost: string): string {
  // These characters would end the source.
  const images = new URL(`${logoHost}/`).href.replaceAll(';', '%3B').replaceAll(',', '%2C');
  return [
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
    `img-src 'self' ${images}`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ');
}
