const BLANK = new Set(['', '-', '–', '—', 'n/a', '#n/a']);
const BLANK_WORDS = new Set(['null', 'nan', 'none']);

/** Tells whether a cell has no value: it is empty, a dash or "N/A". */
export function isBlankCell(cell: string): boolean {
  return BLANK.has(cell.trim().toLowerCase());
}

/** As `isBlankCell`, for a figure or a code. Here "null", "NaN" and "none" are blank too; in other cells they may be names. */
export function isBlankFigure(cell: string): boolean {
  return isBlankCell(cell) || BLANK_WORDS.has(cell.trim().toLowerCase());
}

const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const SPACES = /[\s\u00a0\u202f'’_]/g;

/** Accountants write negative figures in parentheses: "(0.04)", "($1,234.50)". */
const IN_PARENTHESES = /^\(([^()+\u2212-]+)\)$/u;
/** No figure has so many characters. */
const LONGEST_FIGURE = 100;

/**
 * A number as tables write it. Currency signs, a plus sign and thousands separators are ignored. A typographic minus is read as a
 * minus, and parentheses around the number mean that it is negative. Unless `decimalComma`, a comma before three digits separates
 * thousands ("1,234"). Undefined if the cell is not a number or has a percent sign.
 */
export function readNumber(cell: string, { decimalComma = false } = {}): number | undefined {
  const trimmed = cell.trim();
  if (trimmed.length > LONGEST_FIGURE) return undefined;
  const text = trimmed
    .replace(IN_PARENTHESES, '-$1')
    .replace(/^([+\u2212-]?)\s*[$€£¥]\s*/u, '$1')
    .replace('\u2212', '-')
    .replace(SPACES, '');
  const value = decimalComma ? withoutThousands(text, '.').replace(',', '.') : withoutThousands(text, ',');
  if (!PLAIN.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Removes the separators, but only if each is before three digits and none is after the decimal point. */
function withoutThousands(text: string, separator: ',' | '.'): string {
  const grouped =
    separator === ',' ? /^[+-]?\d{1,3}(?:,\d{3})+(?![\d,])/ : /^[+-]?\d{1,3}(?:\.\d{3})+(?![\d.])/;
  return grouped.test(text) ? text.replaceAll(separator, '') : text;
}

/** As `readNumber`, but ignores a percent sign at the end, also inside parentheses. */
export function readPercentage(cell: string, options?: { decimalComma?: boolean }): number | undefined {
  return readNumber(cell.trim().replace(/(?<!\s)\s*[%٪](\)?)$/u, '$1'), options);
}

const YES = new Set(['true', 'yes', 'y', '1']);
const NO = new Set(['false', 'no', 'n', '0']);

/** Reads a cell as true or false. Undefined if it is neither. */
export function readBoolean(cell: string): boolean | undefined {
  const text = cell.trim().toLowerCase();
  if (YES.has(text)) return true;
  return NO.has(text) ? false : undefined;
}
