import { OptionError } from '../framework/source-items.ts';
import BLANK_WORDS from './blank-words.json' with { type: 'json' };

/** Characters that nobody sees: soft hyphens, zero-width spaces, marks of direction and of byte order. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u2060\ufeff]/g;
/** Only dashes and a few other signs. */
const SIGNS = /^[\s\p{Pd}\u2212.·…_*?]*$/u;
const EVERYWHERE: ReadonlySet<string> = new Set(BLANK_WORDS.everywhere);
const EXCEPT_AS_NAMES: ReadonlySet<string> = new Set(BLANK_WORDS.except_as_names);

/** Most texts have none of these, and cost less then. */
const UNUSUAL = /^ | $| {2}|[^ -~]/;

/** Makes all white space in a text single spaces, and removes invisible characters. */
export function withPlainSpaces(text: string): string {
  return !UNUSUAL.test(text) ? text : text.replace(INVISIBLE, '').replace(/\s+/g, ' ').trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};
const ENTITY = /&(#\d{2,6}|#x[\dA-Fa-f]{2,5}|amp|lt|gt|quot|apos|nbsp);/g;
const decoded = (_: string, entity: string) =>
  ENTITIES[entity] ?? String.fromCodePoint(Number(entity.replace('#', '0')));

/** Returns the text of a cell, with plain spaces, without a spreadsheet's signs (="00700", '00700), and with HTML's entities decoded. */
export function cellText(written: string): string {
  const text = withPlainSpaces(written.includes('&') ? written.replace(ENTITY, decoded) : written);
  return text[0] !== '=' && text[0] !== "'" ? text : text.replace(/^="([^"]*)"$|^'(\d[\dA-Z.-]*)$/, '$1$2');
}

/** Tells whether a text that may be a name or a ticker is none: it is empty, of dashes, or "N/A". "NULL" and "NA" may be tickers. */
export function isBlankName(text: string): boolean {
  return SIGNS.test(text) || EVERYWHERE.has(text.trim().toLowerCase());
}

/** Tells whether a text that is neither a name nor a ticker says that there is no value: as isBlankName, and "null", "none" or "NA". */
export function isBlank(text: string): boolean {
  return isBlankName(text) || EXCEPT_AS_NAMES.has(text.trim().toLowerCase());
}

const LATIN = /^[\p{Script=Latin}\P{L}]*$/u;

export function isLatin(text: string): boolean {
  return LATIN.test(text);
}

/**
 * Reads "a=b,c=d" as names and values. With a single equals sign, a comma belongs to the name: "Revenue, total=…". Throws an
 * OptionError if a name or a value is missing.
 */
export function assignmentsIn(text: string): [name: string, value: string][] {
  const parts = text.indexOf('=') === text.lastIndexOf('=') ? [text] : text.split(/,(?=[^,]*=)/);
  return parts.map((part) => {
    const at = part.lastIndexOf('=');
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    if (at >= 0 && name !== '' && value !== '') return [name, value];
    throw new OptionError(
      `"${part}" is not valid: write a name, an equals sign and a value, such as Company=name`,
    );
  });
}
