import type { BrandDataError, Limit, Match, RecordSource, Suggestion } from '@brand-data/client/source';
import { element } from '@brand-data/client/source/dom';
import type { CallReport } from './call.ts';
import { dateText, numberText } from './figures.ts';
import { flatView, groupedView } from './record.ts';
import { tabsView } from './tabs.ts';
import { matchWords } from './words.ts';

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: 'OK',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

export interface AnswerOptions {
  /** The base URL of the service. */
  api: string;
  /** The tab that is open. */
  tab: string;
  onTab: (name: string) => void;
  /** Makes the same call with the record's ETag. */
  onAskAgain: () => void;
  onSuggestion: (suggestion: Suggestion) => void;
}

/** Returns all that the page shows of an answer, or of a call without one. */
export function answerView(report: CallReport, options: AnswerOptions): HTMLElement {
  const { outcome, response } = report;
  const readable =
    outcome.kind === 'failed'
      ? errorView(outcome.error, options)
      : outcome.kind === 'grouped'
        ? groupedView(outcome.answer, options.api)
        : flatView(outcome.answer, options.api);
  const box = element('div', { class: 'panel result' }, factsView(report, options));
  const tabs = [
    { name: outcome.kind === 'failed' ? 'Error' : 'Record', content: () => readable },
    { name: 'JSON', content: () => bodyView(report) },
    { name: 'Headers', content: () => headersView(response?.headers ?? []) },
  ];
  const { tab: chosen, onTab: onChoice } = options;
  const names = { id: 'answer', label: 'Views of the answer' };
  box.append(response === undefined ? readable : tabsView(tabs, { ...names, chosen, onChoice }));
  return box;
}

/** One sentence for people who hear the page. */
export function summaryOf(report: CallReport): string {
  const { outcome, response } = report;
  const what = outcome.kind === 'failed' ? outcome.error.detail : outcome.answer.data.name;
  const { quota } = factsIn(report);
  const left = quota === undefined ? '' : ` ${leftText(quota)}.`;
  return `${statusOf(response)}: ${what}${/[.!?]$/.test(what) ? '' : '.'} ${chargeOf(report).text}.${left}`;
}

/** Says what is left of the month. Headers have an estimate of the gateway that answered; /v1/usage has the exact figure. */
export function leftText(
  { remaining, allowance }: Pick<Limit, 'remaining' | 'allowance'>,
  isExact = false,
): string {
  const left = `${numberText(remaining)} of ${numberText(allowance)} calls left this month`;
  return isExact ? left : `About ${left}`;
}

function factsView(report: CallReport, { onAskAgain }: AnswerOptions): HTMLElement {
  const { outcome, response, ms } = report;
  const { quota } = factsIn(report);
  const charge = chargeOf(report);
  const good = outcome.kind === 'failed' ? 'bad' : 'good';
  const texts = [
    `${Math.round(ms)} ms`,
    ...(response?.body ? [sizeOf(new TextEncoder().encode(response.body).length)] : []),
  ];
  const facts = element(
    'div',
    { class: 'facts' },
    element('span', { class: `badge ${good}` }, statusOf(response)),
    element('span', { class: `badge ${charge.kind}` }, charge.text),
    ...texts.map((text) => element('span', {}, text)),
    ...(quota ? [element('span', { id: 'left' }, leftText(quota))] : []),
  );
  const box = element('div', { class: 'summary' }, facts);
  if (outcome.kind === 'failed') return box;
  const { match, sources } = outcome.answer;
  if (match !== undefined) box.append(matchView(match));
  if (sources.length > 0) box.append(sourcesView(sources));
  const again = element('button', { type: 'button', id: 'again', class: 'quiet' }, 'Ask again with its ETag');
  again.addEventListener('click', onAskAgain);
  const note =
    response?.status === 304
      ? 'The record has not changed, so the answer has no body. It counts like a 200.'
      : 'If the record has not changed, the answer is a 304 without a body. It counts like a 200.';
  box.append(element('p', { class: 'again' }, again, element('small', {}, note)));
  return box;
}

function matchView(match: Match): HTMLElement {
  const [before, after] = matchWords(match);
  const why = element('strong', {}, 'Why this record: ');
  return element('p', { class: 'match' }, why, before, element('code', {}, match.value), after);
}

function sourcesView(sources: readonly RecordSource[]): HTMLElement {
  const link = element('a', { href: 'docs/sources' }, 'Sources');
  const texts = sources.map(({ name, date }) => (date === undefined ? name : `${name} (${dateText(date)})`));
  return element('p', { class: 'match' }, element('strong', {}, link, ': '), texts.join(', '));
}

