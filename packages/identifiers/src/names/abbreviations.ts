import abbreviations from './abbreviations.json' with { type: 'json' };
import { wordsIn } from './texts.ts';

/** The words that abbreviations in lower case stand for: "international" for "intl". */
export const WRITTEN_OUT = byAbbreviation(abbreviations.writtenOut);
/** By abbreviation, the words for which some lists use it. It may stand for others too: "res" for "resources" and "research". */
const MAY_STAND_FOR = Map.groupBy(
  Object.entries(abbreviations.mayStandFor).flatMap(([word, short]) =>
    short.split(' ').map((each) => ({ each, word })),
  ),
  ({ each }) => each,
);
/** A look-up reads the keys of each expansion. */
const MOST_EXPANSIONS = 8;
/** Words that sources use for each other in one name: "tech", "technology" and "technologies". */
const VARIANTS = byAbbreviation(abbreviations.variants);
/** Spellings of "group" and "holdings". */
export const COLLECTIVES = byAbbreviation(abbreviations.collectives);
/** Words that sources often omit. They include legal forms that may come before the end: "Co" in "Walt Disney Co (The)". */
export const OPTIONAL_WORDS = wordsIn([abbreviations.optional]);
/** Lists cut long names within a word. A shorter beginning may be a word. */
const SHORTEST_BEGINNING = 8;
/** By their beginnings. */
const LONG_WORDS: ReadonlyMap<string, string> = new Map(
  Object.keys(abbreviations.writtenOut).map((word) => [word.slice(0, SHORTEST_BEGINNING), word]),
);

/** Returns a normal name with its abbreviations written out, and also its last word if a list has cut it off: "iovance biotherap". */
export function nameWrittenOut(normal: string): string {
  const words = normal.split(' ');
  const last = words.at(-1) ?? '';
  const long = LONG_WORDS.get(last.slice(0, SHORTEST_BEGINNING)) ?? '';
  const isCut = words.length > 1 && long.startsWith(last) && long.length > last.length + 1;
  if (!isCut && !words.some((word) => WRITTEN_OUT.has(word))) return normal;
  const full = words.map((word) => WRITTEN_OUT.get(word) ?? word);
  return (isCut ? [...full.slice(0, -1), long] : full).join(' ');
}

/**
 * Returns the names for which a normal name of several words may stand, if a list of securities has shortened it in its own way:
 * "louisiana pacific" for "louisiana pac", "royal bank of canada" for "royal bk cda". At most MOST_EXPANSIONS.
 */
export function expansionsOf(normal: string): string[] {
  const words = normal.split(' ');
  const isShort = (word: string) => MAY_STAND_FOR.has(word) || WRITTEN_OUT.has(word);
  // "nat res" may stand for many names.
  if (words.length < 2 || (words.length === 2 && words.every(isShort))) return [];
  let forms = [''];
  for (const word of words) {
    const options = [
      ...(MAY_STAND_FOR.get(word) ?? []).map(({ word: full }) => full),
      WRITTEN_OUT.get(word) ?? word,
    ];
    forms = forms.flatMap((form) => options.map((option) => `${form} ${option}`)).slice(0, MOST_EXPANSIONS);
  }
  return forms.map((form) => form.trimStart()).filter((form) => form !== normal);
}

/** Returns one word for all words that sources use for each other. */
export function commonSpelling(word: string): string {
  const full = WRITTEN_OUT.get(word) ?? word;
  return VARIANTS.get(full) ?? full;
}

function byAbbreviation(byWord: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(byWord).flatMap(([word, short]) => short.split(' ').map((each) => [each, word] as const)),
  );
}
