import {
  ABBREVIATED_FORMS,
  GLUED_FORMS,
  LEADING_FORMS,
  LEADING_FORMS_AS_WRITTEN,
  SHARE_SUFFIXES,
  TRAILING_FORMS,
  TRAILING_FORMS_AS_WRITTEN,
} from './legal-forms.ts';

const TRADE_MARKS = /[™®©℠]/gu;
const APOSTROPHES = /['’‘‛ʹʼʻʽˈ′`´՚׳‵❛❜Ꞌꞌ＇｀]/gu;
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
const ASCII = /^[\x20-\x7e]*$/;
const OTHER_THAN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
/** "j p morgan" is "jp morgan", "s a" is "sa". */
const INITIALS = /(?<=^| )[a-z](?: [a-z])+(?= |$)/g;
/** Japanese and Chinese are written without spaces, and with a middle dot or without it. */
const CJK = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}]';
const CJK_SPACE = new RegExp(`(?<=${CJK}) (?=${CJK})`, 'gu');
const ABBREVIATED_FORM = /\([株有주유]\)/gu;
/** How German, Danish and Norwegian write these letters where they have no others. */
const SPELT_OUT: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };
const SPELLABLE = new RegExp(`[${Object.keys(SPELT_OUT).join('')}]`, 'giu');

const TRAILING = new Set(TRAILING_FORMS.map(normalName));
const LEADING = new Set(LEADING_FORMS.map(normalName));
const GLUED = GLUED_FORMS.map(normalName);
/** The last words of what SHARE_SUFFIX may find: it is slow. */
const SHARE_WORD = /^(?:[a-z]|stock|shares?|adrs?|gdrs?|receipts?)$/;
const SHARE_SUFFIX = new RegExp(`(?<=.) (?:${SHARE_SUFFIXES.join('|')})$`, 'u');
const AS_WRITTEN = new RegExp(
  `^(?:${LEADING_FORMS_AS_WRITTEN.join('|')})\\s+(?=\\S)|(?<=\\S)(?:,\\s*|\\s+)(?:${TRAILING_FORMS_AS_WRITTEN.join('|')})\\s*$`,
  'u',
);

/** A form in which a name is compared, and how strong an equality of such forms is. */
export interface NameForm {
  readonly form: string;
  readonly strength: 'exact' | 'legal_form';
}

/**
 * The forms in which a name is compared, each once, at its strongest: as it is, with "ä" written "ae" and so on, and
 * each without its legal forms. None when the value holds no letter or figure.
 */
export function nameForms(value: string): NameForm[] {
  const spellings = unique([value, spelledOut(value)]).map(unmarked);
  const exact = unique(spellings.map(folded));
  const shorter = unique(spellings.map(withoutForms)).filter((form) => !exact.includes(form));
  return [
    ...exact.map((form): NameForm => ({ form, strength: 'exact' })),
    ...shorter.map((form): NameForm => ({ form, strength: 'legal_form' })),
  ].filter(({ form }) => form !== '');
}

/**
 * A name as it is compared: case, accents, apostrophes, punctuation and the kind of dash do not count, "&" is "and".
 * Idempotent. Empty when the value holds no letter or figure.
 */
export function normalName(value: string): string {
  return folded(unmarked(value));
}

/**
 * A name's normal form without its legal forms, the class of a share and "the" before or after it. Forms that are
 * also words ("Spa", "as") count as forms only where they are written so ("S.p.A.", "SpA", "A/S"): give the name as it
 * is written. Idempotent; empty only when the normal form is.
 */
export function coreName(value: string): string {
  return withoutForms(unmarked(value));
}

/** Without what never counts, but with its case and punctuation. */
function unmarked(value: string): string {
  if (ASCII.test(value)) return value.replace(APOSTROPHES, '');
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
  );
}

function folded(text: string): string {
  const words = ASCII.test(text)
    ? text.toLowerCase()
    : text
        // By way of upper case: the nearest to Unicode case folding that the language has.
        .toUpperCase()
        .toLowerCase()
        .replace(FOLDABLE, (letter) => FOLDED[letter] ?? letter)
        .normalize('NFC')
        .replace(ABBREVIATED_FORM, (form) => ` ${ABBREVIATED_FORMS.get(form) ?? ''} `);
  return words
    .replaceAll('&', ' and ')
    .replaceAll('+', ' plus ')
    .replace(OTHER_THAN_WORDS, ' ')
    .trim()
    .replace(INITIALS, (letters) => letters.replaceAll(' ', ''))
    .replace(CJK_SPACE, '');
}

function withoutForms(text: string): string {
  const normal = folded(text.replace(AS_WRITTEN, ''));
  return normal === '' ? folded(text) : coreOf(normal);
}

/** Of a normal name, form by form: what remains may end in another, or begin with initials now. */
function coreOf(normal: string): string {
  const shorter = withoutGlued(withoutShareSuffix(withoutTrailing(withoutLeading(normal))));
  return shorter === normal ? normal : coreOf(normalName(shorter));
}

function withoutLeading(normal: string): string {
  return (
    spacesIn(normal)
      .filter((space) => LEADING.has(normal.slice(0, space)))
      .map((space) => normal.slice(space + 1))
      .at(-1) ?? normal
  );
}

/** The longest form, and the "and" before it. */
function withoutTrailing(normal: string): string {
  const space = spacesIn(normal).find((start) => TRAILING.has(normal.slice(start + 1)));
  return space === undefined ? normal : normal.slice(0, space).replace(/(?<=.) and$/, '');
}

function withoutShareSuffix(normal: string): string {
  const lastWord = normal.slice(normal.lastIndexOf(' ') + 1);
  return SHARE_WORD.test(lastWord) ? normal.replace(SHARE_SUFFIX, '') : normal;
}

function withoutGlued(normal: string): string {
  if (ASCII.test(normal)) return normal;
  const before = GLUED.find((form) => normal.startsWith(form) && normal !== form);
  if (before !== undefined) return normal.slice(before.length).trim();
  const after = GLUED.find((form) => normal.endsWith(form) && normal !== form);
  return after === undefined ? normal : normal.slice(0, -after.length).trim();
}

function spacesIn(text: string): number[] {
  const spaces: number[] = [];
  for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) spaces.push(at);
  return spaces;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

function spelledOut(value: string): string {
  if (ASCII.test(value)) return value;
  return value.normalize('NFC').replace(SPELLABLE, (letter) => SPELT_OUT[letter.toLowerCase()] ?? letter);
}