function errorView(
  { code, detail, suggestions, retryAfter }: BrandDataError,
  options: AnswerOptions,
): HTMLElement {
  const box = element(
    'div',
    { class: 'error' },
    element('h3', {}, TITLES[code] ?? 'The call brought no record'),
    element('p', {}, detail),
  );
  if (suggestions.length > 0) {
    const buttons = suggestions.map((suggestion) => {
      const identifier = element('code', {}, suggestion.identifier);
      const button = element('button', { type: 'button', class: 'chip' }, suggestion.name, identifier);
      button.addEventListener('click', () => options.onSuggestion(suggestion));
      return button;
    });
    const attributes = { class: 'row suggestions', role: 'group', 'aria-labelledby': 'suggestions' };
    box.append(
      element('p', { id: 'suggestions' }, 'Did you mean one of these? A click makes another call.'),
      element('div', attributes, ...buttons),
    );
  }
  if (retryAfter !== undefined)
    box.append(element('p', {}, `The service asks to wait ${waitOf(retryAfter)} before the next call.`));
  if (options.api !== '' && !OWN_CODES.includes(code)) {
    const href = `docs/errors#${encodeURIComponent(code)}`;
    const link = element('a', { href }, 'what it means and what to do');
    box.append(element('p', {}, 'Code ', element('code', {}, code), ': ', link));
  }
  return box;
}

/** The client's codes, for calls without an answer of the service. */
const OWN_CODES: readonly string[] = ['timed_out', 'network_failed', 'answer_unreadable'];
const TITLES: Readonly<Record<string, string>> = {
  identifier_invalid: 'This cannot be an identifier',
  token_missing: 'The call has no token',
  token_invalid: 'The token is not valid',
  plan_required: "The account's plan does not include this route",
  origin_not_allowed: 'The token is not for this page',
  address_blocked: 'Your address is blocked',
  identifier_not_found: 'Nothing is known by this identifier',
  quota_exceeded: "The month's quota is used up",
  rate_limited: 'Too many calls at once',
  upstream_unavailable: 'The service cannot answer now',
  overloaded: 'The service has too much to do',
  network_failed: 'No answer arrived',
  timed_out: 'No answer arrived in time',
};

function bodyView({ response, outcome }: CallReport): Node {
  if (response?.status !== 304) return jsonView(response?.body ?? '');
  const note = element('p', {}, 'A 304 has no body. This is the record that the page had.');
  const kept = outcome.kind === 'failed' ? '' : JSON.stringify(outcome.answer.data);
  return element('div', {}, note, jsonView(kept));
}

function headersView(headers: readonly (readonly [string, string])[]): HTMLElement {
  const rows = headers.map(([name, value]) =>
    element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, value)),
  );
  const table = element('table', {}, element('tbody', {}, ...rows));
  const note = element('small', {}, 'A browser shows pages only some of the headers.');
  const attributes = { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Headers' };
  return element('div', attributes, table, element('p', {}, note));
}

/** Whether the call was counted, in words. An answer without the header is one that the service never counts. */
function chargeOf(report: CallReport): { kind: 'counted' | 'free' | 'unsure'; text: string } {
  const { response } = report;
  const { charged } = factsIn(report);
  if (charged === true)
    return response?.status === 503 || response?.status === 500
      ? { kind: 'unsure', text: 'This call may have been counted' }
      : { kind: 'counted', text: 'This call was counted' };
  if (charged === false || (response !== undefined && response.status < 500))
    return { kind: 'free', text: 'This call was not counted' };
  return { kind: 'unsure', text: 'Unknown whether this call was counted' };
}

function factsIn({ outcome }: CallReport) {
  return outcome.kind === 'failed' ? outcome.error : outcome.answer;
}

const statusOf = (response: CallReport['response']): string =>
  response === undefined ? 'No answer' : `${response.status} ${STATUS_TEXTS[response.status] ?? ''}`.trim();
const sizeOf = (bytes: number): string => (bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`);

function waitOf(seconds: number): string {
  const [size, unit] = seconds < 120 ? [1, 'second'] : seconds < 172_800 ? [3_600, 'hour'] : [86_400, 'day'];
  const count = Math.ceil(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** A string, which a colon follows if it is a key, or a number, or a word. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)/g;

/** Returns the JSON text indented and coloured. Text that is not JSON stays as it is. */
function jsonView(body: string): HTMLElement {
  const text = indented(body);
  const code = element('code');
  let shown = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon, number] = match;
    const kind = string === undefined ? (number === undefined ? 'word' : 'number') : colon ? 'key' : 'string';
    const word = element('span', { class: kind }, string ?? token);
    code.append(text.slice(shown, match.index), word, colon ?? '');
    shown = match.index + token.length;
  }
  code.append(text.slice(shown));
  return element('pre', { class: 'json', tabindex: '0', role: 'group', 'aria-label': 'JSON' }, code);
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
