import commonWords from './common-words.json' with { type: 'json' };
import { isLegalFormAlone, normalName } from './names.ts';
import { wordsIn } from './texts.ts';
import { isGroupWordAlone } from './weak-names.ts';

/**
 * English words that are a ticker somewhere, or some company's name without its legal form. Whoever writes them hardly ever means
 * an obscure company. The list has function words, legal forms, and words for what many companies are. Words that people know as
 * a ticker or a brand ("play", "open") are left out.
 */
const COMMON_WORDS: ReadonlySet<string> = new Set(commonWords.words);
/** English words, and short forms of given names, that are or may become tickers: "cake", "snow", "kim". */
export const OTHER_WORDS = wordsIn(commonWords.otherWords);

/** Checks whether a text, alone, is a common word that is hardly ever meant as a ticker. Ignores upper and lower case. */
export function isCommonAsTicker(text: string): boolean {
  return COMMON_WORDS.has(normalName(text));
}

/** Checks whether a text, alone, is a common word, a legal form ("KGaA") or a word such as "Group": hardly ever a name. */
export function isCommonAsName(text: string): boolean {
  return isCommonAsTicker(text) || isLegalFormAlone(text) || isGroupWordAlone(text);
}
