import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { JSON_LINES, type JsonValue, readJsonDocument, readJsonLines } from './json.ts';
import { readEach } from './lines.ts';
import { withPlainSpaces } from './texts.ts';

/** How many lines of a file with one JSON value a line give the names of the columns. */
const MOST_LINES_TO_COLUMNS = 50;
const LONGEST_NAME = 300;
const NO_TABLE =
  'the JSON is no table: write a list of objects, an object of objects, or {"fields": […], "data": [[…], …]}';

interface JsonRow {
  from: string;
  raw: string;
  cells: ReadonlyMap<string, string>;
}

/** The rows of a document, with the names of the columns if the rows are lists, or the rows' names in an object of objects. */
interface Rows {
  values: readonly unknown[];
  names?: string[];
  keys?: readonly string[];
}

/** A row before it is read. */
interface Item {
  from: string;
  raw?: string | undefined;
  value: unknown;
  names?: readonly string[] | undefined;
  key?: string | undefined;
}

/**
 * Reads a table of a .json file, or of an .ndjson file with an object a line. The document is a list of objects, a list of lists of
 * which the first has the names of the columns, an object of objects (whose names are the column "key"), an object with `fields` or
 * `columns` and `data` or `rows`, or an object around one of these. A column of an object in a row has a dotted name, such as
 * "address.city". The texts of a list are one cell, separated by semicolons. The place "a.json[3]" is the fourth row.
 */
export async function readJsonTable(
  file: string,
  progress?: BytesRead,
): Promise<
  | { columns: string[]; rows: AsyncGenerator<JsonRow | Unreadable>; file?: AsyncGenerator }
  | { from: string; problem: string }
> {
  if (JSON_LINES.test(file)) {
    const lines = readJsonLines(file, progress);
    const head: (JsonValue | Unreadable)[] = [];
    while (head.length < MOST_LINES_TO_COLUMNS) {
      const { value } = await lines.next();
      if (value === undefined) break;
      head.push(value);
    }
    return { columns: columnsOf(head), rows: readEach(chained(head, lines), rowOf), file: lines };
  }
  const read = await readJsonDocument(file, progress);
  if (read === undefined) return { from: file, problem: 'the file is empty' };
  if ('problem' in read) return read;
  const found = rowsOf(read.value);
  if (found === undefined) return { from: file, problem: NO_TABLE };
  const columns = found.names ?? columnsOf(itemsOf(file, found));
  return { columns, rows: readEach(chained(itemsOf(file, found)), rowOf) };
}

async function* chained<T>(head: Iterable<T>, rest?: AsyncIterable<T>): AsyncGenerator<T> {
  yield* head;
  if (rest !== undefined) yield* rest;
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
  const tables = Object.values(value).filter((each) => Array.isArray(each) && each.some(isObject));
  if (tables.length === 1) return rowsOf(tables[0]);
  const values = Object.values(value);
  return values.length > 0 && values.every(isObject) ? { values, keys: Object.keys(value) } : undefined;
}

function namesOf(values: readonly unknown[]): string[] {
  return values.map((name) => withPlainSpaces(String(name)));
}

function* itemsOf(file: string, { values, names, keys }: Rows): Generator<Item> {
  for (const [index, value] of values.entries())
    yield { from: `${file}[${index}]`, value, names, key: keys?.[index] };
}

function rowOf({ from, value, names, key, raw = JSON.stringify(value) }: Item): JsonRow | Unreadable {
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
  else cells.set(name, withPlainSpaces(textOf(value)).toWellFormed());
}

function textOf(value: unknown): string {
  if (!Array.isArray(value)) return String(value ?? '');
  return value.some((item) => typeof item === 'object') ? JSON.stringify(value) : value.join('; ');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
