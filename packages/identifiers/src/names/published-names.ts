import { WRITTEN_OUT } from './abbreviations.ts';
import { isCommonAsTicker } from './common-words.ts';
import { coreName } from './names.ts';
import { isFirstWordOfMany } from './places.ts';
import { withoutMarks } from './registry-names.ts';
import spellings from './spellings.json' with { type: 'json' };
import { wordsIn } from './texts.ts';
import { writtenPart } from './weak-names.ts';

/** Words of two and three letters. Any other text of so few letters is an abbreviation. */
const SHORT_WORDS = wordsIn(spellings.shortWords);
const LONGEST_SHORT_WORD = 3;
/** Words that have no capital inside a name. */
const LOWER_CASE = wordsIn([spellings.lowerCase]);
/** Words whose capitals no rule gives: "PepsiCo", "NVIDIA". */
const SPELLED = new Map([...wordsIn(spellings.spelled)].map((word) => [word.toUpperCase(), word]));
/** In lower case, the given names that are seldom a surname or a place: "robert". */
export const GIVEN_NAMES = wordsIn(spellings.givenNames);
const NO_SURNAMES = wordsIn([spellings.noSurnames]);
const MOST_GIVEN_NAMES = 3;
const TOP_LEVEL_DOMAIN = /^(?:com|net|org)$/;
const ROMAN_NUMERAL = /^(?:I{2,3}|IV|VI{1,3}|IX|XI{1,3}|XIV|XV|XX)$/;
/** No English word of four letters ends or begins so: "IMCD", "SSAB". Cut words may, before or after a dot: "APPL.TECHN.". */
const UNPRONOUNCEABLE = /^(?:[AEIOU](?![A-Z]*[HSTY]$)[B-DF-HJ-NP-TV-XZ]{3}|([B-DF-HJKMNP-TV-XZ])\1[A-Z]{2})$/;
const ABBREVIATION = /(\p{L}+)\.(?= |$)/gu;
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*/gu;
/** A legal form in capitals behind a name that is spelled. */
const FORM = /(?<= )(?:INC|CORP|CORPORATION|LTD|LIMITED)(?=\.?$)/;
/** A letter that ends a word in capitals. */
const WORD_IN_CAPITALS = /\p{Lu}(?!\p{Ll})/u;
const PARTNERS = /^,?\s*&\s*CO\b/i;

/**
 * Returns a company's name as a person would write it: "Occidental Petroleum" for "OCCIDENTAL PETROLEUM CORP /DE/", "Charles Schwab"
 * for "SCHWAB CHARLES CORP". Only a name in capitals loses these and its legal form; any name loses a registry's marks.
 */
export function publishedName(name: string): string {
  const plain = withoutMarks(name);
  const core = coreInCapitals(name, plain);
  if (core === undefined)
    return SPELLED.get(plain) ?? (/\p{Ll}/u.test(plain) ? plain.replace(FORM, titled) : plain);
  if (isFirstWordOfMany(core) || isCommonAsTicker(core)) return titled(plain);
  const isFirm = PARTNERS.test(plain.slice(plain.indexOf(core) + core.length));
  return titled(turnedName(core) ?? withInitials(core.replace(/ COM$/, '.COM'))) + (isFirm ? ' & Co.' : '');
}

/** Checks whether a source writes the name in capitals, so that another source's spelling of it is better. */
export function isInCapitals(name: string): boolean {
  return coreInCapitals(name, withoutMarks(name)) !== undefined;
}

/**
 * Returns a name without its legal form, if a list has put it in capitals: "PREMIUM BRANDS" of "PREMIUM BRANDS Corp". Undefined for
 * other names, and for a single word alone or beside small letters, because companies write "NVIDIA" and "LANXESS Aktiengesellschaft".
 *
 * @param plain the name without marks
 */
