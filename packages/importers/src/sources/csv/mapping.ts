import { readWebHost } from '@brand-data/identifiers';
import { BrandRecord, categorySlug } from '@brand-data/records';
import { isBlank, isBlankFigure, readBoolean, readNumber, readPercentage } from '../../formats/cells.ts';
import { micOfVenue } from '../../formats/listing.ts';
import { countryCodeOf, readPlace } from '../../formats/places.ts';
import { OptionError } from '../../framework/option-error.ts';

/** How a cell is parsed. */
type Kind =
  | 'text'
  | 'texts'
  | 'number'
  | 'amount'
  | 'percentage'
  | 'integer'
  | 'boolean'
  | 'place'
  | 'people'
  | 'picture';

/** The columns and constants that give the fields of records. */
export interface Mapping {
  columns: readonly { column: string; field: string }[];
  /** Values for rows whose columns do not give the field. */
  constants: readonly { field: string; text: string }[];
}

export interface CellOptions {
  /** Separates the items of a list. */
  separator: string;
  decimalComma: boolean;
}

/** The fields that a column may give, by their dotted names. A row has at most one listing, so `listings` has no index. */
const FIELDS: ReadonlyMap<string, Kind> = new Map([
  ...fieldsOf('', BrandRecord as object),
  ['company.headquarters', 'place'],
  ['listings.security', 'text'],
  ['stock.market_cap_usd', 'amount'],
  ['stock.price', 'amount'],
  ['stock.price_usd', 'amount'],
  ['stock.change_percentage', 'percentage'],
  ['stock.percent_from_52_week_low', 'percentage'],
  ['company.key_people', 'people'],
  ['images.logo', 'picture'],
  ['images.logo_dark', 'picture'],
  ['images.stock_logo', 'picture'],
  ['images.banner', 'picture'],
]);

export const FIELDS_HELP = `Fields: ${[...FIELDS.keys()].join(', ')}.`;

/**
 * The columns of a mapping file: a JSON object from columns to fields, or one "column=field" a line. Empty lines and lines that
 * begin with "#" are ignored. Throws an OptionError.
 */
export function readMappingFile(text: string, file: string): Mapping['columns'] {
  if (!text.trimStart().startsWith('{'))
    return text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '' && !line.startsWith('#'))
      .map((line) => columnOf(line));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OptionError(`${file} is not JSON, although it begins with a brace`);
  }
  return Object.entries(value as object).map(([column, field]) => ({ column, field: known(String(field)) }));
}

function columnOf(text: string): Mapping['columns'][number] {
  const { name, value } = assignment(text);
  return { column: name, field: known(value) };
}

/** Parses comma-separated lists of "column=field" and "field=value". Throws an OptionError. */
export function readMapping(map: readonly string[], set: readonly string[]): Mapping {
  return {
    columns: map.flatMap(assignments).map(({ name, value }) => ({ column: name, field: known(value) })),
    constants: set.flatMap(assignments).map(({ name, value }) => ({ field: known(name), text: value })),
  };
}

function assignments(text: string): { name: string; value: string }[] {
  // With a single equals sign, a comma belongs to the name of a column: "Revenue, total=…".
  if (text.indexOf('=') === text.lastIndexOf('=')) return [assignment(text)];
  return text.split(/,(?=[^,]*=)/).map((part) => assignment(part));
}

