import { legalFormOf } from '@brand-data/identifiers';
import type { BytesRead, Skipped, Unreadable } from '../framework/source-items.ts';
import { JSON_FILE, JSON_LINES } from './json.ts';
import { readJsonTable, type TableRow } from './json-table.ts';
import { chained, readLines, type TextLine } from './lines.ts';
import { cellText } from './texts.ts';
import TOTAL_WORDS from './total-words.json' with { type: 'json' };

/** Characters that may separate cells. */
const DELIMITERS = [',', ';', '\t', '|'];
/** Excel's first line that names the delimiter. */
const SEPARATOR_LINE = /^\s*"?sep=([^\w"])"?\s*$/i;
/** How many lines are searched for the heading, and how many characters of them. */
const MOST_LINES_TO_HEADING = 50;
const MOST_CHARACTERS_TO_HEADING = 1 << 20;
/** The most lines of remarks above or below the rows. */
const MOST_REMARKS = 20;
/** The most lines that a quoted cell may span. If it is longer, its quote is treated as never closed. */
const MAX_LINES = 200;
/** The most characters of a row, so that a quote that is never closed does not take a whole file into memory. */
const MAX_ROW = 4 * 1024 * 1024;
const MAX_LINE_MIB = 4;
/** More columns than any table of companies has. */
const MAX_COLUMNS = 2_000;
const BAD_QUOTES = 'a quote is never closed, or a quote inside a cell is not doubled: correct the quotes';
const WORKBOOK = 'PK\u0003\u0004';

/** The first words of lines below a table: "File Creation Time: 0731202621:31". */
const FOOTNOTE =
  /^(?:(?:file )?(?:creation|created|generated|exported|downloaded|updated|last updated?)(?: (?:time|date|on|at|by))?|as of|data (?:as of|from|by|provided by)|dates?|sources?|notes?|licen[cs]e|copyright|disclaimer|(?:number of |total )?(?:records?|rows?|companies|securities)|totals?|quelle|stand|hinweise?|anzahl|summe|fuente|fonte)\s*[:：]|^(?:©|\(c\) |copyright (?:©|\(c\)|\d|by )|end of (?:file|data|report|list)\b)/i;
const TOTAL = new RegExp(`^(?:${TOTAL_WORDS.words.join('|')})(?: ?\\(\\d+\\))?\\s*:?$`, 'iu');

/** Disposing of the table closes the file, even if not all rows were read. */
export interface Table extends AsyncDisposable {
  /** The names of the columns that have one. */
  columns: readonly string[];
  /** Where they are: "a.csv:1". */
  from: string;
  /** Of JSON: whether rows that are not yet read may have further columns. */
  isOpenEnded?: boolean;
  rows: AsyncGenerator<TableRow | Unreadable>;
  /** Lines above and below the rows that are no rows. Known once all rows are read. */
  remarks: readonly Skipped[];
}

