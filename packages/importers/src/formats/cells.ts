import { readWebHost } from '@brand-data/identifiers';
import { BrandRecord, categorySlug } from '@brand-data/records';
import CELL_FIELD_DATA from './cell-fields.json' with { type: 'json' };
import { readCurrency } from './currencies.ts';
import { type DateOrder, readDate } from './dates.ts';
import { readVenue } from './listing.ts';
import { countryCodeOf, readPlace } from './places.ts';
import { isBlank, isBlankName } from './texts.ts';
import { readWebsites } from './websites.ts';

export interface CellOptions {
  /** Separates the items of a list. */
  separator: string;
  decimalComma: boolean;
  dateOrder?: DateOrder | undefined;
  /** Where the security is traded or issued, or its company at home: tells venues of one name apart. */
  countries?: readonly string[];
}

/** How a cell of each kind is parsed, and what a cell is that cannot be parsed. */
const KINDS = {
  text: { read: (cell, _, field) => textOf(field, cell), wrong: 'not a valid value of' },
  texts: {
    read: (cell, { separator }, field) => itemsOf(cell, separator).map((item) => textOf(field, item)),
    wrong: 'not a valid value of',
  },
  venue: { read: readVenue, wrong: 'not a known exchange: write a market identifier code (ISO 10383)' },
  number: { read: readNumber, wrong: 'not a number' },
  amount: { read: readNumber, wrong: 'not an amount of money' },
  percentage: { read: readPercentage, wrong: 'not a percentage' },
  integer: { read: readInteger, wrong: 'not a whole number' },
  currency: { read: readUnit, wrong: 'not a currency code of ISO 4217' },
  boolean: { read: readBoolean, wrong: 'neither true nor false' },
  date: {
    read: (cell, { dateOrder }, field) =>
      readDate(cell, dateOrder) ?? (field === 'company.founded' ? cell : undefined),
    wrong: 'not a date: write YYYY-MM-DD',
  },
  websites: { read: readWebsites, wrong: 'not a website' },
  place: { read: readPlace, wrong: 'not a place' },
  people: {
    read: (cell, { separator }) => itemsOf(cell, separator).map(readPerson),
    wrong: 'not a list of people',
  },
  picture: { read: (cell) => cell, wrong: 'not a picture' },
} as const satisfies Record<
  string,
  { read(cell: string, options: CellOptions, field: string): unknown; wrong: string }
>;
export type Kind = keyof typeof KINDS;

const FIGURES: ReadonlySet<Kind> = new Set(['number', 'amount', 'percentage']);
const DECIMAL_COMMA = /\d,\d/;
const COMMA_HINT = ': if its comma is a decimal one, give --decimal-comma';

/** In these fields, "null" and "none" are ordinary words. */
const NAMES: ReadonlySet<string> = new Set(CELL_FIELD_DATA.names);

/** The fields that a column may give, by their dotted names. A row has at most one listing, so `listings` has no index. */
const FIELDS: ReadonlyMap<string, Kind> = new Map([
  ...fieldsOf('', BrandRecord as object),
  ...(Object.entries(CELL_FIELD_DATA.kinds) as [string, Kind][]),
]);
export const CELL_FIELDS = [...FIELDS.keys()];

export function isZero(cell: string): boolean {
  return cell.includes('0') && !/[1-9]/.test(cell);
}

/**
 * Tells whether a cell has no value. "None", "null" and "NA" have none, except as names and tickers; "NA" is the code of Namibia. An
 * amount of zero has none, because tables write 0.00 for a price or market value that is not known.
 */
export function isEmptyCell(field: string, cell: string): boolean {
  const kind = FIELDS.get(field) ?? 'text';
  if (kind === 'amount' && isZero(cell)) return true;
  if (field === 'company.headquarters.country_code' && cell.trim() === 'NA') return false;
  return NAMES.has(field) ? isBlankName(cell) : isBlank(cell);
}

/**
 * Returns the value that a cell gives a field, in the form that records use. The cell is not empty.
 *
 * @param kind how the cell is parsed, if the field is none of a record
 */
export function readCell(
  field: string,
  cell: string,
  options: CellOptions,
  kind: Kind = FIELDS.get(field) ?? 'text',
): { value: unknown } | { problem: string } {
  const { read, wrong } = KINDS[kind];
  const value: unknown = read(cell.trim(), options, field);
  if (isProblem(value)) return value;
  if (value !== undefined) return { value };
  const hint = FIGURES.has(kind) && !options.decimalComma && DECIMAL_COMMA.test(cell) ? COMMA_HINT : '';
  return {
    problem: `"${cell.slice(0, 100)}" is ${wrong.endsWith(' of') ? `${wrong} ${field}` : wrong}${hint}`,
  };
}

function isProblem(value: unknown): value is { problem: string } {
  return typeof value === 'object' && value !== null && 'problem' in value;
}

