import { parse } from 'csv-parse/sync';
import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { readEach, readLines, type TextLine } from './lines.ts';

/** Characters that may separate cells. The one that makes the most cells in the heading is used. */
const DELIMITERS = [',', ';', '\t', '|'];
/** The most lines that a quoted cell may span. If it is longer, its quote is treated as never closed. */
const MAX_LINES = 200;
/** The most characters of a row, so that a quote that is never closed does not take a whole file into memory. */
const MAX_ROW = 4 * 1024 * 1024;
const MAX_LINE_MIB = 4;
/** More columns than any table of companies has. */
const MAX_COLUMNS = 2_000;

/** A row of a table, with its cells by column name. */
export interface TableRow {
  from: string;
  cells: ReadonlyMap<string, string>;
  /** The row's lines as they were read. */
  raw: string;
}

/** Disposing of the table closes the file, even if not all rows were read. */
export interface Table extends AsyncDisposable {
  columns: readonly string[];
  rows: AsyncGenerator<TableRow | Unreadable>;
}

/** The file has no readable heading, so it cannot be read as a table. */
export class NoTable extends Error {
  override readonly name = 'NoTable';
  readonly from: string;
  readonly problem: string;

  constructor(from: string, problem: string) {
    super(`${from}: ${problem}`);
    this.from = from;
    this.problem = problem;
  }
}

/**
 * Opens a table whose first line names its columns. Cells are separated by commas (RFC 4180), semicolons, tabs or bars. The
 * file may be compressed. Yields a problem for each malformed row, and all other rows. Rejects with NoTable if the file has
 * no heading.
 */
export async function openTable(file: string, progress?: BytesRead): Promise<Table> {
  const records = recordsOf(readLines(file, progress, MAX_LINE_MIB));
  const first = await records.next();
  if (first.done)
    throw new NoTable(file, 'the file is empty: the first line of a table must name its columns');
  if ('problem' in first.value) throw new NoTable(first.value.from, first.value.problem);
  const { from } = first.value;
  const columns = first.value.cells.map((name) => name.trim());
  if (columns.length > MAX_COLUMNS)
    throw new NoTable(
      from,
      `the table has ${columns.length} columns: leave out those that are not needed, so that at most ${MAX_COLUMNS} remain`,
    );
  const seen = new Set<string>();
  const double = columns.find((name) => seen.size === seen.add(name).size);
  if (double !== undefined) throw new NoTable(from, `two columns have the name "${double}": rename one`);
  const rows = readEach(records, ({ from, raw, cells }): TableRow | Unreadable => {
    if (cells.length === columns.length)
      return { from, raw, cells: new Map(columns.map((name, index) => [name, cells[index] ?? ''])) };
    const problem = `the line has ${cells.length} cells, but the first line has ${columns.length}: correct its quotes and delimiters`;
    return { from, problem, raw };
  });
  return {
    columns,
    rows,
    [Symbol.asyncDispose]: async () => {
      await records.return(undefined);
    },
  };
}

/**
 * Rows of cells. A quoted cell may span several lines. If a quote is never closed, only its own line is a problem. The lines that
 * seemed to continue the cell are then parsed as separate rows.
 */
async function* recordsOf(
  lines: AsyncGenerator<TextLine | Unreadable>,
): AsyncGenerator<{ from: string; raw: string; cells: string[] } | Unreadable> {
  let delimiter: string | undefined;
  const again: (TextLine | Unreadable)[] = [];
  const next = async () => again.shift() ?? ((await lines.next()).value as TextLine | Unreadable | undefined);
  try {
    for (let first = await next(); first !== undefined; first = await next()) {
      if ('problem' in first) {
        yield first;
        continue;
      }
      const taken: (TextLine | Unreadable)[] = [];
      let text = first.text;
      let isOpen = hasOddQuotes(text);
      while (isOpen && taken.length < MAX_LINES && text.length < MAX_ROW) {
        const line = await next();
        if (line === undefined) break;
        taken.push(line);
        if ('problem' in line) break;
        text += `\n${line.text}`;
        isOpen = hasOddQuotes(line.text) !== isOpen;
      }
      if (text.trim() === '') continue;
      delimiter ??= delimiterOf(text);
      const cells = isOpen ? undefined : cellsOf(text, delimiter);
      if (cells !== undefined) {
        yield { from: first.from, raw: text, cells };
        continue;
      }
      again.unshift(...taken);
      yield {
        from: first.from,
        problem: 'a quote is never closed, or a quote inside a cell is not doubled: correct the quotes',
        raw: first.text,
      };
    }
  } finally {
    await lines.return(undefined);
  }
}

function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}

/** Splits a line into cells. Undefined if the quotes are malformed. */
function cellsOf(text: string, delimiter: string): string[] | undefined {
  if (!text.includes('"')) return text.split(delimiter);
  try {
    const [cells] = parse(text, { delimiter, relax_column_count: true });
    return cells;
  } catch {
    return undefined;
  }
}

function delimiterOf(heading: string): string {
  const counted = DELIMITERS.map((delimiter) => cellsOf(heading, delimiter)?.length ?? 0);
  return DELIMITERS[counted.indexOf(Math.max(...counted))] ?? ',';
}
