import { type BrandKey, coreOf, normalName, RANK_OF_UNKNOWN } from '@brand-data/identifiers';

/** Companies whose ranks are in one step are about equally well known. */
const RANKS_IN_STEP = 10;
const BEST_STEP = 99;
/** The step of records that are less than unknown: bare ones. */
const LAST_STEP = Math.floor(RANK_OF_UNKNOWN / RANKS_IN_STEP) - 1;
/** So many characters of a text count. */
const LONGEST = 48;
/** More texts than all but a few companies have. */
const MOST_TEXTS = 300;

const DIGITS = 2;
/** Digits that begin the entries of a step. The best known step sorts first. */
const digitsOf = (step: number) => String(BEST_STEP - step).padStart(DIGITS, '0');
const ALL_STEPS = Array.from({ length: BEST_STEP - LAST_STEP + 1 }, (_, below) =>
  digitsOf(BEST_STEP - below),
);

/**
 * Returns the entries by which searches find a company: the digits of its step, and a text. The texts are its names from each word
 * on, its tickers and its domains, in their normal forms. A text with which another one begins needs no entry.
 */
export function searchEntriesOf(keys: readonly BrandKey[], rank: number): string[] {
  const texts = [...new Set(keys.flatMap(textsOf).map(beginningOf))].slice(0, MOST_TEXTS).sort();
  const step = Math.max(LAST_STEP, Math.min(BEST_STEP, Math.floor(rank / RANKS_IN_STEP)));
  return texts
    .filter((text, index) => text !== '' && !texts[index + 1]?.startsWith(text))
    .map((text) => digitsOf(step) + text);
}

function textsOf({ key, kind, strength, value }: BrandKey): string[] {
  const text = key.slice(kind.length + 1);
  if (kind === 'name') return WHOLE_NAMES.has(strength) ? fromEachWord(text) : [];
  if (strength !== 'exact') return [];
  if (kind === 'ticker') return [normalName(text.replace(/@.*/, ''))];
  return kind === 'domain' ? [normalName(value)] : [];
}

const WHOLE_NAMES: ReadonlySet<string> = new Set(['exact', 'legal_form', 'former']);

/** Returns the name from each word on. A legal form at its end is no text: of a million companies, "inc" finds a third. */
function fromEachWord(name: string): string[] {
  const core = coreOf(name);
  const end = name.includes(core) ? name.lastIndexOf(core) + core.length : name.length;
  const texts: string[] = [];
  for (let start = 0; start < end; start = name.indexOf(' ', start) + 1 || end) texts.push(name.slice(start));
  return texts;
}

function beginningOf(text: string): string {
  return text.length <= LONGEST ? text : [...text].slice(0, LONGEST).join('');
}

/** What stands before a domain in an address. */
const BEFORE_DOMAIN = /^\s*(?:https?:\/\/)?(?:www\.)?/i;
const LAST_LETTER = /^(.*[^\p{L}\p{M}\p{N}])(\p{L})\s*$/su;

/**
 * Returns the beginnings of entries' texts that a typed text stands for. The last letter of "j. p. m" may begin a word, and may be one
 * more initial. Empty if the text has no letter or digit.
 */
export function textsTyped(typed: string): string[] {
  const text = typed.replace(BEFORE_DOMAIN, '');
  const [, before = '', letter = ''] = LAST_LETTER.exec(text) ?? [];
  const apart = `${normalName(before)} ${normalName(letter)}`.trim();
  return [...new Set([normalName(text), apart].map(beginningOf))].filter((one) => one !== '');
}

/**
 * Returns the filter that finds the companies with a text that begins so. Each step is one range of the index. MongoDB reads the
 * ranges in the order of the index, the best known companies first, and ends when it has as many as it should find.
 */
export function searchFilter(texts: readonly string[]) {
  // Normal forms have no sign with a meaning in regular expressions.
  return { search: { $in: ALL_STEPS.flatMap((step) => texts.map((text) => new RegExp(`^${step}${text}`))) } };
}

/** Checks whether `searchFilter` finds a company with these entries. */
export function isFound(entries: readonly string[], texts: readonly string[]): boolean {
  return entries.some((entry) => texts.some((text) => entry.startsWith(text, DIGITS)));
}
