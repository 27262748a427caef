const LATIN = /^[\p{Script=Latin}\P{L}]*$/u;

/** Checks whether all letters of a text are Latin. */
export function isLatin(text: string): boolean {
  return LATIN.test(text);
}
