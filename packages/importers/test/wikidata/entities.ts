/** Makes entities in the form of Wikidata's dumps. */

export type Value = { type: string; value: unknown };

export const item = (id: string): Value => ({
  type: 'wikibase-entityid',
  value: { 'entity-type': 'item', 'numeric-id': Number(id.slice(1)), id },
});
export const text = (value: string): Value => ({ type: 'string', value });
export const local = (language: string, value: string): Value => ({
  type: 'monolingualtext',
  value: { text: value, language },
});
export const amount = (value: string): Value => ({ type: 'quantity', value: { amount: value, unit: '1' } });
export const place = (latitude: number, longitude: number): Value => ({
  type: 'globecoordinate',
  value: {
    latitude,
    longitude,
    altitude: null,
    precision: 0.0001,
    globe: 'http://www.wikidata.org/entity/Q2',
  },
});
/** "1976-04-01", "1976-04", "1976", "1970s". */
export const time = (written: string, calendar = 'Q1985727'): Value => {
  const [year = '', month = '00', day = '00'] = written.replace('s', '').split('-');
  const precision = written.endsWith('s') ? 8 : 8 + written.split('-').length;
  return {
    type: 'time',
    value: {
      time: `+${year}-${month}-${day}T00:00:00Z`,
      timezone: 0,
      before: 0,
      after: 0,
      precision,
      calendarmodel: `http://www.wikidata.org/entity/${calendar}`,
    },
  };
};
export const somevalue = 'somevalue';
export const novalue = 'novalue';

type Snaks = Record<string, Value | string | (Value | string)[]>;
export interface Claim {
  is: Value | string;
  rank?: 'preferred' | 'normal' | 'deprecated';
  with?: Snaks;
}
type Claims = Record<string, Value | string | (Claim | Value)[]>;

const listed = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);
const isClaim = (claim: Claim | Value | string): claim is Claim => typeof claim === 'object' && 'is' in claim;

function snak(property: string, value: Value | string) {
  const head = { snaktype: typeof value === 'string' ? value : 'value', property, hash: 'd56a0d1a' };
  return typeof value === 'string' ? head : { ...head, datavalue: value, datatype: 'wikibase-item' };
}

export interface Described {
  labels?: Record<string, string>;
  descriptions?: Record<string, string>;
  aliases?: Record<string, string[]>;
  claims?: Claims;
  enwiki?: string;
  /** Further wikis that have an article. */
  wikis?: string[];
  modified?: string;
}

/** Wikibase writes an empty map as an empty list. */
const mapOf = (entries: [string, unknown][]) => (entries.length === 0 ? [] : Object.fromEntries(entries));
const byLanguage = (texts: Record<string, string>) =>
  mapOf(Object.entries(texts).map(([language, value]) => [language, { language, value }]));

export function entity(id: string, described: Described = {}) {
  const { labels = {}, descriptions = {}, aliases = {}, claims = {}, enwiki, wikis = [] } = described;
  const sites = [
    ...(enwiki === undefined ? [] : [['enwiki', enwiki]]),
    ...wikis.map((wiki) => [wiki, enwiki ?? id]),
  ];
  return {
    type: 'item',
    id,
    labels: byLanguage(labels),
    descriptions: byLanguage(descriptions),
    aliases: mapOf(
      Object.entries(aliases).map(([language, values]) => [
        language,
        values.map((value) => ({ language, value })),
      ]),
    ),
    claims: mapOf(
      Object.entries(claims).map(([property, values]) => [
        property,
        listed<Claim | Value | string>(values).map((value, index) =>
          statement(property, isClaim(value) ? value : { is: value }, `${id}$${property}-${index}`),
        ),
      ]),
    ),
    sitelinks: mapOf(
      sites.map(([site = '', title]) => [
        site,
        { site, title, badges: site === 'enwiki' ? ['Q17437796'] : [] },
      ]),
    ),
    pageid: Number(id.slice(1)),
    ns: 0,
    title: id,
    lastrevid: 2_412_345_678,
    modified: described.modified ?? '2026-08-01T10:11:12Z',
  };
}

/** Returns an entity with an English label. */
export const named = (id: string, en: string, claims: Claims = {}) => entity(id, { labels: { en }, claims });

function statement(property: string, claim: Claim, id: string) {
  const qualifiers = Object.entries(claim.with ?? {}).map(([name, all]): [string, object[]] => [
    name,
    listed(all).map((each) => snak(name, each)),
  ]);
  return {
    mainsnak: snak(property, claim.is),
    type: 'statement',
    ...(qualifiers.length > 0 && {
      qualifiers: Object.fromEntries(qualifiers),
      'qualifiers-order': qualifiers.map(([name]) => name),
    }),
    id,
    rank: claim.rank ?? 'normal',
    references: [{ hash: '8f1a', snaks: { P248: [snak('P248', item('Q36578'))] }, 'snaks-order': ['P248'] }],
  };
}

/** Writes entities in the form of a dump: an array with one entity on each line. */
export function dumpOf(entities: readonly unknown[]): string {
  return `[\n${entities.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`;
}