/** How a table is written, where its file does not show it. */
export interface TableLayout {
  /** The number of the line with the names of the columns, from 1. */
  headingLine?: number | undefined;
  /** As the Encoding Standard names it: "windows-1252". */
  encoding?: string | undefined;
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
 * Opens a table. A line names its columns, after titles and blank lines. Cells are separated by commas (RFC 4180), semicolons,
 * tabs or bars. Files named .json and .ndjson are read as readJsonTable tells. The file may be compressed. Yields a problem for each
 * malformed row, and all other rows that are not blank. Rejects with NoTable if there is no heading.
 */
export async function openTable(
  file: string,
  { progress, headingLine, encoding }: TableLayout & { progress?: BytesRead | undefined } = {},
): Promise<Table> {
  if (JSON_FILE.test(file) || JSON_LINES.test(file)) {
    if (headingLine !== undefined)
      throw new NoTable(file, 'JSON has no line that names the columns: leave out the number of this line');
    const read = await readJsonTable(file, progress, encoding);
    if ('problem' in read) throw new NoTable(read.from, read.problem);
    const { columns, rows, lines } = read;
    checkNames(file, columns);
    const isOpenEnded = lines !== undefined;
    return {
      columns,
      from: file,
      isOpenEnded,
      rows,
      remarks: [],
      [Symbol.asyncDispose]: () => closed(lines ?? rows),
    };
  }
  const lines = readLines(file, progress, MAX_LINE_MIB, encoding);
  try {
    const { head, delimiter } = await layoutOf(file, await headOf(lines, headingLine), headingLine);
    const records = recordsOf(chained(head, lines), delimiter);
    const first = (await records.next()).value as Row | Unreadable | undefined;
    const { from, names } = headingOf(file, first);
    const columns = names.filter((name) => name !== '');
    const remarks: Skipped[] = [];
    const rows = rowsOf(records, names, remarks);
    return { columns, from, rows, remarks, [Symbol.asyncDispose]: () => closed(lines) };
  } catch (error) {
    await closed(lines);
    throw error;
  }
}

async function closed(generator: AsyncGenerator<unknown>): Promise<void> {
  await generator.return(undefined);
}

/** A row's cells, in order. */
type Row = Omit<TableRow, 'cells'> & { cells: string[] };
type Line = TextLine | Unreadable;

/** Reads the lines in which the heading is searched. Ends at a line that cannot be read. */
async function headOf(lines: AsyncGenerator<Line>, headingLine = 1): Promise<Line[]> {
  const head: Line[] = [];
  let characters = 0;
  let isEnough = false;
  while (head.length < headingLine || !isEnough) {
    const line = (await lines.next()).value as Line | undefined;
    if (line === undefined) break;
    head.push(line);
    if ('text' in line) characters += line.text.length;
    isEnough =
      'problem' in line ||
      head.length >= headingLine + MOST_LINES_TO_HEADING ||
      characters >= MOST_CHARACTERS_TO_HEADING;
  }
  return head;
}

/** Returns the first lines from the heading on, and what separates its cells. */
async function layoutOf(
  file: string,
  head: readonly Line[],
  headingLine: number | undefined,
): Promise<{ head: Line[]; delimiter: string }> {
  const isBlank = (line: Line) => 'text' in line && line.text.trim() === '';
  const named = head[(headingLine ?? 0) - 1];
  if (headingLine !== undefined && (named === undefined || isBlank(named)))
    throw new NoTable(`${file}:${headingLine}`, 'the line is blank or missing: it cannot name the columns');
  const first = head.findIndex((line) => !isBlank(line));
  const [, separator] = SEPARATOR_LINE.exec((head[first] as TextLine | undefined)?.text ?? '') ?? [];
  const lines = head.slice(headingLine === undefined ? first + (separator ? 1 : 0) : headingLine - 1);
  const delimiters = separator === undefined ? DELIMITERS : [separator];
  const layouts = delimiters.map(async (delimiter) => {
    const rows: (Row | Unreadable)[] = [];
    for await (const row of recordsOf(chained(lines), delimiter)) rows.push(row);
    const cells = rows.map((row) => ('cells' in row ? row.cells : undefined));
    const found = cells.findIndex((_, index) => scoreOf(cells, index) > 0);
    const at = headingLine === undefined ? Math.max(found, 0) : 0;
    const score = Math.max(scoreOf(cells, at), 0);
    return { from: rows[at]?.from, delimiter, score, width: cells[at]?.length ?? 0 };
  });
  const [best] = (await Promise.all(layouts)).sort((a, b) => b.score - a.score || b.width - a.width);
  const at = lines.findIndex(({ from }) => from === best?.from);
  return { head: lines.slice(Math.max(at, 0)), delimiter: best?.delimiter ?? ',' };
}

/**
 * Returns a score of a row as the heading: the rows below that fit it, less the rows that do not. A row does not fit if it has fewer
 * cells, or a value in a column without a name. The first column needs no name, because it often holds the number of the row.
 */
function scoreOf(rows: readonly (readonly string[] | undefined)[], index: number): number {
  const heading = rows[index]?.map((cell) => cell.trim() !== '') ?? [];
  const width = heading.lastIndexOf(true) + 1;
  if (width < 2 || heading.length > MAX_COLUMNS) return 0;
  let score = 0;
  for (const cells of rows.slice(index + 1)) {
    if (cells === undefined || cells.every((cell) => cell.trim() === '')) continue;
    const fits =
      cells.length >= width && cells.every((cell, at) => at === 0 || heading[at] || cell.trim() === '');
    // A line of one cell is rather a remark than a row of another table.
    score += fits ? 1 : cells.length === 1 ? -0.5 : -1;
  }
  return score;
}

/** Returns the names of the columns, '' for those without one. Throws NoTable if the row cannot be a heading. */
function headingOf(file: string, row: Row | Unreadable | undefined): { from: string; names: string[] } {
  if (row === undefined)
    throw new NoTable(file, 'the file is empty: a line must name the columns of its table');
  if ('problem' in row) {
    const isWorkbook = row.raw?.startsWith(WORKBOOK);
    throw new NoTable(row.from, isWorkbook ? 'the file is a workbook: save it as CSV UTF-8' : row.problem);
  }
  const { from } = row;
  const names = row.cells.map(cellText);
  if (names.length > MAX_COLUMNS)
    throw new NoTable(
      from,
      `the table has ${names.length} columns: leave out those that are not needed, so that at most ${MAX_COLUMNS} remain`,
    );
  checkNames(from, names);
  return { from, names };
}

function checkNames(from: string, names: readonly string[]): void {
  const seen = new Set<string>();
  const double = names.find((name) => name !== '' && seen.size === seen.add(name).size);
  if (double !== undefined)
    throw new NoTable(
      from,
      `two columns have the name "${double}": rename one, or write names above the rows if this line has none`,
    );
}

/**
 * Yields the rows. Lines of one cell between the heading and the first row are added to `remarks`, and so are headings that are
 * repeated, and lines that can be footers if only such lines and blank rows follow.
 */
async function* rowsOf(
  records: AsyncGenerator<Row | Unreadable>,
  names: readonly string[],
  remarks: Skipped[],
): AsyncGenerator<TableRow | Unreadable> {
  const remark = ({ from, raw }: Row) =>
    remarks.length < 2 * MOST_REMARKS &&
    remarks.push({ from, skipped: `"${raw.slice(0, 100)}" is no row of the table` });
  const isWide = names.filter((name) => name !== '').length > 1;
  let isStart = isWide;
  let last: Row[] = [];
  for await (const record of records) {
    if ('problem' in record) {
      yield record;
      continue;
    }
    const row = { ...record, cells: record.cells.map(cellText) };
    if (row.cells.every((cell) => cell === '')) continue;
    if (row.cells.every((cell, at) => cell === (names[at] ?? ''))) remark(row);
    else if (isStart && row.cells.length === 1 && remarks.length < MOST_REMARKS) remark(row);
    else if (canBeFooter(row, isWide) && last.length < MOST_REMARKS) last.push(row);
    else {
      for (const each of [...last, row]) yield namedRow(each, names);
      last = [];
      isStart = false;
    }
  }
  // Other lines of one cell come in several, and a download that was cut off ends in a single one.
  const end = isWide && last.at(-2)?.cells.length !== 1 ? last.at(-1) : undefined;
  const cut = end !== undefined && isCutOff(end) ? last.pop() : undefined;
  last.forEach(remark);
  if (cut !== undefined) yield namedRow(cut, names);
}

function namedRow({ from, raw, cells }: Row, names: readonly string[]): TableRow | Unreadable {
  // A heading may end in a delimiter that rows do not have.
  const least = names.findLastIndex((name) => name !== '') + 1;
  if (cells.length < least || cells.slice(names.length).some((cell) => cell !== '')) {
    const problem = `the line has ${cells.length} cells, but the heading has ${names.length}: correct its quotes and delimiters`;
    return { from, problem, raw };
  }
  const named = new Map<string, string>();
  for (const [at, name] of names.entries()) if (name !== '') named.set(name, cells[at] ?? '');
  return { from, raw, cells: named };
}

/** Tells whether a row is a remark, or a sum. A line of one word without quotes is rather a row that was cut off. */
function canBeFooter({ cells, raw }: Row, isWide: boolean): boolean {
  const at = cells.findIndex((cell) => cell !== '');
  const first = cells[at] ?? '';
  const rest = () => cells.slice(at + 1).join('');
  if (TOTAL.test(first) && cells.length > 1) return /\d/.test(rest()) && !/\p{L}/u.test(rest());
  if (FOOTNOTE.test(first) || (isWide && cells.length === 1 && /[\s"]/.test(raw.trim()))) return true;
  return isWide && at === 0 && rest() === '' && isSentence(first);
}

/** Tells whether a text is a sentence. Names that are as long end in a legal form. */
function isSentence(text: string): boolean {
  return /^(?:\S+ ){3,}\S+\.$/.test(text) && legalFormOf(text) === '';
}

/** Tells whether the last line may be a row that was cut off: one cell, which neither quotes nor a full stop end. */
function isCutOff({ cells: [cell = '', ...others], raw }: Row): boolean {
  return others.length === 0 && !/"\s*$/.test(raw) && !FOOTNOTE.test(cell) && !isSentence(cell);
}

/**
 * Yields rows of cells. A quoted cell may span several lines. If a quote is never closed, only its own line is a problem. The lines
 * that seemed to continue the cell are then parsed as separate rows.
 */
async function* recordsOf(lines: AsyncGenerator<Line>, delimiter: string): AsyncGenerator<Row | Unreadable> {
  const again: Line[] = [];
  const next = async () => again.shift() ?? ((await lines.next()).value as Line | undefined);
  for (let first = await next(); first !== undefined; first = await next()) {
    if ('problem' in first) {
      yield first;
      continue;
    }
    const { from } = first;
    const taken: Line[] = [];
    let raw = first.text;
    let isOpen = hasOddQuotes(raw);
    while (isOpen && taken.length < MAX_LINES && raw.length < MAX_ROW) {
      const line = await next();
      if (line === undefined) break;
      taken.push(line);
      if ('problem' in line) break;
      raw += `\n${line.text}`;
      isOpen = hasOddQuotes(line.text) !== isOpen;
    }
    if (raw.trim() === '') continue;
    const cells = isOpen ? undefined : cellsOf(raw, delimiter);
    if (cells === undefined) {
      again.unshift(...taken);
      yield { from, problem: BAD_QUOTES, raw: first.text };
    } else yield { from, raw, cells };
  }
}

function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}

/** Splits a line with an even number of quotes into cells, also ones such as ="00700". Undefined if the quotes are malformed. */
function cellsOf(text: string, delimiter: string): string[] | undefined {
  if (!text.includes('"')) return text.split(delimiter);
  const cells: string[] = [];
  for (let start = 0; ; ) {
    let end = text.indexOf(delimiter, start);
    if (end < 0) end = text.length;
    if (text.startsWith('="', start)) start += 1;
    if (text[start] === '"') {
      end = text.indexOf('"', start + 1) + 1;
      while (text[end] === '"') end = text.indexOf('"', end + 1) + 1;
      cells.push(text.slice(start + 1, end - 1).replaceAll('""', '"'));
    } else {
      const cell = text.slice(start, end);
      if (cell.includes('"')) return undefined;
      cells.push(cell);
    }
    if (/^\r*$/.test(text.slice(end))) return cells;
    if (!text.startsWith(delimiter, end)) return undefined;
    start = end + delimiter.length;
  }
}
