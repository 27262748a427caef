import { element } from '@brand-data/client/source/dom';
import { type Call, pathOf } from './call.ts';
import { tabsView } from './tabs.ts';

/** How long the button says that the text was copied, in milliseconds. */
const COPIED_MS = 2_000;

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
): HTMLElement {
  const { language, onLanguage, say } = options;
  const tabs = Object.entries(SNIPPETS).map(([name, snippetOf]) => ({
    name,
    content: () => snippetView(snippetOf(call), name, say),
  }));
  return tabsView(tabs, { id: 'code', label: 'Languages', chosen: language, onChoice: onLanguage });
}

function snippetView(text: string, language: string, say: (text: string) => void): HTMLElement {
  const copy = element('button', { type: 'button', class: 'quiet copy' }, 'Copy');
  copy.addEventListener('click', async () => {
    const [label, told] = await navigator.clipboard.writeText(text).then(
      () => ['Copied', `Copied the code for ${language}.`] as const,
      () => ['Not allowed', 'The browser did not allow to copy. Select the code instead.'] as const,
    );
    say(told);
    copy.textContent = label;
    setTimeout(() => {
      copy.textContent = 'Copy';
    }, COPIED_MS);
  });
  const code = element('code', {}, text);
  const block = element('pre', { tabindex: '0', role: 'group', 'aria-label': `Code for ${language}` }, code);
  return element('div', { class: 'snippet' }, copy, block);
}
