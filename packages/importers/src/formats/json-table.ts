import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { JSON_LINES, type JsonValue, readJsonDocument, readJsonLines } from './json.ts';
import { chained, readEach } from './lines.ts';
import { cellText, withPlainSpaces } from './texts.ts';

/** How many lines of a file with one JSON value a line give the names of the columns. */
const MOST_LINES_TO_COLUMNS = 50;
const LONGEST_NAME = 300;
const NO_TABLE =
  'the JSON is no table: write a list of objects, an object of objects, or {"fields": […], "data": [[…], …]}';

/** A row of a table, with its cells by column name. White space in a cell is single spaces. */
export interface TableRow {
  from: string;
  cells: ReadonlyMap<string, string>;
  /** The row's text as it was read. */
  raw: string;
}

/** The rows of a document, with the names of the columns if the rows are lists, or the rows' names in an object of objects. */
interface Rows {
  values: readonly unknown[];
  names?: string[] | undefined;
  keys?: readonly string[];
}

type Item = Omit<JsonValue, 'raw'> & { raw?: string; names?: Rows['names']; key?: string | undefined };

/**
 * Reads a table of a .json file, or of an .ndjson file with an object a line. The document is a list of objects, a list of lists of
 * which the first has the names of the columns, an object of objects (whose names are the column "key"), an object with `fields` or
 * `columns` and `data` or `rows`, or objects around one of these. A column of an object in a row has a dotted name, such as
 * "address.city". The texts of a list are one cell, separated by semicolons. The place "a.json[3]" is the fourth row.
 */
export async function readJsonTable(
  file: string,
  progress?: BytesRead,
  encoding?: string,
): Promise<
  | { columns: string[]; rows: AsyncGenerator<TableRow | Unreadable>; lines?: AsyncGenerator }
  | { from: string; problem: string }
> {
  if (JSON_LINES.test(file)) {
    const lines = readJsonLines(file, progress, encoding);
    const head: (JsonValue | Unreadable)[] = [];
    while (head.length < MOST_LINES_TO_COLUMNS) {
      const { value } = await lines.next();
      if (value === undefined) break;
      head.push(value);
    }
    return { columns: columnsOf(head), rows: readEach(chained(head, lines), rowOf), lines };
  }
  const read = await readJsonDocument(file, progress, encoding);
  if (read === undefined) return { from: file, problem: 'the file is empty' };
  if ('problem' in read) return read;
  const found = rowsOf(read.value);
  if (found === undefined) return { from: file, problem: NO_TABLE };
  const columns = found.names ?? columnsOf(itemsOf(file, found));
  return { columns, rows: readEach(chained(itemsOf(file, found)), rowOf) };
}

function columnsOf(items: Iterable<Item | Unreadable>): string[] {
  const columns = new Set<string>();
  for (const item of items) {
    const row = 'problem' in item ? item : rowOf(item);
    if ('cells' in row) for (const name of row.cells.keys()) columns.add(name);
  }
  return [...columns];
}

/** Finds the rows of a document. Undefined if it has none. */
function rowsOf(value: unknown): Rows | undefined {
  if (Array.isArray(value)) {
    const [first, ...values] = value;
    return Array.isArray(first) ? { values, names: namesOf(first) } : { values: value };
  }
  if (!isObject(value)) return undefined;
  const { fields, columns = fields, rows, data = rows } = value;
  if (Array.isArray(columns) && Array.isArray(data)) return { values: data, names: namesOf(columns) };
  const values = Object.values(value);
  const lists = values.filter((each) => Array.isArray(each) && each.some((row) => Object(row) === row));
  if (lists.length === 1) return rowsOf(lists[0]);
  const objects = values.filter(isObject);
  // The object of one company may have the form of an object of objects, so that only tables of other forms are looked for below.
  const inner = objects.map(rowsOf).filter((rows) => rows !== undefined && rows.keys === undefined);
  if (inner.length === 1) return inner[0];
  return values.length > 0 && objects.length === values.length
    ? { values, keys: Object.keys(value) }
    : undefined;
}

function namesOf(values: readonly unknown[]): string[] {
  return values.map((name) => withPlainSpaces(String(isObject(name) ? name.name : name)));
}

function* itemsOf(file: string, { values, names, keys }: Rows): Generator<Item> {
  for (const [index, value] of values.entries())
    yield { from: `${file}[${index}]`, value, names, key: keys?.[index] };
}

function rowOf({ from, value, names, key, raw = JSON.stringify(value) }: Item): TableRow | Unreadable {
  const cells = new Map<string, string>();
  if (names !== undefined) {
    if (!Array.isArray(value) || value.length !== names.length)
      return { from, raw, problem: `the row is not a list of ${names.length} values, one for each column` };
    for (const [at, name] of names.entries()) addCells(cells, name, value[at]);
  } else if (isObject(value)) {
    if (key !== undefined) cells.set('key', withPlainSpaces(key));
    for (const [name, each] of Object.entries(value)) addCells(cells, withPlainSpaces(name), each);
  } else return { from, raw, problem: 'the row is not a JSON object' };
  return { from, raw, cells };
}

function addCells(cells: Map<string, string>, path: string, value: unknown): void {
  // A long name before very many others would fill the memory.
  const name = path.slice(0, LONGEST_NAME);
  if (isObject(value))
    for (const [below, each] of Object.entries(value)) addCells(cells, `${name}.${below}`, each);
  else cells.set(name, cellText(textOf(value)).toWellFormed());
}

function textOf(value: unknown): string {
  if (!Array.isArray(value)) return String(value ?? '');
  return value.some((item) => typeof item === 'object') ? JSON.stringify(value) : value.join('; ');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
