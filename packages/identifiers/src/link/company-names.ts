import { COLLECTIVES, commonSpelling, OPTIONAL_WORDS } from '../names/abbreviations.ts';
import { legalFamiliesOf } from '../names/legal-families.ts';
import { coreName, normalName } from '../names/names.ts';
import { isPlace } from '../names/places.ts';
import { hasInOrder, once } from '../names/texts.ts';
import { areDisjoint } from './sets.ts';

/** A company's name, in the form in which names of different sources are compared. */
export interface CompanyName {
  /** The name's words in their normal form, without the legal form and marks of the security. */
  readonly words: readonly string[];
  /** Equal names have a form in common (comparableNames). */
  readonly forms: readonly string[];
  /** The families of the legal form at the name's end (legalFamiliesOf). */
  readonly legalFamilies: readonly string[];
  /** "group", "holdings", both or ''. */
  readonly collective: string;
}

/** "equal": the same name. "alike": one may be an abbreviation of the other. "other": the names of two companies. */
export type Likeness = 'equal' | 'alike' | 'other';

/** A shorter word may have only letters of another one by chance. */
const LONG_ABBREVIATION = 5;

/** Words that only some spellings of a name have. */
const INSIGNIFICANT: ReadonlySet<string> = new Set(
  'and the of for pour fur a d de do da del der des di du et la le les und van von y e i plc inc co corp ltd sa sab cv ag se nv aktiengesellschaft'.split(
    ' ',
  ),
);

/**
 * Returns the name in the form that is compared. The text must not name a security. Undefined if it contains no word.
 *
 * @param normal the normal name without legal forms
 */
export function companyName(
  plain: string,
  normal: string = coreName(normalName(plain)),
): CompanyName | undefined {
  if (normal === '') return undefined;
  // German exchanges write "UE" for "Ü", and other exchanges "U". "Kuehne + Nagel" is "Kuehne & Nagel", but "Canal+" is not "Canal".
  const words = normal
    .replace(/([aou])e/g, '$1')
    .replaceAll(' plus ', ' and ')
    .split(' ');
  const significant = words.filter((word) => !INSIGNIFICANT.has(word));
  // Most names are compared without these.
  const legalFamilies = once(() => legalFamiliesOf(plain));
  const collective = once(() => collectivesIn(plain));
  return {
    words: significant.length > 0 ? significant : words,
    forms: comparableNames(words.join(' ')),
    get legalFamilies() {
      return legalFamilies();
    },
    get collective() {
      return collective();
    },
  };
}

function collectivesIn(name: string): string {
  const words = normalName(name).split(' ');
  return [...new Set(words.flatMap((word) => COLLECTIVES.get(word) ?? []))].toSorted().join(' ');
}

/**
 * Returns how alike two names are. This is the only comparison of names: of a source's own rows, and of records of different
 * sources.
 */
export function compareNames(a: CompanyName, b: CompanyName): Likeness {
  if (a.forms.some((form) => b.forms.includes(form))) return 'equal';
  if (isOfOnePlace(a, b)) return 'other';
  const isAlike =
    abbreviates(a, b) ||
    abbreviates(b, a) ||
    shareMostWords(a.words, b.words) ||
    shareStart(a.words, b.words);
  return isAlike ? 'alike' : 'other';
}

/** Checks whether one name is the other with a place at its end, as that of a subsidiary: "Nestlé" and "Nestlé India". */
export function isOfOnePlace({ words: one }: CompanyName, { words: other }: CompanyName): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length === long.length || !short.every((word, index) => word === long[index])) return false;
  return isPlace(long.slice(short.length).join(' '));
}

/**
 * Checks whether each word of the shorter name abbreviates one or several words of the longer name, in the same order: "bk ny
 * mellon" abbreviates "bank new york mellon". The shorter name may omit words at the end. It may also omit the longer name's
 * first word, if the second word is written in full.
 */
function abbreviates(short: CompanyName, long: CompanyName): boolean {
  // "Saga plc" does not abbreviate "Saga Pure ASA".
  if (short.words.length === 1 && areDisjoint(new Set(short.legalFamilies), new Set(long.legalFamilies)))
    return false;
  if (short.words.length === 1 && isChance(short.words[0] ?? '', long.words[0] ?? '')) return false;
  const isWrittenOut = short.words[0] === long.words[1] && (short.words[0]?.length ?? 0) >= 5;
  return (
    standsFor(short.words, long.words) ||
    (isWrittenOut && standsFor(short.words, long.words.slice(1))) ||
    // "Royal Caribbean Group" abbreviates "Royal Caribbean Cruises", but "Sumo Group" does not abbreviate "Sumo Logic".
    (short.words.length >= 3 &&
      COLLECTIVES.has(short.words.at(-1) ?? '') &&
      standsFor(short.words.slice(0, -1), long.words))
  );
}

