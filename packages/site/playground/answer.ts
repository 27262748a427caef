import type { BrandDataError, Limit, PoolUsage, RecordAnswer, Suggestion } from '@brand-data/client/source';
import { html, type TemplateResult } from 'lit-html';
import type { CallReport } from './call.ts';
import type { View } from './facts.ts';
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
  /** What is left of the month once `/v1/usage` includes the call. */
  exact: PoolUsage | undefined;
  /** The tab that is open. */
  tab: string;
  onTab: (name: string) => void;
  /** Makes the same call with the record's ETag. */
  onAskAgain: () => void;
  onSuggestion: (suggestion: Suggestion) => void;
}

/** Returns all that the page shows of an answer, or of a call without one. */
export function answerView(report: CallReport, options: AnswerOptions): TemplateResult {
  const { outcome, response } = report;
  const { api, tab: chosen, onTab: onChoice } = options;
  const panels = {
    ...(outcome.kind === 'failed' && {
      Error: () => errorView(outcome.error, response, options.onSuggestion),
    }),
    ...(outcome.kind === 'grouped' && { Record: () => groupedView(outcome.answer, api) }),
    ...(outcome.kind === 'flat' && { Record: () => flatView(outcome.answer, api) }),
    JSON: () => bodyView(report),
    Headers: () => headersView(response?.headers ?? []),
  };
  const names = { id: 'answer', label: 'Views of the answer' };
  const [first] = Object.values(panels);
  return html`<div class="panel result">
${factsView(report, options)}
${response === undefined ? first?.() : tabsView(panels, { ...names, chosen, onChoice })}
</div>`;
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
function leftText({ remaining, allowance }: Pick<Limit, 'remaining' | 'allowance'>, isExact = false): string {
  const left = `${numberText(remaining)} of ${numberText(allowance)} calls left this month`;
  return isExact ? left : `About ${left}`;
}

function factsView(report: CallReport, { exact, onAskAgain }: AnswerOptions): TemplateResult {
  const { outcome, response, ms } = report;
  const { quota } = factsIn(report);
  const charge = chargeOf(report);
  const left = exact === undefined ? quota && leftText(quota) : leftText(exact, true);
  return html`<div class="summary">
<div class="facts">
<span class="badge ${outcome.kind === 'failed' ? 'bad' : 'good'}">${statusOf(response)}</span>
<span class="badge ${charge.kind}">${charge.text}</span>
<span>${Math.round(ms)} ms</span>
${response?.body ? html`<span>${sizeOf(new TextEncoder().encode(response.body).length)}</span>` : undefined}
${left && html`<span id="left">${left}</span>`}
</div>
${outcome.kind === 'failed' ? undefined : originView(outcome.answer)}
${outcome.kind === 'failed' ? undefined : againView(response?.status === 304, onAskAgain)}
</div>`;
}

/** Returns why the answer has this record, and where the record comes from. */
function originView({ match, sources }: RecordAnswer<unknown>): View {
  const [before, after] = match === undefined ? [] : matchWords(match);
  const texts = sources.map(({ name, date }) => (date === undefined ? name : `${name} (${dateText(date)})`));
  return html`${match && html`<p class="match"><strong>Why this record: </strong>${before}<code>${match.value}</code>${after}</p>`}
${texts.length > 0 ? html`<p class="match"><strong><a href="docs/sources">Sources</a>: </strong>${texts.join(', ')}</p>` : undefined}`;
}

function againView(isUnchanged: boolean, onAskAgain: () => void): View {
  const note = isUnchanged
    ? 'The record has not changed, so the answer has no body.'
    : 'If the record has not changed, the answer is a 304 without a body.';
  return html`<p class="again">
<button type="button" id="again" @click=${onAskAgain}>Ask again with its ETag</button>
<small>${note} It counts like a 200.</small>
</p>`;
}

function errorView(
  { code, detail, suggestions, retryAfter }: BrandDataError,
  response: CallReport['response'],
  onSuggestion: AnswerOptions['onSuggestion'],
): TemplateResult {
  const ownTitle = OWN_TITLES[code];
  const chips = suggestions.map(
    (suggestion) =>
      html`<button type="button" class="chip" @click=${() => onSuggestion(suggestion)}>${suggestion.name}<code>${suggestion.identifier}</code></button>`,
  );
  return html`<div class="error">
<h3>${ownTitle ?? JSON.parse(response?.body ?? '{}').title}</h3>
<p>${detail}</p>
${chips.length > 0 ? suggestionsView(chips) : undefined}
${retryAfter === undefined ? undefined : html`<p>The service asks to wait ${waitOf(retryAfter)} before the next call.</p>`}
${ownTitle === undefined ? html`<p>Code <code>${code}</code>: <a href="docs/errors#${code}">what it means and what to do</a></p>` : undefined}
</div>`;
}

const suggestionsView = (chips: View[]): View =>
  html`<p id="suggestions">Did you mean one of these? A click makes another call.</p>
<div class="row suggestions" role="group" aria-labelledby="suggestions">${chips}</div>`;

/** The titles of the client's errors, for calls without an answer of the service. */
const OWN_TITLES: Readonly<Record<string, string>> = {
  answer_unreadable: 'The call brought no record',
  network_failed: 'No answer arrived',
  timed_out: 'No answer arrived in time',
};

function bodyView({ response, outcome }: CallReport): TemplateResult {
  if (response?.status !== 304) return jsonView(response?.body ?? '');
  const kept = outcome.kind === 'failed' ? '' : JSON.stringify(outcome.answer.data);
  return html`<div><p>A 304 has no body. This is the record that the page had.</p>${jsonView(kept)}</div>`;
}

function headersView(headers: readonly (readonly [string, string])[]): TemplateResult {
  const rows = headers.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Headers">
<table><tbody>${rows}</tbody></table>
<p><small>A browser lets a page see only some of the headers.</small></p>
</div>`;
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

/** A string, which a colon follows if it is a key, or another value. */
const JSON_PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g;

/** Returns the JSON text indented, with the marks of its syntax. Text that is not JSON stays as it is. */
function jsonView(body: string): TemplateResult {
  const text = indented(body);
  const parts: View[] = [];
  let shown = 0;
  for (const { 0: part, 1: string = part, 2: colon, index } of text.matchAll(JSON_PARTS)) {
    const kind = colon ? 'attr' : part.startsWith('"') ? 'string' : 'number';
    parts.push(text.slice(shown, index), html`<span class="hljs-${kind}">${string}</span>`, colon);
    shown = index + part.length;
  }
  return html`<pre class="json" tabindex="0" role="group" aria-label="JSON"><code>${parts}${text.slice(shown)}</code></pre>`;
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
