/** The playground: makes calls of the API with the visitor's token, and shows what a program gets. */

import { BrandData, type PoolUsage } from '@brand-data/client/source';
import { element } from '@brand-data/client/source/dom';
import { html, render } from 'lit-html';
import { Combobox } from '../shared/combobox.ts';
import { answerView, summaryOf } from './answer.ts';
import { asked, type Question, queryOf, questionIn } from './asked.ts';
import { type Call, type CallReport, pathOf, prepareCall, remainingAfter, type SendCall } from './call.ts';
import { codeView } from './code.ts';
import { companyOption } from './search.ts';
import { keptText } from './storage.ts';

/** The service whose page this is, also below a path prefix. */
const API = new URL('.', location.href).href.replace(/[?#].*$/, '');

/** The token that the visitor asked this browser to remember. */
const keptToken = keptText('brand-data-token');

const form = byId('call', HTMLFormElement);
const token = byId('token', HTMLInputElement);
const remember = byId('remember', HTMLInputElement);
const identifier = byId('identifier', HTMLInputElement);
const flat = byId('flat', HTMLInputElement);
const showToken = byId('show-token', HTMLInputElement);
const answer = byId('answer', HTMLElement);
const heading = byId('answer-heading', HTMLElement);

let tab = 'Record';
let language = 'curl';
/** Aborts the call that is under way. */
let underWay = new AbortController();

interface Answered {
  call: Call;
  sendCall: SendCall;
  report: CallReport;
  exact?: PoolUsage | undefined;
}
/** The newest answers, by the query of the page's URL. The browser's Back and Forward show them again without a call. */
const answers = new Map<string, Answered>();
const MOST_ANSWERS = 20;

token.value = keptToken.read();
remember.checked = token.value !== '';

form.addEventListener('submit', (event) => {
  event.preventDefault();
  start();
});
form.addEventListener('input', showCode);
showToken.addEventListener('change', showCode);
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
byId('clear', HTMLButtonElement).addEventListener('click', () => {
  asked.clear();
  showAsked();
  identifier.focus();
  say('The list of what you asked is cleared.');
});
new Combobox(identifier, byId('companies', HTMLElement), {
  pauseMs: 150,
  isFirstActive: false,
  async find(text, signal) {
    const call = { api: API, token: token.value.trim(), retries: 0 };
    return call.token === '' ? [] : (await new BrandData(call).search(text, { signal })).data.companies;
  },
  view: (company) => companyOption(company, API),
  onFound(count = 0) {
    if (count > 0)
      say(count === 1 ? 'One suggestion below the field.' : `${count} suggestions below the field.`);
  },
  onChoice: (company) => fillIdentifier(company.identifier),
});
addEventListener('popstate', readAddress);

showAsked();
readAddress();

/** Fills the form as the page's URL says, and shows the answer to it if this page has one. Makes no call, because calls are counted. */
function readAddress(): void {
  const fragment = location.hash.slice(1);
  // The page's own anchors are not identifiers.
  if (fragment === heading.id) return;
  underWay.abort();
  const question = questionIn(location.search);
  if (fragment !== '') question.identifier = decodedOrEmpty(fragment);
  fill(question);
  const known = answers.get(queryOf(question) ?? '');
  const hint = 'The answer to your call appears here: the record, its JSON, and its headers.';
  answer.ariaBusy = 'false';
  if (known !== undefined) showAnswer(known);
  else answer.replaceChildren(element('p', { class: 'panel empty' }, hint));
}

/** A fragment that is not percent-encoded text fills nothing. */
function decodedOrEmpty(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return '';
  }
}

/** Makes the URL of the page one that can be shared, and notes what is asked. Both are without the token. */
function note(call: Call): void {
  const query = queryOf(call);
  if (query === undefined) return;
  const isNew = location.search !== `?${query}`;
  history[isNew ? 'pushState' : 'replaceState'](null, '', `?${query}`);
  asked.add(query);
  showAsked();
}

function showAsked(): void {
  const queries = asked.list();
  const chips = queries.map(questionIn).map((question) => {
    const { identifier, form } = question;
    const flat = form === 'flat' ? html`<small>flat</small>` : undefined;
    return html`<button type="button" class="chip" @click=${() => fill(question)}>${identifier}${flat}</button>`;
  });
  render(chips, byId('asked-chips', HTMLElement));
  byId('asked', HTMLElement).hidden = queries.length === 0;
}

function fill(question: Question): void {
  byId(question.form, HTMLInputElement).checked = true;
  fillIdentifier(question.identifier);
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
  const shownToken = (showToken.checked && call.token) || 'pk_your_token';
  const shown = { ...call, token: shownToken, identifier: call.identifier || 'AAPL' };
  byId('route', HTMLElement).textContent =
    `GET /${pathOf({ ...call, identifier: call.identifier || '{identifier}' })}`
      .replace('%7B', '{')
      .replace('%7D', '}');
  const onLanguage = (name: string) => {
    language = name;
    showCode();
  };
  render(codeView(shown, { language, onLanguage, say }), byId('code', HTMLElement));
}

function start(): void {
  const call = callOfForm();
  if (call.identifier === '') return;
  note(call);
  void ask(call, prepareCall(call));
}

/** Aborts what is under way, and returns the signal that will abort what begins now. */
function begin(): AbortSignal {
  underWay.abort();
  underWay = new AbortController();
  return underWay.signal;
}

/** Makes the call and shows its answer, unless a newer call has begun. Aborts the older call. */
async function ask(call: Call, sendCall: SendCall): Promise<void> {
  const signal = begin();
  answer.ariaBusy = 'true';
  say('The call is under way.');
  leadToAnswer();
  const report = await sendCall(signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (report === undefined || signal.aborted) return;
  const answered = { call, sendCall, report };
  keepAnswer(queryOf(call), answered);
  showAnswer(answered);
}

/** On a small screen the answer is far below the button. A large one shows form and answer at once, and stays where it is. */
function leadToAnswer(): void {
  heading.focus({ preventScroll: true });
  const { top } = heading.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) heading.scrollIntoView();
}

function keepAnswer(query: string | undefined, answered: Answered): void {
  if (query === undefined) return;
  // A Map keeps the order of insertion.
  answers.delete(query);
  answers.set(query, answered);
  for (const oldest of answers.keys()) if (answers.size > MOST_ANSWERS) answers.delete(oldest);
}

function showAnswer(answered: Answered): void {
  answer.ariaBusy = 'false';
  // A part of the older answer that has the focus goes away with it.
  const isFocusInside = answer.contains(document.activeElement);
  const box = element('div');
  answer.replaceChildren(box);
  showTab(answered, box);
  if (isFocusInside) heading.focus();
  say(summaryOf(answered.report));
  void showLeft(answered, box);
}

/** Shows an answer with the open tab, and keeps what the box shows of it already. */
function showTab(answered: Answered, box: HTMLElement): void {
  const { call, sendCall, report, exact } = answered;
  const view = answerView(report, {
    api: API,
    exact,
    tab,
    onTab(name) {
      tab = name;
      showTab(answered, box);
    },
    onAskAgain: () => void ask(call, sendCall),
    onSuggestion(suggestion) {
      fillIdentifier(suggestion.identifier);
      start();
    },
  });
  render(view, box);
}

/** Puts the exact figure in place of the answer's estimate. */
async function showLeft(answered: Answered, box: HTMLElement): Promise<void> {
  const signal = begin();
  answered.exact = await remainingAfter(answered.call, answered.report, signal);
  if (!signal.aborted) showTab(answered, box);
}

function say(text: string): void {
  byId('status', HTMLElement).textContent = text;
}

function byId<T extends HTMLElement>(id: string, type: abstract new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no #${id}`);
  return found;
}
