import { type Reading, readIdentifier } from './readings.ts';

/** A name and a ticker or security identifier in one text, as in "Apple (AAPL)". */
export interface NameWithCode {
  readonly name: string;
  readonly nameReadings: readonly Reading[];
  /** "AAPL", "NASDAQ: AAPL", "US0378331005". */
  readonly code: string;
  readonly codeReadings: readonly Reading[];
}

const IN_PARENTHESES = /^(.+?) ?[(（[]([^()（）[\]]+)[)）\]]$/u;
/** A hyphen without spaces is a part of a name ("Coca-Cola") or of a ticker ("BRK-B"). */
const BETWEEN_SPACES = / (?:[\p{Pd}\u2212|·] )+/u;
const SPACES = /\s+/gu;

/**
 * Reads a text as a name together with a ticker or a security identifier: "Apple Inc. (NASDAQ: AAPL)", "AAPL - Apple". Of two parts
 * with a dash, either one may be the name, so there are at most two readings. A reading means a company only if both parts do.
 */
export function readNamesWithCodes(identifier: string): NameWithCode[] {
  const read = (text: string) => readIdentifier(text, { superinvestors: false });
  return partsOf(identifier).flatMap(([name, code]): NameWithCode[] => {
    const nameReadings = read(name).filter(({ kind }) => kind === 'name');
    const codeReadings = read(code).filter(({ kind }) => kind !== 'name' && kind !== 'domain');
    const isBoth = nameReadings.length > 0 && codeReadings.length > 0;
    return isBoth ? [{ name, nameReadings, code, codeReadings }] : [];
  });
}

function partsOf(identifier: string): (readonly [name: string, code: string])[] {
  const text = identifier.replace(SPACES, ' ').trim();
  const [, before, inside] = IN_PARENTHESES.exec(text) ?? [];
  if (before !== undefined && inside !== undefined) return [[before, inside]];
  const [left, right, ...rest] = text.split(BETWEEN_SPACES).map((part) => part.trim());
  if (!left || !right || rest.length > 0) return [];
  return [
    [right, left],
    [left, right],
  ];
}
