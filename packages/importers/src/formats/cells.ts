const BLANK = new Set(['', '-', '–', '—', 'n/a', '#n/a']);
const BLANK_WORDS = new Set(['null', 'nan', 'none']);

/** Whether a cell has no value: it is empty, a dash or "N/A". */
export function isBlank(cell: string): boolean {
  return BLANK.has(cell.trim().toLowerCase());
}

/** As `isBlank`, where a figure or a code is expected: also "null", "NaN" and "none", which elsewhere may be names. */
export function isBlankFigure(cell: string): boolean {
  return isBlank(cell) || BLANK_WORDS.has(cell.trim().toLowerCase());
}

const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const SPACES = /[\s\u00a0\u202f'’_]/g;

/**
 * A number as tables write it: signs of currency, a plus, thousands separators and a typographic minus do not count.
 * A comma that is followed by three figures separates thousands ("1,234"), unless `decimalComma`. Undefined: it is
 * no number, or has a percent sign.
 */
export function readNumber(cell: string, { decimalComma = false } = {}): number | undefined {
  const text = cell
    .trim()
    .replace(/^([+\u2212-]?)\s*[$€£¥]\s*/u, '$1')
    .replace('\u2212', '-')
    .replace(SPACES, '');
  const value = decimalComma ? withoutThousands(text, '.').replace(',', '.') : withoutThousands(text, ',');
  if (!PLAIN.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Unchanged where a separator is not before three figures, or is behind the decimal point. */
function withoutThousands(text: string, separator: ',' | '.'): string {
  const grouped =
    separator === ',' ? /^[+-]?\d{1,3}(?:,\d{3})+(?![\d,])/ : /^[+-]?\d{1,3}(?:\.\d{3})+(?![\d.])/;
  return grouped.test(text) ? text.replaceAll(separator, '') : text;
}

/** As `readNumber`; a percent sign at the end does not count. */
export function readPercentage(cell: string, options?: { decimalComma?: boolean }): number | undefined {
  return readNumber(cell.trim().replace(/\s*[%٪]$/u, ''), options);
}

const YES = new Set(['true', 'yes', 'y', '1']);
const NO = new Set(['false', 'no', 'n', '0']);

/** Undefined: the cell is neither. */
export function readBoolean(cell: string): boolean | undefined {
  const text = cell.trim().toLowerCase();
  if (YES.has(text)) return true;
  return NO.has(text) ? false : undefined;
}
