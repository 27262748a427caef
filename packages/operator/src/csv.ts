/** A table as CSV (RFC 4180). Empty cells are facts that are not known. */
export function csv(
  headers: readonly string[],
  rows: readonly (readonly (string | number | boolean | undefined)[])[],
): string {
  return [headers, ...rows].map((row) => row.map((cell) => quoted(String(cell ?? ''))).join(',')).join('\n');
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
