/** The playground: makes calls of the API with the visitor's token, and shows what a program gets. */

import { element } from '@brand-data/client/source/dom';
import { answerView, summaryOf } from './answer.ts';
import { type Call, type CallReport, pathOf, prepareCall, type SendCall } from './call.ts';
import { codeView } from './code.ts';

/** The service whose page this is, also below a path prefix. */
const API = new URL('.', location.href).href.replace(/[?#].*$/, '');

const KEY = 'brand-data-token';
/** The token that the visitor asked this browser to remember. A browser without storage remembers none. */
const keptToken = {
  read: (): string | undefined => whereAllowed(() => localStorage.getItem(KEY)) ?? undefined,
  write: (token: string): void => whereAllowed(() => localStorage.setItem(KEY, token)),
  forget: (): void => whereAllowed(() => localStorage.removeItem(KEY)),
};

const form = byId('call', HTMLFormElement);
const token = byId('token', HTMLInputElement);
const remember = byId('remember', HTMLInputElement);
const identifier = byId('identifier', HTMLInputElement);
const flat = byId('flat', HTMLInputElement);
const answer = byId('answer', HTMLElement);
const heading = byId('answer-heading', HTMLElement);

let tab = 'Record';
let language = 'curl';
/** Aborts the call that is under way. */
let underWay = new AbortController();

token.value = keptToken.read() ?? '';
remember.checked = keptToken.read() !== undefined;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  start();
});
form.addEventListener('input', showCode);
token.addEventListener('change', keepToken);
remember.addEventListener('change', keepToken);
byId('forget', HTMLButtonElement).addEventListener('click', () => {
  keptToken.forget();
  remember.checked = false;
  token.value = '';
  showCode();
  token.focus();
  say('The token is forgotten.');
});
/** The gateway puts this button into the page if the installation has a demo token. */
const demo = document.querySelector<HTMLButtonElement>('#demo');
demo?.addEventListener('click', () => {
  token.value = demo.dataset.token ?? '';
  keepToken();
  showCode();
  say('The demo token is in the field.');
});
for (const chip of document.querySelectorAll<HTMLButtonElement>('[data-identifier]'))
  chip.addEventListener('click', () => fillIdentifier(chip.dataset.identifier ?? ''));
addEventListener('hashchange', fillFromFragment);

fillFromFragment();
showCode();
const hint = 'The answer to your call appears here: the record, its JSON, and its headers.';
answer.append(element('p', { class: 'panel empty' }, hint));

/** The page's own anchors are not identifiers. */
function fillFromFragment(): void {
  const fragment = location.hash.slice(1);
  if (fragment === '' || fragment === heading.id) return;
  try {
    fillIdentifier(decodeURIComponent(fragment));
  } catch {
    // A fragment that is not percent-encoded text fills nothing.
  }
}

function fillIdentifier(text: string): void {
  identifier.value = text;
  showCode();
}

function keepToken(): void {
  if (remember.checked && token.value.trim() !== '') keptToken.write(token.value.trim());
  else keptToken.forget();
}

function callOfForm(): Call {
  return {
    api: API,
    token: token.value.trim(),
    identifier: identifier.value.trim(),
    form: flat.checked ? 'flat' : 'grouped',
  };
}

function showCode(): void {
  const call = callOfForm();
  const isFolder = ['.', '..'].includes(call.identifier);
  identifier.setCustomValidity(
    isFolder ? `URLs take "${call.identifier}" for a folder. No company has this identifier.` : '',
  );
  const shown = { ...call, token: call.token || 'pk_your_token', identifier: call.identifier || 'AAPL' };
  byId('route', HTMLElement).textContent =
    `GET /${pathOf({ ...call, identifier: call.identifier || '{identifier}' })}`
      .replace('%7B', '{')
      .replace('%7D', '}');
  const onLanguage = (name: string) => {
    language = name;
  };
  byId('code', HTMLElement).replaceChildren(codeView(shown, { language, onLanguage, say }));
}

function start(): void {
  const call = callOfForm();
  if (call.identifier !== '') void show(prepareCall(call));
}

/** Makes the call and shows its answer, unless a newer call has begun. Aborts the older call. */
async function show(sendCall: SendCall): Promise<void> {
  underWay.abort();
  underWay = new AbortController();
  const { signal } = underWay;
  answer.ariaBusy = 'true';
  say('The call is under way.');
  let report: CallReport;
  try {
    report = await sendCall(signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  if (signal.aborted) return;
  answer.ariaBusy = 'false';
  // A button in the answer goes away with it, so the focus goes to the answer's heading.
  const isFocusInside = answer.contains(document.activeElement);
  answer.replaceChildren(
    answerView(report, {
      api: API,
      tab,
      onTab(name) {
        tab = name;
      },
      onAskAgain: () => void show(sendCall),
      onSuggestion(suggestion) {
        fillIdentifier(suggestion.identifier);
        start();
      },
    }),
  );
  if (isFocusInside) heading.focus();
  say(summaryOf(report));
}

function say(text: string): void {
  byId('status', HTMLElement).textContent = text;
}

function byId<T extends HTMLElement>(id: string, type: abstract new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no #${id}`);
  return found;
}

function whereAllowed<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    // The visitor has forbidden storage, or it is full.
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
