import { basename } from 'node:path';
import { exchangesOfPrefix } from '@brand-data/identifiers';
import { CELL_FIELDS, type CellOptions, isEmptyCell, readCell } from '../../formats/cells.ts';
import { headingKey, KNOWN_HEADINGS } from '../../formats/headings.ts';
import { parseJson } from '../../formats/json.ts';
import { isObject } from '../../formats/json-table.ts';
import { countryOfIsin, countryOfTicker } from '../../formats/listing.ts';
import { withCountry } from '../../formats/places.ts';
import { openTable, type TableLayout } from '../../formats/table.ts';
import { assignmentsIn, isBlankName, withPlainSpaces } from '../../formats/texts.ts';
import VENUES from '../../formats/venues.json' with { type: 'json' };
import { OptionError } from '../../framework/source-items.ts';

/** The columns and constants that give the fields of records. */
export interface Mapping {
  columns: readonly { column: string; field: string }[];
  /** Values for rows whose columns do not give the field. */
  constants: readonly { field: string; text: string }[];
}

export const FIELDS_HELP = `Fields: ${CELL_FIELDS.join(', ')}.`;

/**
 * Returns the columns of a mapping file: a JSON object from columns to fields, or one "column=field" a line. Empty lines and
 * lines that begin with "#" are ignored. Throws an OptionError.
 */
export function readMappingFile(text: string, file: string): Mapping['columns'] {
  if (!text.trimStart().startsWith('{'))
    return text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '' && !line.startsWith('#'))
      .flatMap((line) => assignmentsIn(line).map(columnOf));
  const parsed = parseJson(text);
  if ('problem' in parsed) throw new OptionError(`${file} is not JSON, although it begins with a brace`);
  return Object.entries(Object(parsed.value)).map(([column, field]) => columnOf([column, String(field)]));
}

/** Parses comma-separated lists of "column=field" and "field=value". Throws an OptionError. */
export function readMapping(map: readonly string[], set: readonly string[]): Mapping {
  return {
    columns: map.flatMap(assignmentsIn).map(columnOf),
    constants: set.flatMap(assignmentsIn).map(([field, text]) => ({ field: known(field), text })),
  };
}

/** What a row's cell in a column may be. */
interface Condition {
  column: string;
  value: string;
}

export interface Conditions {
  /** Rows that meet one of these are skipped. */
  skip?: readonly Condition[] | undefined;
  /** Rows are skipped, unless for each of these columns they have one of its values. */
  only?: readonly Condition[] | undefined;
}

/** Parses conditions such as "Test Issue=Y". "ISIN=" means an empty cell. Throws an OptionError. */
export function readConditions(texts: readonly string[]): Condition[] {
  return texts.map((text) => {
    const at = text.lastIndexOf('=');
    if (at <= 0) throw new OptionError(`"${text}" is not valid: write column=value, such as 'Test Issue=Y'`);
    return { column: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
  });
}

/** Returns why the conditions leave out a row. The whole cell is compared, but not its case and white space. */
export function whyLeftOut(
  cellOf: (column: string) => string,
  { skip = [], only = [] }: Conditions,
): string | undefined {
  const plain = (text: string) => withPlainSpaces(text).toLowerCase();
  const isMet = ({ column, value }: Condition) =>
    value === '' ? isBlankName(cellOf(column)) : plain(cellOf(column)) === plain(value);
  const met = skip.find(isMet);
  const missed = only.find(({ column }) => !only.some((each) => each.column === column && isMet(each)));
  const { column } = met ?? missed ?? {};
  return column && `--${met ? 'skip' : 'only'}: ${column} is "${cellOf(column)}"`;
}

function columnOf([column, field]: [name: string, value: string]): Mapping['columns'][number] {
  return { column, field: known(field) };
}

function known(field: string): string {
  if (!CELL_FIELDS.includes(field))
    throw new OptionError(
      `"${field}" is not a field that can be mapped or set: bds import csv --help lists the fields`,
    );
  return field;
}

/**
 * Returns the country of the venue that the ticker names, that of the ISIN, unless companies from elsewhere are often incorporated
 * there, and that of the headquarters.
 */
function countriesOf({ listings, stock, company }: Record<string, unknown>): string[] {
  const { ticker, isin = Object(stock).isin } = Object(listings);
  const { country_code = '' } = withCountry(Object(company).headquarters ?? {});
  return [countryOfTicker(ticker), countryOfIsin(isin), country_code];
}

/** Sets the field to the cell's value, unless the cell is empty. Returns a problem if the cell cannot be read. */
export function assignCell(
  record: Record<string, unknown>,
  field: string,
  cell: string,
  options: CellOptions,
): string | undefined {
  if (isEmptyCell(field, cell)) return undefined;
  const read = readCell(
    field,
    cell,
    field === 'listings.mic' ? { ...options, countries: countriesOf(record) } : options,
  );
  if ('problem' in read) return read.problem;
  const { value } = read;
  // An address may tell no part of a place.
  if (isObject(value) && Object.keys(value).length === 0) return undefined;
  const path = field.split('.');
  const name = path.pop() ?? '';
  const group = path.reduce<Record<string, unknown>>((at, step) => {
    at[step] ??= {};
    return at[step] as Record<string, unknown>;
  }, record);
  const before = group[name];
  // If two columns give the same list field, their items form one list. A place may be given by several columns.
  if (Array.isArray(before) && Array.isArray(value)) group[name] = [...new Set([...before, ...value])];
  else if (isObject(before) && isObject(value)) group[name] = { ...value, ...before };
  else group[name] = value;
  return undefined;
}

/**
 * Reads the heading of a table and proposes a mapping by the names of its columns, ignoring case, spaces and punctuation. If several
 * columns give a field, the one that known-columns.json lists first is proposed, but all that say what a security is. If no column
 * gives the venue, `mic` is that of the one venue that a word of the file's name means ("nasdaq-2026-08-21.csv"). `date` is that in its name.
 * Rejects with NoTable if there is no heading.
 */
export async function proposeMapping(file: string, layout?: TableLayout) {
  await using table = await openTable(file, layout);
  const { columns } = table;
  const byName = new Map(columns.toReversed().map((column) => [headingKey(column), column]));
  const map = [...KNOWN_HEADINGS].flatMap(([field, names]) => {
    const found = names.flatMap((name) => byName.get(name) ?? []);
    // Each column about the type of a security says something else.
    return (field === 'listings.security' ? found : found.slice(0, 1)).map((column) => ({ column, field }));
  });
  const words = basename(file)
    .toLowerCase()
    .split(/[^a-z]+/);
  const telling = words.filter((word) => word.length > 2 && !VENUES.words_in_file_names.includes(word));
  const [venue] = telling.map(exchangesOfPrefix).find(({ length }) => length === 1) ?? [];
  const hasVenue = map.some(({ field }) => field === 'listings.mic');
  return {
    columns,
    map,
    mic: hasVenue ? undefined : venue?.mic,
    date: /\d{4}-\d{2}-\d{2}/.exec(basename(file))?.[0],
  };
}