function assignment(text: string): { name: string; value: string } {
  const at = text.lastIndexOf('=');
  const [name, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (at < 0 || name === '' || value === '')
    throw new OptionError(
      `"${text}" is not valid: write a name, an equals sign and a value, such as Company=name`,
    );
  return { name, value };
}

function known(field: string): string {
  if (!FIELDS.has(field))
    throw new OptionError(
      `"${field}" is not a field that can be mapped or set: bds import csv --help lists the fields`,
    );
  return field;
}

/**
 * Whether a cell has no value. "None" and "null" may be names or tickers, but are blank as figures or identifiers. An amount of
 * zero is blank too, because tables write 0.00 for a price or market value that is not known.
 */
export function isEmptyCell(field: string, cell: string): boolean {
  const kind = FIELDS.get(field) ?? 'text';
  const isAmount = kind === 'amount';
  const isFigure =
    isAmount || kind === 'number' || kind === 'percentage' || kind === 'integer' || kind === 'boolean';
  if (isAmount && cell.includes('0') && !/[1-9]/.test(cell)) return true;
  return isFigure || isCode(field) ? isBlankFigure(cell) : isBlank(cell);
}

function isCode(field: string): boolean {
  return /(?:[._]|^)(?:isin|cusip|figi|lei|wikidata_qid)$/.test(field);
}

/** Sets the field to the cell's value, unless the cell is empty. Returns a problem if the cell cannot be read. */
export function assignCell(
  record: Record<string, unknown>,
  field: string,
  cell: string,
  options: CellOptions,
): string | undefined {
  if (isEmptyCell(field, cell)) return undefined;
  const read = readCell(field, cell, options);
  if ('problem' in read) return read.problem;
  const { value } = read;
  const path = field.split('.');
  const name = path.pop() ?? '';
  const group = path.reduce<Record<string, unknown>>((at, step) => {
    at[step] ??= {};
    return at[step] as Record<string, unknown>;
  }, record);
  const before = group[name];
  // If two columns give the same list field, their items form one list. A place may be given by several columns.
  if (Array.isArray(before) && Array.isArray(value)) group[name] = [...new Set([...before, ...value])];
  else if (isGroup(before) && isGroup(value)) group[name] = { ...value, ...before };
  else group[name] = value;
  return undefined;
}

/** The value that a cell gives a field, in the form that records use. The cell is not empty. */
export function readCell(
  field: string,
  cell: string,
  options: CellOptions,
): { value: unknown } | { problem: string } {
  const value = valueOfCell(field, cell.trim(), options);
  if (value !== undefined) return { value };
  return { problem: `"${cell.slice(0, 100)}" is ${EXPECTED[FIELDS.get(field) ?? 'text'](field)}` };
}

const EXPECTED: Record<Kind, (field: string) => string> = {
  text: (field) => `not a valid value of ${field}`,
  texts: (field) => `not a valid value of ${field}`,
  number: () => 'not a number',
  amount: () => 'not an amount of money',
  percentage: () => 'not a percentage',
  integer: () => 'not a whole number',
  boolean: () => 'neither true nor false',
  place: () => 'not a place',
  people: () => 'not a list of people',
  picture: () => 'not a picture',
};

function valueOfCell(field: string, cell: string, { separator, decimalComma }: CellOptions): unknown {
  const kind = FIELDS.get(field) ?? 'text';
  const items = () =>
    cell
      .split(separator)
      .map((item) => item.trim())
      .filter((item) => !isBlank(item));
  switch (kind) {
    case 'percentage':
      return readPercentage(cell, { decimalComma });
    case 'number':
    case 'amount':
      return readNumber(cell, { decimalComma });
    case 'integer': {
      const number = readNumber(cell, { decimalComma });
      return number !== undefined && Number.isInteger(number) ? number : undefined;
    }
    case 'boolean':
      return readBoolean(cell);
    case 'place':
      return readPlace(cell);
    case 'people':
      return items().map(readPerson);
    case 'texts':
      return items().map((item) => textOf(field, item));
    case 'text':
      return textOf(field, cell);
    case 'picture':
      return cell;
  }
}

/** The text in the form that records use. */
function textOf(field: string, text: string): string | undefined {
  switch (field) {
    case 'listings.mic':
      return micOfVenue(text);
    case 'links.websites':
      return /^https?:\/\//i.test(text) ? text : `https://${text}`;
    case 'domains':
      return readWebHost(text)?.domain ?? text;
    case 'category':
      return categorySlug(text) || undefined;
    case 'type':
      return text.toLowerCase();
    case 'company.headquarters.country_code':
      return /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : countryCodeOf(text);
    default:
      return isCode(field) || field.endsWith('currency') ? text.replace(/\s/g, '').toUpperCase() : text;
  }
}

/** Reads "Ada Lovelace (Chair)". */
function readPerson(text: string): { name: string; role?: string } {
  const [, name = text, role] = /^(.*\S)\s*\(([^()]+)\)$/.exec(text) ?? [];
  return role === undefined ? { name } : { name, role };
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Schema {
  type?: string;
  enum?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
}

function fieldsOf(path: string, schema: Schema): [string, Kind][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]): [string, Kind][] => {
    const below = path === '' ? name : `${path}.${name}`;
    if (below === 'sources' || below === 'images' || below === 'derived_fields') return [];
    if (field.properties !== undefined) return fieldsOf(below, field);
    if (field.items?.properties !== undefined)
      return below === 'listings' ? fieldsOf(below, field.items) : [];
    if (field.items !== undefined) return [[below, 'texts']];
    if (field.type === 'number' || field.type === 'integer' || field.type === 'boolean')
      return [[below, field.type]];
    return [[below, 'text']];
  });
}