function standsFor(short: readonly string[], long: readonly string[]): boolean {
  if (short.length > long.length) return false;
  let at = 0;
  // A name of three or more words may omit one word: "cia en ger" abbreviates "companhia energetica minas gerais".
  let mayLeaveOut = short.length >= 3;
  for (const word of short) {
    let taken = wordsTaken(word, long, at);
    if (taken === 0 && mayLeaveOut) {
      mayLeaveOut = false;
      at++;
      taken = wordsTaken(word, long, at);
    }
    if (taken === 0) return false;
    at += taken;
  }
  return short.join('').length >= 4 || at >= 3;
}

/** Returns how many words of the longer name, from `at`, the word abbreviates. 0 if it abbreviates none. */
function wordsTaken(word: string, long: readonly string[], at: number): number {
  const next = long[at] ?? '';
  if (word === next || isAbbreviation(word, next)) return 1;
  const initials = long.slice(at, at + word.length);
  const isInitials =
    word.length >= 2 &&
    initials.length === word.length &&
    initials.every((each, index) => each[0] === word[index]);
  return isInitials ? word.length : 0;
}

/** Checks whether `short` has the word's first letter, and the word contains its letters in the same order: "bkn" of "banken". */
function isAbbreviation(short: string, word: string): boolean {
  return short[0] === word[0] && short.length < word.length && !/\d/.test(short) && hasInOrder(word, short);
}

/** Checks whether a short name of one word has letters of the other word by chance: "eMan" is neither "eMagin" nor "Everyman". */
function isChance(short: string, word: string): boolean {
  return short.length < LONG_ABBREVIATION && !word.startsWith(short) && isAbbreviation(short, word);
}

/** Recognizes renamed products: "Boost S&P 500 VIX Short-Term Futures", "WisdomTree S&P 500 VIX Short-Term Futures". */
function shareMostWords(a: readonly string[], b: readonly string[]): boolean {
  const others = new Set(b);
  const common = new Set(a.filter((word) => others.has(word)));
  return common.size >= 4 && common.size * 2 > Math.min(a.length, b.length);
}

/**
 * Checks whether the names begin with the same long word ("GraniteShares FAANG ETC" and "GRANITESHARES FINANCIAL PLC"), or with
 * two words that agree ("INVESC.PHYS.MKT." and "Invesco Physical Gold").
 */
function shareStart(a: readonly string[], b: readonly string[]): boolean {
  const [one = '', two = ''] = a;
  const [other = '', another = ''] = b;
  const isLong = one === other && one.length >= 12;
  const areTwo = [one, two, other, another].every((word) => word.length >= 4);
  return isLong || (areTwo && standsForEither(one, other) && standsForEither(two, another));
}

function standsForEither(a: string, b: string): boolean {
  return a === b || isAbbreviation(a, b) || isAbbreviation(b, a);
}

/** Checks whether the domain is the name's first words: "BIG LOTS" and biglots.com, "Brookfield Renewable" and brookfield.com. */
export function isNamedAfter(domain: string, name: CompanyName | undefined): boolean {
  const label = (domain.split('.', 1)[0] ?? '').replaceAll('-', '');
  const whole = domain.replaceAll(/[.-]/g, '');
  let start = '';
  for (const word of name?.words ?? []) {
    start += word;
    if (start.length >= 3 && (start === label || start === whole)) return true;
  }
  return false;
}

/**
 * Returns the two forms of a normal name whose equality means that the names are equal. They are looser than those of look-ups:
 * usual abbreviations are written out, and words that sources often omit (group, holdings) are removed. One form ignores the
 * spaces between the words, the other form ignores their order. Words that distinguish companies stay: "Toyota Industries" is not
 * "Toyota Motor".
 */
export function comparableNames(normal: string): string[] {
  const words = normal.split(' ').map(commonSpelling);
  const distinctive = words.filter((word) => !OPTIONAL_WORDS.has(word));
  const compared = distinctive.length > 0 ? distinctive : words;
  return [compared.join(''), compared.toSorted().join(' ')];
}
