import { element, safeUrl } from '@brand-data/client/source/dom';
import { labelOf, numberText } from './figures.ts';

type Fact = readonly [label: string, value: Node | string];

/** Returns a group's facts: a heading and a description list. undefined without facts. */
export function groupView(heading: string, facts: readonly Fact[], extra?: Node): HTMLElement | undefined {
  if (facts.length === 0 && extra === undefined) return undefined;
  const rows = facts.map(([label, value]) =>
    element('div', {}, element('dt', {}, label), element('dd', {}, value)),
  );
  const list = rows.length > 0 ? element('dl', {}, ...rows) : '';
  return element('section', { class: 'topic' }, element('h4', {}, heading), extra ?? '', list);
}

/** Returns the fields of an object that have data, except those that are shown elsewhere. */
export function fieldFacts(fields: object, api: string, leftOut: readonly string[] = []): Fact[] {
  return Object.entries(fields)
    .filter(([key, value]) => value !== null && value !== undefined && !leftOut.includes(key))
    .map(([key, value]) => [labelOf(key), valueView(key, value, api)]);
}

function valueView(key: string, value: unknown, api: string): Node | string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string') return textView(key, value, api);
  if (Array.isArray(value)) {
    const items = value.map((each) => element('li', {}, valueView(key, each, api)));
    return element('ul', {}, ...items);
  }
  if (typeof value !== 'object' || value === null) return String(value);
  if (key === 'headquarters') return placeView({ ...value });
  return namedView(value, api);
}

function textView(key: string, text: string, api: string): Node | string {
  if (key === 'wikidata_qid' && /^Q\d+$/.test(text))
    return linkView(`https://www.wikidata.org/wiki/${text}`, text, api);
  return /^https?:/i.test(text) ? linkView(text, shortUrl(text), api) : text;
}

/** Returns a person with a role, or a profile with a URL. */
function namedView(named: { name?: unknown; role?: unknown; url?: unknown }, api: string): Node | string {
  const name = String(named.name ?? named.url ?? '');
  if (typeof named.url === 'string') return linkView(named.url, name, api);
  return named.role == null ? name : element('span', {}, name, element('small', {}, String(named.role)));
}

function placeView(place: Record<string, unknown>): Node {
  const line = (...keys: string[]) => keys.flatMap((key) => place[key] ?? []).join(', ');
  const notes = [line('cityNative', 'stateNative', 'countryNative'), line('latitude', 'longitude')];
  const country = place.country === undefined ? 'countryCode' : 'country';
  const small = notes.filter((note) => note !== '').map((note) => element('small', {}, note));
  return element('span', {}, line('city', 'state', country), ...small);
}

/** Returns a link, or the text alone if a page should not link there. */
export function linkView(address: string, text: string, api: string): Node | string {
  const url = safeUrl(address, api);
  if (url === undefined) return text;
  return element('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, text);
}

const shortUrl = (url: string): string => url.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, '');