function coreInCapitals(name: string, plain: string): string | undefined {
  if (!WORD_IN_CAPITALS.test(plain)) return undefined;
  const core = writtenPart(plain, coreName(plain)) ?? plain;
  if (/\p{Ll}/u.test(core) || !/\p{Script=Latin}/u.test(core)) return undefined;
  const isAlone = core === plain || /\p{Ll}/u.test(plain);
  return !isAlone || plain !== name || (core.includes(' ') && /\p{L}{2}/u.test(core)) ? core : undefined;
}

/**
 * Returns a name that begins with a surname, as registers sort them, in the order of speech: "J.B. HUNT TRANSPORT SERVICES" for
 * "HUNT J B TRANSPORT SERVICES". Behind the surname stand two initials, or a given name that is seldom a surname or a place, because
 * "LOCKHEED MARTIN" is none. Undefined if the name is not of this form.
 */
export function turnedName(core: string): string | undefined {
  const [surname = '', ...others] = core.split(/\s+/);
  const isGiven = (word: string) => GIVEN_NAMES.has(word.toLowerCase());
  const isSurname = /^\p{L}[\p{L}'’-]{2,}$/u.test(surname) && !isGiven(surname);
  if (!isSurname || NO_SURNAMES.has(surname.toLowerCase())) return undefined;
  const end = others.findIndex((word) => !isInitial(word) && !isGiven(word));
  const given = others.slice(0, end < 0 ? others.length : end);
  if (given.length > MOST_GIVEN_NAMES || !(given.some(isGiven) || given.length > 1)) return undefined;
  return withDots([...given, surname, ...others.slice(given.length)]);
}

function isInitial(word: string): boolean {
  return /^\p{L}\.?$/u.test(word);
}

/** Writes dots behind the initials with which a name begins: "J M SMUCKER", "V F". */
function withInitials(core: string): string {
  return /^\p{L} \p{L}(?: |$)/u.test(core) ? withDots(core.split(/\s+/)) : core;
}

/** Writes initials with dots: "J.B. HUNT", "ARTHUR J. GALLAGHER". */
function withDots(words: readonly string[]): string {
  const dotted = words.map((word) => (isInitial(word) ? `${word[0]}.` : word)).join(' ');
  return dotted.replace(/(?<=\b\p{L}\.) (?=\p{L}\.)/gu, '');
}

function titled(written: string): string {
  const name = written.replace(ABBREVIATION, (all, word: string) =>
    WRITTEN_OUT.has(word.toLowerCase()) ? word : all,
  );
  return name.replace(WORDS, (word, at: number) => {
    const [before, after] = [name[at - 1], name[at + word.length]];
    if (word.length <= LONGEST_SHORT_WORD && (before === '&' || after === '&')) return word;
    return titledWord(word, before, after);
  });
}

/** Returns a word in capitals as a name has it, between these characters: "McDonald's", "L3Harris", "IBM". */
function titledWord(word: string, before: string | undefined, after: string | undefined): string {
  const isFirst = before === undefined || before === '-';
  const isAfterDot = before === '.';
  const lower = word.toLowerCase();
  const spelled = SPELLED.get(word);
  if (spelled !== undefined) return spelled;
  if (isAfterDot ? TOP_LEVEL_DOMAIN.test(lower) : !isFirst && LOWER_CASE.has(lower)) return lower;
  if (/^\d+(?:ST|ND|RD|TH)$/.test(word)) return lower;
  const full = WRITTEN_OUT.get(lower);
  if (full !== undefined) return (full[0] ?? '').toUpperCase() + full.slice(1);
  const isAbbreviation =
    word.length <= LONGEST_SHORT_WORD
      ? !SHORT_WORDS.has(lower)
      : (UNPRONOUNCEABLE.test(word) && !isAfterDot && after !== '.') || !/[AEIOUY\u00C0-\u024F]/.test(word);
  if (isAbbreviation || ROMAN_NUMERAL.test(word)) return word;
  const capital = (letter: string) => letter.toUpperCase();
  return lower
    .replace(/^\p{L}/u, capital)
    .replace(/(?<=^(?:Mc|\p{L}['’]))\p{L}(?=\p{L}{2})/u, capital)
    .replace(/(?<=\d)\p{L}(?=\p{L}{3})/gu, capital);
}
