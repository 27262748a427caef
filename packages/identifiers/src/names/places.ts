import firstWords from './first-words.json' with { type: 'json' };
import { normalName } from './names.ts';
import { once, wordsIn } from './texts.ts';

/** Countries and continents as companies write them in the names of subsidiaries, besides their English names. */
const OTHER_NAMES = 'america asia europe usa us uk brasil deutschland espana italia polska'.split(' ');
/** Adjectives that, like the names of countries, begin the names of many companies. */
const FIRST_WORDS = wordsIn(firstWords.firstWords);
const places = once(() => new Set([...OTHER_NAMES, ...regionNames().values().map(normalName)]));

/** Checks whether the text, in normal form, is the name of a country or a continent. */
export function isPlace(normal: string): boolean {
  return places().has(normal);
}

/** Checks whether a text, alone, is the name of a country or an adjective with which the names of many companies begin. */
export function isFirstWordOfMany(text: string): boolean {
  const normal = normalName(text);
  return FIRST_WORDS.has(normal) || isPlace(normal);
}

/** Returns the English names of countries by their codes of two letters, as CLDR has them: also withdrawn and reserved codes. */
export const regionNames = once((): ReadonlyMap<string, string> => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  return new Map(
    codes.map((code) => [code, names.of(code) ?? ''] as const).filter(([, name]) => name !== ''),
  );
});
