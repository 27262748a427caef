import { PROBLEMS, type ProblemCode } from '../answers/problem.ts';
import { exampleOf } from '../openapi/problems.ts';
import { codeOf, escapeHtml, inline, jsonBlock } from './html.ts';

/**
 * The sections of the page of errors, one for each code, under the anchor to which a problem's `type` leads.
 *
 * @param docsUrl the URL of the page, for examples
 */
export function errorSections(docsUrl: string): string {
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  const links = codes.map((code) => `<li><a href="#${code}">${codeOf(code)}</a></li>`);
  const sections = codes.map((code) => {
    const { status, title, help } = PROBLEMS[code];
    return `<section aria-labelledby="${code}">
<h3 id="${code}"><a href="#${code}">${codeOf(code)} (${status})</a></h3>
<p><strong>${escapeHtml(title)}.</strong> ${inline(help)}</p>
<details><summary>Example of ${codeOf(code)}</summary>
${jsonBlock(exampleOf(code, docsUrl), `Example of ${code}`)}</details>
</section>`;
  });
  return `<nav class="contents" aria-label="Codes"><ul>${links.join('')}</ul></nav>\n${sections.join('\n')}`;
}
