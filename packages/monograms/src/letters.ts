/** A character that can be a monogram's letter: a letter or a number, but not a modifier such as the Hawaiian ʻokina. */
const LETTER = /[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{Nl}\p{Nd}]/u;
/**
 * Letters that never are initials: the vowels that Thai and Lao write before the consonant with which a syllable begins
 * (abbreviations begin with the consonant), and the Arabic hamza and tatweel.
 */
const NO_INITIAL = /[\u0e40-\u0e44\u0ec0-\u0ec4\u0621\u0640]/u;
/** The Arabic article at the start of a word that has at least three letters after it. */
const ARABIC_ARTICLE = /^\u0627\u0644(?=\p{L}{3})/u;

/** Scripts whose letters stand apart, so that two initials look like initials. Hebrew is written from right to left. */
const LEFT_TO_RIGHT =
  /^[0-9\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}]$/u;
const HEBREW = /^\p{Script=Hebrew}$/u;
/** Unicode has Georgian capitals, but names are not written with them, and few fonts have them. */
const WITHOUT_CAPITALS = /^\p{Script=Georgian}$/u;

const SMALL = /\p{Ll}/u;
/** Two capitals or digits: "LG" in "LG Electronics", "A1" in "A1 Telekom". */
const ACRONYM = /^[\p{Lu}\p{Nd}]{2}$/u;

/** Text in brackets: "Meta (formerly Facebook)". */
const BRACKETED = /\([^()]*\)|\[[^[\]]*\]|（[^（）]*）/gu;
/** Letters and numbers, also joined by apostrophes or full stops: "McDonald's", "U.S.", "Booking.com", but not "J.Crew". */
const RUN = String.raw`[\p{L}\p{N}][\p{L}\p{M}\p{N}]*`;
const JOINT = String.raw`['’‘ʼ´\u0060״׳"·]|\.(?!\p{Lu}\p{Ll})`;
const COMPANY_WORDS = new RegExp(`${RUN}(?:(?:${JOINT})${RUN})*`, 'gu');
/** In a person's name a hyphen joins the words of one name: "Jean-Marie". */
const PERSON_WORDS = new RegExp(`${RUN}(?:(?:${JOINT}|[-‐‑])${RUN})*`, 'gu');

/** Words that give no initial, unless the name begins with them. In lower case. */
const CONNECTING: ReadonlySet<string> = new Set(
  `and at by for from in of or the to with
   a au aux d de del della der des di do dos das du e el en et la las le les los y zu
   auf für im und vom von van den het voor og och i`.split(/\s+/),
);
const TITLES: ReadonlySet<string> = new Set('mr mrs ms dr prof sir dame lord lady'.split(' '));
const SUFFIXES: ReadonlySet<string> = new Set('jr sr ii iii iv phd md cfa esq'.split(' '));

/**
 * Returns the letters of a monogram, in upper case and in the order in which they are read: one, two, or '' if the name has no
 * letter and no number. A company gets the initials of its first two words that count, a person those of the first and the last
 * name. Scripts whose letters join, stack or fill a square each (Arabic, Devanagari, Chinese …) give one letter.
 *
 * Idempotent: the letters of letters are the same.
 */
export function lettersOf(name: string, { isPerson = false }: { isPerson?: boolean } = {}): string {
  const text = name.normalize('NFKC');
  const words = wordsOf(text, isPerson);
  const [first, second] = isPerson ? firstAndLast(words) : firstTwo(words);
  if (first === undefined) return '';
  if (second === undefined || (!isPerson && ACRONYM.test(first) && SMALL.test(second)))
    return lettersOfWord(first);
  return pairOf(initialOf(first), initialOf(second));
}

/** Whether these letters are written from right to left. */
export function isRightToLeft(letters: string): boolean {
  return HEBREW.test(letters.slice(0, 1));
}

function wordsOf(text: string, isPerson: boolean): string[] {
  const pattern = isPerson ? PERSON_WORDS : COMPANY_WORDS;
  const matchesIn = (part: string) => (part.match(pattern) ?? []).filter((word) => initialOf(word) !== '');
  const words = matchesIn(text.replace(BRACKETED, ' '));
  return words.length > 0 ? words : matchesIn(text);
}

function firstTwo(words: readonly string[]): readonly string[] {
  const named = words.length > 1 && words[0]?.toLowerCase() === 'the' ? words.slice(1) : words;
  const [first = '', ...rest] = named;
  return first === '' ? [] : [first, ...rest.filter((word) => !CONNECTING.has(word.toLowerCase()))];
}

function firstAndLast(words: readonly string[]): readonly string[] {
  const from = words.findIndex((word) => !TITLES.has(bare(word)));
  const last = words.findLastIndex((word) => !SUFFIXES.has(bare(word)));
  const [first = '', ...rest] = words.slice(Math.max(from, 0), Math.max(last, from, 0) + 1);
  return first === '' ? [] : [first, ...rest.slice(-1)];
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll('.', '');
}

/** A word alone gives one letter, unless it is short ("HP", "3M", "3i") or begins with two digits ("23andMe"). */
function lettersOfWord(word: string): string {
  const number = /^\p{Nd}{2}(?!\p{Nd})/u.exec(word)?.[0];
  const letters = [...word].filter((letter) => LETTER.test(letter));
  const areCapitals = letters.every((letter) => initialOf(letter) === letter);
  const isShort = letters.length === 2 && (areCapitals || /\p{Nd}/u.test(word));
  if (number === undefined && !isShort) return initialOf(word);
  const [first = '', second = ''] = number === undefined ? letters : [...number];
  return pairOf(initialOf(first), initialOf(second));
}

function pairOf(first: string, second: string): string {
  const agree = [LEFT_TO_RIGHT, HEBREW].some((script) => script.test(first) && script.test(second));
  return agree ? first + second : first || second;
}

/** Returns the word's first letter in upper case, without marks that are not part of the letter. '' if the word has no letter. */
function initialOf(word: string): string {
  for (const letter of word.replace(ARABIC_ARTICLE, '').normalize('NFC')) {
    if (!LETTER.test(letter) || NO_INITIAL.test(letter)) continue;
    const upper = WITHOUT_CAPITALS.test(letter) ? letter : letter.toUpperCase();
    const [capital = ''] = upper.normalize('NFKC');
    return capital;
  }
  return '';
}
