import { element } from '../../client/src/elements/dom.ts';
import type { Call } from './exchange.ts';
import { LANGUAGES, type Language, snippetOf } from './snippets.ts';
import { tabsView } from './tabs.ts';

/** How long the button says that the text was copied, in milliseconds. */
const COPIED_MS = 2_000;

/** The call as programs in four languages, with a button that copies the one that is shown. */
export function codeView(
  call: Call,
  {
    language,
    onLanguage,
    say,
  }: { language: string; onLanguage: (name: string) => void; say: (text: string) => void },
): HTMLElement {
  const tabs = LANGUAGES.map((name) => ({
    name,
    content: () => snippetView(snippetOf(name, call), name, say),
  }));
  return tabsView(tabs, { id: 'code', label: 'Languages', chosen: language, onChoice: onLanguage });
}

function snippetView(text: string, language: Language, say: (text: string) => void): HTMLElement {
  const copy = element('button', { type: 'button', class: 'quiet copy' }, 'Copy');
  copy.addEventListener('click', async () => {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    say(
      isCopied
        ? `Copied the code for ${language}.`
        : 'The browser did not allow to copy. Select the code instead.',
    );
    copy.textContent = isCopied ? 'Copied' : 'Not allowed';
    setTimeout(() => {
      copy.textContent = 'Copy';
    }, COPIED_MS);
  });
  const code = element(
    'pre',
    { tabindex: '0', 'aria-label': `Code for ${language}` },
    element('code', {}, text),
  );
  return element('div', { class: 'snippet' }, copy, code);
}
