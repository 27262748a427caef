import { EXAMPLE_LOGO_HOST } from '@brand-data/presenters';
import { escapeHtml, type Html, html } from '@brand-data/runtime/html';
import { contents, heading, list, type SiteFile } from '@brand-data/site';
import type { Content } from '../answers/answer.ts';
import { PROBLEMS, type ProblemCode } from '../answers/problem.ts';
import { exampleProblem } from '../openapi/responses.ts';
import { codeOf, inline, jsonBlock, referenceSections } from './reference.ts';
import { createStaticFile, type FileAnswer } from './static-file.ts';

/** Short, because the files keep their names from one version to the next. After that, browsers ask with the ETag. */
const CACHE_CONTROL = 'public, max-age=300';

/** Scripts that pages of other origins may load. */
const FOR_OTHER_ORIGINS = ['/elements.js'];

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
}

/** Returns the answers of the pages for people and of the files of packages/site, by path. */
export function createPages(
  files: readonly SiteFile[],
  installation: Installation,
): ReadonlyMap<string, FileAnswer> {
  const policy = contentSecurityPolicy(installation.logoHost);
  const fill = fillingFor(installation);
  const answers = files.map(({ path, type, body }): [string, FileAnswer] => {
    const headers = {
      'Cache-Control': CACHE_CONTROL,
      // A page's URL never holds a token, but a caller may put one there by mistake.
      'Referrer-Policy': 'no-referrer',
      ...(type.startsWith('text/html') && { 'Content-Security-Policy': policy }),
      ...(FOR_OTHER_ORIGINS.includes(path) && { 'Cross-Origin-Resource-Policy': 'cross-origin' }),
    };
    const isText = type.startsWith('text/html') || type.startsWith('text/plain');
    return [path, createStaticFile(isText ? Buffer.from(fill(body.toString())) : body, { type, headers })];
  });
  return new Map([['/', async () => TO_DOCS], ...answers]);
}

/** Relative, because a proxy may serve the gateway under a path prefix. */
const TO_DOCS: Content = {
  status: 302,
  headers: { Location: 'docs', 'Cache-Control': CACHE_CONTROL },
  body: Buffer.alloc(0),
};

/** Returns the function that puts the installation's own addresses, demo token, errors and reference into a page. */
function fillingFor({ publicUrl, logoHost, docsUrl, demoToken, description }: Installation) {
  const api = publicUrl || EXAMPLE_API;
  const fillings = {
    '<!-- fill: demo token -->': () => demoButton(demoToken),
    '<!-- fill: errors -->': () => errorSections(docsUrl).markup,
    '<!-- fill: reference -->': () => referenceSections(description, api).markup,
  };
  return (text: string) => {
    let filled = text
      .replaceAll(EXAMPLE_LOGO_HOST, () => escapeHtml(logoHost))
      .replaceAll(EXAMPLE_API, () => escapeHtml(api));
    for (const [place, html] of Object.entries(fillings))
      if (filled.includes(place)) filled = filled.replace(place, html);
    return filled;
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
${jsonBlock(exampleProblem(code, docsUrl), `Example of ${code}`)}</details>
</section>\n`;
  });
  return html`${contents('Codes', list(links))}\n${sections}`;
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
