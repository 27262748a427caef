import { html, type TemplateResult } from 'lit-html';
import { copy } from '../shared/copy.ts';
import { type Call, pathOf } from './call.ts';
import { tabsView } from './tabs.ts';

/** Programs that make the call and print its answer, by their languages. */
const SNIPPETS: Readonly<Record<string, (call: Call) => string>> = {
  curl: (call) => `curl '${urlOf(call)}'`,
  fetch: (call) => `const response = await fetch(${quoted(urlOf(call))});
console.log(response.status, await response.json());`,
  Python: (call) => `import httpx

response = httpx.get(
    ${quoted(call.api + pathOf(call))},
    params={"token": ${quoted(call.token)}},
)
print(response.status_code, response.json())`,
  Client: (call) => `// npm install ${call.api}client.tgz
// A page without a build: import { BrandData } from ${quoted(`${call.api}client.js`)};
import { BrandData } from '@brand-data/client';

const client = new BrandData({
  api: ${quoted(call.api)},
  token: ${quoted(call.token)},
});
const { data } = await client.${call.form === 'grouped' ? 'brand' : 'logo'}(${quoted(call.identifier.toWellFormed())});
console.log(data);`,
};

function urlOf(call: Call): string {
  return `${call.api}${pathOf(call)}?token=${encodeURIComponent(call.token.toWellFormed()).replaceAll("'", '%27')}`;
}

/** Returns a string of JavaScript and of Python: both have the escapes of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Returns the call as programs in four languages, with a button that copies the one that is shown. */
export function codeView(
  call: Call,
  options: { language: string; onLanguage: (name: string) => void; say: (text: string) => void },
): TemplateResult {
  const { language, onLanguage, say } = options;
  const snippets = Object.entries(SNIPPETS).map(
    ([name, snippetOf]) => [name, () => snippetView(snippetOf(call), name, say)] as const,
  );
  const names = { id: 'code', label: 'Languages', chosen: language, onChoice: onLanguage };
  return tabsView(Object.fromEntries(snippets), names);
}

function snippetView(text: string, language: string, say: (text: string) => void): TemplateResult {
  const onCopy = async ({ target }: { target: HTMLElement }) =>
    say(
      (await copy(text, target))
        ? `Copied the code for ${language}.`
        : 'The browser did not allow to copy. Select the code instead.',
    );
  return html`<div class="snippet">
<button type="button" class="copy" @click=${onCopy}>Copy</button>
<pre tabindex="0" role="group" aria-label="Code for ${language}"><code>${text}</code></pre>
</div>`;
}