function itemsOf(cell: string, separator: string): string[] {
  return cell
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => !isBlankName(item));
}

function readInteger(cell: string, options: CellOptions): number | undefined {
  const number = readNumber(cell, options);
  return number !== undefined && Number.isInteger(number) ? number : undefined;
}

/** Reads a currency, or hundredths of one, which stay as they are written until the row's figures are known. */
function readUnit(cell: string): string | undefined {
  const read = readCurrency(cell);
  return read?.units === 1 ? read.currency : read && cell;
}

/** Fields of identifiers, which have no spaces and are in capitals. */
const CODE = /(?:[._]|^)(?:isin|cusip|figi|lei)$/;

/** Returns the text in the form that records use. */
function textOf(field: string, text: string): string | undefined {
  switch (field) {
    case 'domains':
      return readWebHost(text)?.domain ?? text;
    case 'category':
      return categorySlug(text) || undefined;
    case 'type':
      return text.toLowerCase();
    case 'company.headquarters.country_code':
      return /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : countryCodeOf(text);
    case 'links.wikidata_qid':
      return text.replace(/^https?:\/\/www\.wikidata\.org\/(?:entity|wiki)\//i, '').toUpperCase();
    default:
      return CODE.test(field) ? text.replace(/\s/g, '').toUpperCase() : text;
  }
}

/** Reads "Ada Lovelace (Chair)". */
function readPerson(text: string): { name: string; role?: string } {
  const [, name = text, role] = /^(.*\S)\s*\(([^()]+)\)$/.exec(text) ?? [];
  return role === undefined ? { name } : { name, role };
}

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

function fieldsOf(path: string, schema: Schema): [string, Kind][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]): [string, Kind][] => {
    const below = path === '' ? name : `${path}.${name}`;
    if (['sources', 'images', 'derived_fields'].includes(below)) return [];
    const group = below === 'listings' ? field.items : field;
    if (group?.properties !== undefined) return fieldsOf(below, group);
    if (field.items !== undefined) return field.items.properties === undefined ? [[below, 'texts']] : [];
    const { type } = field;
    return [[below, type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text']];
  });
}

const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const SPACES = /[\s\u00a0\u202f'’_]/g;

/** Accountants write negative figures in parentheses: "(0.04)", "($1,234.50)". */
const IN_PARENTHESES = /^\(([^()+\u2212-]+)\)$/u;
/** No figure has so many characters. */
const LONGEST_FIGURE = 100;

/**
 * A number as tables write it. Currency signs, a plus sign and thousands separators are ignored. A typographic minus is read as a
 * minus, and parentheses around the number mean that it is negative. Unless `decimalComma`, a comma before three digits separates
 * thousands ("1,234", but not "0,845"). Undefined if the cell is not a number or has a percent sign.
 */
export function readNumber(cell: string, { decimalComma = false } = {}): number | undefined {
  const trimmed = cell.trim();
  if (trimmed.length > LONGEST_FIGURE) return undefined;
  const text = trimmed
    .replace(IN_PARENTHESES, '-$1')
    .replace(/^([+\u2212-]?)\s*[$€£¥]\s*/u, '$1')
    .replace(/\s*[$€£¥]$/u, '')
    .replace('\u2212', '-')
    .replace(SPACES, '');
  const value = decimalComma ? withoutThousands(text, '.').replace(',', '.') : withoutThousands(text, ',');
  if (!PLAIN.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Reads the low and high of "164.08-260.10". */
export function readRange(
  text: string,
  options?: { decimalComma?: boolean },
): [low: number, high: number] | undefined {
  const [, ...bounds] = /^(.+?)\s*[-–—]\s*([^-–—]+)$/u.exec(text.slice(0, 2 * LONGEST_FIGURE)) ?? [];
  const [low, high] = bounds.map((bound) => readNumber(bound, options));
  return low === undefined || high === undefined ? undefined : [low, high];
}

/** Removes the separators, but only if each is before three digits and none is after the decimal point. */
function withoutThousands(text: string, separator: ',' | '.'): string {
  const grouped =
    separator === ',' ? /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?![\d,])/ : /^[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?![\d.])/;
  return grouped.test(text) ? text.replaceAll(separator, '') : text;
}

/** As `readNumber`, but ignores a percent sign at the end, also inside parentheses. */
export function readPercentage(cell: string, options?: { decimalComma?: boolean }): number | undefined {
  return readNumber(cell.trim().replace(/(?<!\s)\s*[%٪](\)?)$/u, '$1'), options);
}

/** Reads a cell as true or false. Undefined if it is neither. */
export function readBoolean(cell: string): boolean | undefined {
  const text = cell.trim();
  if (/^(?:true|yes|y|1)$/i.test(text)) return true;
  return /^(?:false|no|n|0)$/i.test(text) ? false : undefined;
}
