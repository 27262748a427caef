import { printableLine } from './printable.ts';

type Cell = string | number | undefined;

/** The texts that a table shows for each item, by the headings of its columns. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => Cell>>;

/** @param none what to show in place of a table without items */
export function listTable<Item>(columns: Columns<Item>, items: readonly Item[], none?: string): string {
  return items.length === 0 && none !== undefined
    ? none
    : table(Object.keys(columns), rowsOf(columns, items));
}

export function rowsOf<Item>(columns: Columns<Item>, items: readonly Item[]): Cell[][] {
  return items.map((item) => Object.values(columns).map((cellOf) => cellOf(item)));
}

/** Aligns columns. Numbers are aligned to the right. */
export function table(headers: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [headers, ...rows].map((row) => row.map((cell) => printableLine(String(cell ?? ''))));
  const widths = headers.map((_, column) =>
    lines.reduce((width, line) => Math.max(width, (line[column] ?? '').length), 0),
  );
  const isFigure = headers.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  return lines
    .map((line) =>
      line
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return isFigure[column] && rows.length > 0 ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One fact on each line, with the values aligned. Unknown facts are left out. */
export function facts(entries: readonly (readonly [name: string, value: Cell])[]): string {
  const known = entries.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

/** Formats milliseconds since 1970 as ISO 8601. */
export function time(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** Breaks a long text into lines that fit under the help of a command. */
export function wrapped(text: string): string {
  return text.replace(/(.{1,98})(?: |$)/g, '$1\n').trimEnd();
}

/** Returns columns that are named like the fields of the items. */
export function fieldColumns<Name extends string>(
  ...names: readonly Name[]
): Columns<{ readonly [Field in Name]?: Cell | null }> {
  return Object.fromEntries(names.map((name) => [name, (item) => item[name] ?? undefined]));
}

/** Returns a table as CSV (RFC 4180). Empty cells are facts that are not known. */
export function csvOf<Item>(columns: Columns<Item>, items: readonly Item[]): string {
  return csvLines([Object.keys(columns), ...rowsOf(columns, items)]);
}

/** Lines of a table whose headings are written already. */
export function csvLines(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => row.map((cell) => quotedCell(String(cell ?? ''))).join(',')).join('\n');
}

function quotedCell(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
