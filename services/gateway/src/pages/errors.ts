import { type Html, html } from '@brand-data/runtime/html';
import { contents, heading, list } from '@brand-data/site';
import { PROBLEMS, type ProblemCode } from '../answers/problem.ts';
import { exampleProblem } from '../openapi/responses.ts';
import { codeOf, inline, jsonBlock } from './html.ts';

/**
 * Returns the sections of the page of errors, one for each code, under the anchor to which a problem's `type` leads.
 *
 * @param docsUrl the URL of the page, for examples
 */
export function errorSections(docsUrl: string): Html {
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
