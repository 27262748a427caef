import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { JSON_LINES, readJsonDocument, readJsonLines } from './json.ts';
import { withPlainSpaces } from './texts.ts';

/** How many lines of a file with one JSON value a line give the names of the columns. */
const MOST_LINES_TO_COLUMNS = 50;
const NO_TABLE =
  'the JSON is no table: write a list of objects, an object of objects, or {"fields": […], "data": [[…], …]}';

interface JsonRow {
  from: string;
  raw: string;
  cells: ReadonlyMap<string, string>;
}

/** A row before it is read: a list of values with the names of their columns, or an object, with its name in an object of objects. */
interface Item {
  from: string;
  raw?: string;
  value: unknown;
  names?: readonly unknown[] | undefined;
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
    const head: (JsonRow | Unreadable)[] = [];
    while (head.length < MOST_LINES_TO_COLUMNS) {
      const { value } = await lines.next();
      if (value === undefined) break;
      head.push('problem' in value ? value : rowOf(value));
    }
    return { columns: columnsOf(head), rows: rowsOfLines(head, lines), file: lines };
  }
  const read = await readJsonDocument(file, progress);
  if (read === undefined) return { from: file, problem: 'the file is empty' };
  if ('problem' in read) return read;
  const items = itemsOf(file, read.value);
  if (items === undefined) return { from: file, problem: NO_TABLE };
  const names = items[0]?.names?.map((name) => withPlainSpaces(String(name)));
  return { columns: names ?? columnsOf(items.map(rowOf)), rows: rowsOfItems(items) };
}

async function* rowsOfLines(
  head: readonly (JsonRow | Unreadable)[],
  lines: ReturnType<typeof readJsonLines>,
): AsyncGenerator<JsonRow | Unreadable> {
  yield* head;
  for await (const line of lines) yield 'problem' in line ? line : rowOf(line);
}

async function* rowsOfItems(items: readonly Item[]): AsyncGenerator<JsonRow | Unreadable> {
  for (const item of items) yield rowOf(item);
}

function columnsOf(rows: readonly (JsonRow | Unreadable)[]): string[] {
  return [...new Set(rows.flatMap((row) => ('cells' in row ? [...row.cells.keys()] : [])))];
}

/** Finds the rows of a document. Undefined if it has none. */
function itemsOf(file: string, value: unknown): Item[] | undefined {
  const numbered = (values: readonly unknown[], names?: readonly unknown[]): Item[] =>
    values.map((each, index) => ({ from: `${file}[${index}]`, value: each, names }));
  if (Array.isArray(value)) {
    const [first, ...rows] = value;
    return Array.isArray(first) ? numbered(rows, first) : numbered(value);
  }
  if (!isObject(value)) return undefined;
  const { fields, columns = fields, rows, data = rows } = value;
  if (Array.isArray(columns) && Array.isArray(data)) return numbered(data, columns);
  const tables = Object.values(value).filter((each) => Array.isArray(each) && each.some(isObject));
  if (tables.length === 1) return itemsOf(file, tables[0]);
  const entries = Object.entries(value);
  if (entries.length === 0 || !entries.every(([, each]) => isObject(each))) return undefined;
  return entries.map(([key, each], index) => ({ from: `${file}[${index}]`, value: each, key }));
}

function rowOf({ from, value, names, key, raw = JSON.stringify(value) }: Item): JsonRow | Unreadable {
  const cells = new Map<string, string>();
  if (names !== undefined) {
    if (!Array.isArray(value) || value.length !== names.length)
      return { from, raw, problem: `the row is not a list of ${names.length} values, one for each column` };
    for (const [at, name] of names.entries()) addCells(cells, withPlainSpaces(String(name)), value[at]);
  } else if (isObject(value)) {
    if (key !== undefined) cells.set('key', withPlainSpaces(key));
    for (const [name, each] of Object.entries(value)) addCells(cells, withPlainSpaces(name), each);
  } else return { from, raw, problem: 'the row is not a JSON object' };
  return { from, raw, cells };
}

function addCells(cells: Map<string, string>, name: string, value: unknown): void {
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
