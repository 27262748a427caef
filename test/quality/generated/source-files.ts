import { gzipSync } from 'node:zlib';
import type { Random } from '@brand-data/testing/random';
import ODD from '../odd-texts.json' with { type: 'json' };
import { pick, someText } from './inputs.ts';

/** How many lines a generated file has, unless it is cut or made longer. */
export const LINES = 50;

/** Texts of cells and of JSON. Few of each kind, so that rows have them in common. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  ...ODD.texts,
  figure: [...ODD.texts.figure, '9'.repeat(400)],
  summary: [...ODD.texts.summary, `${'formerly known as Acme is now '.repeat(40)}.`],
};
/** The columns of tables, and the kind of text of each. */
const COLUMNS: Readonly<Record<string, string>> = ODD.columns;
const KINDS_OF_TEXT = Object.keys(TEXTS);

/** A table, now and then with rows that are too long, too short or badly quoted. */
export function tableOf(random: Random): string {
  const columns = Object.keys(COLUMNS).filter(() => random.unit() < 0.95);
  if (random.unit() < 0.02) columns.push(pick([someText(random, 4), 'name', '__proto__'], random));
  const delimiter = pick([',', ',', ',', ';', '\t', '|'], random);
  const rows = Array.from({ length: LINES - 1 }, () => {
    const cells = columns.map((column) => cellOf(textOf(COLUMNS[column], random), random));
    if (random.unit() < 0.03) cells.push(someText(random, 3));
    return cells.join(delimiter);
  });
  return [columns.join(delimiter), ...rows].join('\n');
}

