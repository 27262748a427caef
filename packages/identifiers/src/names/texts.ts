/** Compares by code units, so that the order is the same on every machine, whatever its locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The most characters of an identifier, and of a text to search for. */
export const LONGEST_IDENTIFIER = 256;

/** Checks whether callers may not send the text as an identifier. It has at least as many code units as characters. */
export function isTooLongForIdentifier(text: string): boolean {
  return text.length > LONGEST_IDENTIFIER && [...text].length > LONGEST_IDENTIFIER;
}

/** Checks whether a text has no small letters, as the systems of some exchanges write names, often abbreviated. */
export function isShouted(text: string): boolean {
  return text === text.toUpperCase();
}

/** Checks whether all letters of a text are capitals. A text in a script without capitals is not. */
export function hasOnlyCapitals(text: string): boolean {
  return isShouted(text) && text !== text.toLowerCase();
}

/** Checks whether the text contains the letters in their order: "banken" contains those of "bkn". */
export function hasInOrder(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/**
 * Returns a pure function that remembers its last results. An import asks for the same name or address several times in a row,
 * for the keys of one record. It forgets all results at once when it has `most`, which costs less than an order of use.
 */
export function remembered<Result>(of: (text: string) => Result, most = 64): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined || results.has(text)) return known as Result;
    if (results.size >= most) results.clear();
    const result = of(text);
    results.set(text, result);
    return result;
  };
}

/** Returns a function that computes the value at its first call. */
export function once<T>(derive: () => T): () => T {
  let derived: { value: T } | undefined;
  return () => {
    derived ??= { value: derive() };
    return derived.value;
  };
}

/** Returns the rows of a table in a data file, without its comments, which begin with "#". */
export function rowsOf(lines: readonly string[]): string[] {
  return lines.filter((line) => !line.startsWith('#'));
}

/** Returns the words of lines of text, in which data files write long lists. */
export function wordsIn(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '));
}
