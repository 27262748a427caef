import { safeUrl } from '@brand-data/client/source/dom';
import { html, type TemplateResult } from 'lit-html';
import { labelOf, numberText } from './figures.ts';

/** What a page shows of a value. Texts become text nodes. */
export type View = TemplateResult | string | undefined;
type Fact = readonly [label: string, value: View];

/** Returns a group's facts: a heading and a description list. undefined without facts. */
export function groupView(heading: string, facts: readonly Fact[], extra?: View): View {
  if (facts.length === 0 && extra === undefined) return undefined;
  const rows = facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`);
  return html`<section class="topic"><h4>${heading}</h4>${extra}<dl>${rows}</dl></section>`;
}

/** Returns the fields of an object that have data, except those that are shown elsewhere. */
export function fieldFacts(fields: object, api: string, leftOut: readonly string[] = []): Fact[] {
  return Object.entries(fields)
    .filter(([key, value]) => value !== null && value !== undefined && !leftOut.includes(key))
    .map(([key, value]) => [labelOf(key), valueView(key, value, api)]);
}

function valueView(key: string, value: unknown, api: string): View {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string') return textView(key, value, api);
  if (Array.isArray(value))
    return html`<ul>${value.map((each) => html`<li>${valueView(key, each, api)}</li>`)}</ul>`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (key === 'headquarters') return placeView({ ...value });
  return namedView(value, api);
}

function textView(key: string, text: string, api: string): View {
  if (key === 'wikidata_qid' && /^Q\d+$/.test(text))
    return linkView(`https://www.wikidata.org/wiki/${text}`, text, api);
  return /^https?:/i.test(text) ? linkView(text, shortUrl(text), api) : text;
}

/** Returns a person with a role, or a profile with a URL. */
function namedView(named: { name?: unknown; role?: unknown; url?: unknown }, api: string): View {
  const name = String(named.name ?? named.url ?? '');
  if (typeof named.url === 'string') return linkView(named.url, name, api);
  return named.role == null ? name : html`${name}<small>${named.role}</small>`;
}

function placeView(place: Record<string, unknown>): View {
  const line = (...keys: string[]) => keys.flatMap((key) => place[key] ?? []).join(', ');
  const notes = [line('cityNative', 'stateNative', 'countryNative'), line('latitude', 'longitude')];
  const country = place.country === undefined ? 'countryCode' : 'country';
  const small = notes.filter((note) => note !== '').map((note) => html`<small>${note}</small>`);
  return html`${line('city', 'state', country)}${small}`;
}

/** Returns a link, or the text alone if a page should not link there. */
export function linkView(address: string, text: string, api: string): View {
  const url = safeUrl(address, api);
  return url ? html`<a href=${url.href} target="_blank" rel="noopener noreferrer">${text}</a>` : text;
}

const shortUrl = (url: string): string => url.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, '');
