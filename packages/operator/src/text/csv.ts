import { type Columns, rowsOf } from './tables.ts';

type Cell = string | number | undefined;

/** Returns a table as CSV (RFC 4180). Empty cells are facts that are not known. */
export function csvOf<Item>(columns: Columns<Item>, items: readonly Item[]): string {
  return csvLines([Object.keys(columns), ...rowsOf(columns, items)]);
}

/** Lines of a table whose headings are written already. */
export function csvLines(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => row.map((cell) => quoted(String(cell ?? ''))).join(',')).join('\n');
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
