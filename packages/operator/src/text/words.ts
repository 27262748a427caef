type Names = Readonly<Record<string, string>>;

/** Returns the word of an enumeration's value: "ticker" for MatchKind.TICKER, and "unknown" if this bds does not know the value. */
export function wordOf(names: Names, value: string | undefined): string {
  const [name = 'UNSPECIFIED'] = Object.entries(names).find(([, each]) => each === value) ?? [];
  return name === 'UNSPECIFIED' ? 'unknown' : name.toLowerCase();
}

/** Returns the value of a word. Undefined if it has none, as "unknown" has none. */
export function valueNamed<Enumeration extends Names>(
  names: Enumeration,
  word: string | undefined,
): Enumeration[keyof Enumeration] | undefined {
  const name = Object.keys(names).find((each) => each !== 'UNSPECIFIED' && each.toLowerCase() === word);
  return name === undefined ? undefined : names[name as keyof Enumeration];
}
