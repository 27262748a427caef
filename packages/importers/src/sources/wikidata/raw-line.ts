import { parseJson } from '../../formats/json.ts';
import { mayBeCompany } from './classes.ts';
import { type ItemNumber, itemNumber, type Statement } from './entity.ts';

/**
 * What a line holds, as far as it shows without parsing: the number of a whole item, `blank` (the line is empty or a bracket of the
 * array), `other` (a lexeme or property), or `unknown` (the line must be parsed).
 */
export type Glimpse = ItemNumber | 'blank' | 'other' | 'unknown';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const QUOTE = 0x22;
const CAPITAL_P = 0x50;
const HEAD = /^\{"(?:type":"([a-z]+)","id":"([QPLM]\d+)"|id":"([QPLM]\d+)","type":"([a-z]+)")/;
const HEAD_BYTES = 64;

const isVisible = (byte: number) => byte > 0x20;

/** Returns the JSON in a line of a dump, without the comma after it and without brackets of the array. */
export function trimmed(line: Buffer): Buffer {
  let start = Math.max(line.findIndex(isVisible), 0);
  let end = line.findLastIndex(isVisible) + 1;
  if (line[end - 1] === COMMA) end--;
  if (end - start > 1 && line[start] === OPEN_BRACKET) start++;
  if (end - start > 1 && line[end - 1] === CLOSE_BRACKET && line[start] === OPEN_BRACE) end--;
  return line.subarray(start, end);
}

export function opensArray(line: Buffer): boolean {
  return line[0] === OPEN_BRACKET;
}

export function closesArray(line: Buffer): boolean {
  return line.findLast(isVisible) === CLOSE_BRACKET;
}

/** Finds out what a line of a dump holds without parsing it. The line must be trimmed. */
export function glimpse(json: Buffer): Glimpse {
  if (json.length === 0 || (json.length === 1 && (opensArray(json) || closesArray(json)))) return 'blank';
  const head = HEAD.exec(json.toString('latin1', 0, HEAD_BYTES));
  if (head === null || json[json.length - 1] !== CLOSE_BRACE) return 'unknown';
  const [, type, id, otherId, otherType] = head;
  return (type ?? otherType) === 'item' ? (itemNumber(id ?? otherId) ?? 'unknown') : 'other';
}

/** The start of a property's statements. It occurs nowhere else, because quotes inside a text have backslashes. */
const STATEMENTS = Buffer.from('":[{"mainsnak":');

const AFTER_CLAIMS = Buffer.from('},"sitelinks":');
const BETWEEN_PROPERTIES = ',"';
/** More properties, and more classes, than any item has. */
const MOST_GLIMPSED = 10_000;

/**
 * Returns the range of each property's statements in an item's JSON, from the quote after the property's id to the quote before the
 * next property's id. Undefined if the JSON has another form.
 */
function propertiesOf(json: Buffer): Map<string, [start: number, end: number]> | undefined {
  const properties = new Map<string, [number, number]>();
  let last: [number, number] | undefined;
  for (let at = json.indexOf(STATEMENTS); at >= 0; at = json.indexOf(STATEMENTS, at + STATEMENTS.length)) {
    const start = json.lastIndexOf(QUOTE, at - 1) + 1;
    if (json[start] !== CAPITAL_P) return undefined;
    if (last !== undefined) last[1] = start;
    last = [at, json.length];
    properties.set(json.toString('latin1', start, at), last);
    if (properties.size > MOST_GLIMPSED) return undefined;
  }
  const end = json.lastIndexOf(AFTER_CLAIMS);
  if (last !== undefined && end > last[0]) last[1] = end + BETWEEN_PROPERTIES.length;
  return properties.size > 0 || !json.includes('"mainsnak"') ? properties : undefined;
}

const ITEM_ID = /"id":"Q(\d+)"/g;

/** Which facts the import may need from an item. */
export interface Worth {
  company: boolean;
  /** A country, a part of one, an exchange or a language. */
  landmark: boolean;
  /** The statements that say what a place is part of. */
  partOf: Statement[];
}

const LANDMARKS = ['P297', 'P300', 'P7534', 'P218'];
/** The property of a place that names the place that it is part of. */
export const PART_OF = 'P131';
const WORTH_A_LOOK: Worth = { company: true, landmark: true, partOf: [] };

/**
 * Finds out, almost without parsing, what the import may need from an item's trimmed JSON. The result may include more than the
 * item has, but never less.
 */
export function worthOf(json: Buffer): Worth {
  const properties = propertiesOf(json);
  if (properties === undefined) return WORTH_A_LOOK;
  const has = (property: string) => properties.has(property);
  const [start, end] = properties.get('P31') ?? [0, 0];
  const classes: ItemNumber[] = [];
  for (const [, id] of json.toString('latin1', start, end).matchAll(ITEM_ID))
    if (classes.push(Number(id)) > MOST_GLIMPSED) return WORTH_A_LOOK;
  const company = mayBeCompany({ classes, has });
  const landmark = LANDMARKS.some(has);
  if (company || landmark || !has(PART_OF)) return { company, landmark, partOf: [] };
  const partOf = statementsIn(json, properties.get(PART_OF));
  return partOf === undefined ? WORTH_A_LOOK : { company, landmark, partOf };
}

/** Undefined if the statements cannot be cut out of the JSON, so that the whole line must be parsed. */
function statementsIn(json: Buffer, range: [number, number] | undefined): Statement[] | undefined {
  const [start, end] = range ?? [0, 0];
  const text = json.toString('utf8', start + '":'.length, end - BETWEEN_PROPERTIES.length);
  const parsed = parseJson(text);
  return 'value' in parsed && Array.isArray(parsed.value)
    ? parsed.value.filter((statement) => Object(statement) === statement)
    : undefined;
}
