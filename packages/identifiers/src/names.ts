import { GLUED_FORMS, LEADING_FORMS, SHARE_SUFFIXES, TRAILING_FORMS } from './legal-forms.ts';

const TRADE_MARKS = /[™®©℠]/gu;
const APOSTROPHES = /['’‘‛ʼʻʹ`´′＇｀]/gu;
/**
 * Combining marks of Latin, Greek and Cyrillic alone: Japanese voicing and Indic vowels are other letters. Without
 * the Greek iota subscript (U+0345), which upper case writes as a letter.
 */
const DIACRITICS = /[\u0300-\u0344\u0346-\u036f]/gu;
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
/** Letters that carry a stroke or are ligatures: Unicode does not decompose them. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  ς: 'σ',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  æ: 'ae',
  œ: 'oe',
};
const FOLDABLE = new RegExp(`[${Object.keys(FOLDED).join('')}]`, 'gu');
const OTHER_THAN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
/** "j p morgan" is "jp morgan", "s a" is "sa". */
const INITIALS = /(?<=^| )[a-z](?: [a-z])+(?= |$)/g;

const TRAILING = new RegExp(
  `(?<=.)(?:(?: and)? (?:${[...TRAILING_FORMS, ...SHARE_SUFFIXES].join('|')}))$`,
  'u',
);
const LEADING = new RegExp(`^(?:${LEADING_FORMS.join('|')}) (?=.)`, 'u');
const GLUED = new RegExp(`^(?:${GLUED_FORMS.join('|')}) ?(?=.)|(?<=.) ?(?:${GLUED_FORMS.join('|')})$`, 'u');

/**
 * A name as it is compared: case, accents, apostrophes, punctuation and the kind of dash do not count, "&" is "and".
 * Idempotent. Empty when the value holds no letter or figure.
 */
export function normalName(value: string): string {
  return (
    value
      // Before the decomposition that turns "™" into letters and "´" into a space with an accent.
      .normalize('NFC')
      .replace(TRADE_MARKS, '')
      .replace(APOSTROPHES, '')
      .normalize('NFKD')
      .replace(DIACRITICS, '')
      .replace(APOSTROPHES, '')
      .replace(INVISIBLE, '')
      // By way of upper case: the nearest to Unicode case folding that the language has.
      .toUpperCase()
      .toLowerCase()
      .replace(FOLDABLE, (letter) => FOLDED[letter] ?? letter)
      .normalize('NFC')
      .replaceAll('&', ' and ')
      .replaceAll('+', ' plus ')
      .replace(OTHER_THAN_WORDS, ' ')
      .trim()
      .replace(INITIALS, (letters) => letters.replaceAll(' ', ''))
  );
}

/** A normal name without its legal forms, the suffix of a class of shares and a leading "the". Never empty. */
export function coreName(normal: string): string {
  const shorter = normal.replace(LEADING, '').replace(TRAILING, '').replace(GLUED, '');
  return shorter === normal ? normal : coreName(shorter);
}