function cellOf(text: string, random: Random): string {
  const isQuoted = /[",;\t|\n]/.test(text) || random.unit() < 0.1;
  if (!isQuoted || random.unit() < 0.02) return text;
  return `"${random.unit() < 0.02 ? text : text.replaceAll('"', '""')}"`;
}

/** A text of this kind, or any text. */
function textOf(kind: string | undefined, random: Random): string {
  if (random.unit() < 0.1) return someText(random, 6);
  return pick(
    TEXTS[kind !== undefined && random.unit() < 0.95 ? kind : pick(KINDS_OF_TEXT, random)] ?? [''],
    random,
  );
}

/** Records, one on each line. In each one a value is wrong. */
export function recordsOf(random: Random): string[] {
  return Array.from({ length: LINES }, (_, number) => {
    if (random.unit() < 0.1) return someText(random, 12);
    const record: Record<string, unknown> = {
      id: random.unit() < 0.9 ? `acme-${number}` : textOf('name', random),
      name: textOf('name', random) || 'Acme',
      names: [textOf('name', random)],
      listings: [{ ticker: pick(['AAPL', 'APC'], random), mic: 'XNAS', isin: textOf('isin', random) }],
      links: { websites: [textOf('website', random)] },
      company: { headquarters: { country: textOf('country', random) } },
      sources: [{ name: 'x' }],
    };
    if (random.unit() < 0.2)
      record.images = { logo: { light: textOf('picture', random), dark: textOf('picture', random) } };
    if (random.unit() < 0.5) changeOneValue(record, random);
    return JSON.stringify(record);
  });
}

/** Market data, one object on each line. */
export function quotesOf(random: Random): string[] {
  return Array.from({ length: LINES }, () => {
    const quote: Record<string, unknown> = Object.fromEntries(
      Object.entries(COLUMNS)
        .filter(() => random.unit() < 0.95)
        .map(([column, kind]) => [column, random.unit() < 0.9 ? textOf(kind, random) : jsonOf(random, 2)]),
    );
    return random.unit() < 0.95 ? JSON.stringify(quote) : someText(random, 8);
  });
}

/** Fields to set, one on each line. */
export function settingsOf(random: Random): string[] {
  const fields = [
    'name',
    'names',
    'listings',
    'rank',
    'links.websites',
    'company.ceo',
    'images.logo',
    '__proto__',
  ];
  return Array.from({ length: LINES }, (_, number) => {
    const value = random.unit() < 0.5 ? textOf(undefined, random) : jsonOf(random, 3);
    const setting = { id: `acme-${number}`, field: pick(fields, random), value, reason: 'generated' };
    if (random.unit() < 0.1) changeOneValue(setting, random);
    return JSON.stringify(setting);
  });
}

/** A dump of Wikidata. Some items are companies, and most values have a wrong type now and then. */
export function dumpOf(random: Random): string[] {
  const items = Array.from({ length: LINES - 2 }, () => {
    if (random.unit() < 0.05) return someText(random, 8);
    const claims = Object.fromEntries(
      Array.from({ length: Math.floor(random.unit() * 10) }, () => {
        const property = pick(ODD.properties, random);
        return [
          property,
          Array.from({ length: Math.floor(random.unit() * 4) }, () => statementOf(property, random)),
        ];
      }),
    );
    const texts = { en: { language: 'en', value: textOf('name', random) }, ja: { value: '任天堂' } };
    const item: Record<string, unknown> = {
      type: random.unit() < 0.95 ? 'item' : 'property',
      id: pick(ODD.items, random),
      labels: texts,
      descriptions: texts,
      aliases: { en: [{ value: textOf('name', random) }] },
      claims: random.unit() < 0.97 ? claims : [],
      sitelinks: { enwiki: { title: textOf('name', random) }, __proto__: null },
      modified: textOf('date', random),
    };
    if (random.unit() < 0.3) changeOneValue(item, random);
    return JSON.stringify(item);
  });
  return [
    '[',
    ...items.map((item, index) => (index < items.length - 1 ? `${item},` : item)),
    random.unit() < 0.9 ? ']' : '',
  ];
}

function statementOf(property: string, random: Random): unknown {
  const qualifiers = Object.fromEntries(
    ODD.qualifiers.filter(() => random.unit() < 0.3).map((each) => [each, [snakOf(each, random)]]),
  );
  return {
    mainsnak: snakOf(property, random),
    type: 'statement',
    rank: pick(['normal', 'normal', 'preferred', 'deprecated', 1], random),
    qualifiers,
  };
}

function snakOf(property: string, random: Random): unknown {
  if (random.unit() < 0.05)
    return pick([{ snaktype: 'somevalue' }, null, 'x', [], { snaktype: 'value' }], random);
  const value = pick(
    [
      { 'entity-type': 'item', id: pick(ODD.items, random) },
      { 'entity-type': 'item', id: pick(ODD.items, random) },
      textOf(pick(KINDS_OF_TEXT, random), random),
      { text: textOf('name', random), language: 'en' },
      { time: `+${textOf('date', random)}T00:00:00Z`, precision: pick([6, 8, 9, 10, 11, '9'], random) },
      { amount: textOf('figure', random), unit: '1' },
      { latitude: pick([1, 91, '1'], random), longitude: 1, globe: 'http://www.wikidata.org/entity/Q2' },
    ],
    random,
  );
  return {
    snaktype: 'value',
    property,
    datavalue: { value: random.unit() < 0.95 ? value : jsonOf(random, 3) },
  };
}

/** Any JSON value. */
function jsonOf(random: Random, depth: number): unknown {
  const kind = random.unit();
  if (depth > 0 && kind < 0.25)
    return Array.from({ length: Math.floor(random.unit() * 4) }, () => jsonOf(random, depth - 1));
  if (depth > 0 && kind < 0.5)
    return Object.fromEntries(
      Array.from({ length: Math.floor(random.unit() * 4) }, () => [
        pick(['id', 'name', 'value', 'ticker', '__proto__', 'constructor', '', 'light'], random),
        jsonOf(random, depth - 1),
      ]),
    );
  return pick([null, true, 0, -1, 1e308, 2 ** 53, '', 'x', textOf(undefined, random)], random);
}

/** Replaces one value, at any depth, by any other. */
function changeOneValue(object: object, random: Random): void {
  const names = Object.keys(object);
  if (names.length === 0) return;
  const name = pick(names, random) as keyof typeof object;
  const value: unknown = object[name];
  if (typeof value === 'object' && value !== null && random.unit() < 0.7) changeOneValue(value, random);
  else Object.assign(object, { [name]: jsonOf(random, 4) });
}

const ENDLESS_BYTES = 1 << 20;

/** The bytes of a file with these lines. Some files are damaged, in another encoding, compressed, or much of the same. */
export function bytesOfFile(content: string, random: Random): Buffer {
  if (random.unit() < 0.003) return gzipSync(endlessText(content, random));
  let bytes = damaged(Buffer.from(withOddLines(content, random)), random);
  if (random.unit() > 0.15) return bytes;
  bytes = gzipSync(bytes, { level: 1 });
  if (random.unit() < 0.1) return Buffer.concat([bytes, bytes]);
  if (random.unit() < 0.1) return gzipSync(bytes);
  return random.unit() < 0.3 ? damaged(bytes, random) : bytes;
}

function endlessText(content: string, random: Random): string {
  const piece = pick([...ODD.endless, content], random);
  const start = random.unit() < 0.5 ? '' : `${content.split('\n', 1)[0]}\n`;
  return start + piece.repeat(Math.ceil(ENDLESS_BYTES / Math.max(1, piece.length)));
}

function withOddLines(content: string, random: Random): string {
  const kind = random.unit();
  if (kind < 0.03) return content.replaceAll('\n', '\r\n');
  if (kind < 0.05) return `\ufeff${content.replaceAll('\n', '\n\ufeff')}`;
  if (kind < 0.06) return content.replaceAll('\n', '\r');
  if (kind < 0.08) return content.replaceAll('e', '\u001b[2J\u0007\u009b');
  if (kind < 0.09) return content + '['.repeat(70);
  return content;
}

function damaged(bytes: Buffer, random: Random): Buffer {
  const kind = random.unit();
  const at = Math.floor(random.unit() * bytes.length);
  if (kind < 0.05) return bytes.subarray(0, at);
  if (kind < 0.06) return Buffer.from(bytes.toString(), 'latin1');
  if (kind < 0.07) return Buffer.from(bytes.toString(), 'utf16le');
  if (kind < 0.072) return Buffer.concat([Buffer.from('BZh9'), bytes]);
  if (kind > 0.12) return bytes;
  const copy = Buffer.from(bytes);
  for (let count = 0; count < 4; count += 1)
    copy[Math.floor(random.unit() * copy.length)] = Math.floor(random.unit() * 256);
  return copy;
}
