import { nameWrittenOut } from './abbreviations.ts';
import forms from './legal-forms.json' with { type: 'json' };
import { withoutMarks } from './registry-names.ts';
import { remembered } from './texts.ts';

const APOSTROPHES = "'’‘‛ʹʼʻʽˈ′`´՚׳‵❛❜Ꞌꞌ＇｀";
const SIGNS = new RegExp(`[™®©℠${APOSTROPHES}]`, 'g');
/**
 * Apostrophes that compatibility decomposition yields, and the combining marks of Latin, Greek and Cyrillic. Other scripts' marks
 * make different letters. The Greek iota subscript (U+0345) is kept too, because it is a letter in upper case.
 */
const MARKS = new RegExp(`[\\u0300-\\u0344\\u0346-\\u036f${APOSTROPHES}]`, 'g');
export const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
/** Letters that Unicode does not decompose, such as ligatures and letters with a stroke. */
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
const ASCII_APOSTROPHES = /['`]/g;
const ASCII_WORDS = /[a-z0-9]+|[&+]/g;
const WORDS = /[\p{L}\p{M}\p{N}]+|[&+]/gu;
/** Characters of Japanese and Chinese, which are written without spaces, and with or without a middle dot. */
const CJK = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}]';
const CJK_SPACE = new RegExp(`(?<=${CJK}) (?=${CJK})`, 'gu');
/** East Asian abbreviations of forms. Compatibility decomposition turns "㈱" into "(株)". */
const ABBREVIATED: Readonly<Record<string, string>> = forms.abbreviated;
const ABBREVIATED_FORM = /\([株有주유]\)/gu;
/** The ASCII spellings of these letters in German, Danish and Norwegian. */
const SPELT_OUT: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };
const SPELLABLE = /[äöüøåÄÖÜØÅ]/g;
/** "Bausch + Lomb" and "Kuehne+Nagel", but not "Canal+ Polska". */
const JOINING_PLUS = /(?<=\p{L})( ?)\+\1(?=\p{L})/gu;

/**
 * The file lists legal forms as they are written. Without "Holdings", "Group" or words such as "Chartered" and "Partners", two
 * companies could have the same name, so these are not forms.
 */
const TRAILING = formsOf(forms.trailing);
const LEADING = formsOf(forms.leading);
/** Forms before or after the name, with or without a space. */
const GLUED = [...formsOf(forms.glued)];
/** The lengths of the longest forms: no longer beginning or end of a name need be looked up. */
const LONGEST_LEADING = longestOf(LEADING);
const LONGEST_TRAILING = longestOf(TRAILING);
/** These sets make a cheap test possible: a name whose first and last words are not in them has none of the legal forms. */
const FIRST_WORDS = new Set([...LEADING].map((form) => form.split(' ', 1)[0]));
const LAST_WORDS = new Set([...TRAILING].map((form) => form.split(' ').at(-1)));
const AND = ' and';
/** The last words of all names that SHARE_SUFFIX can match. Testing them first is faster. */
const SHARE_WORD = /^(?:[a-z]|stock|shares?|adrs?|gdrs?|receipts?)$/;
/** More characters than any text that SHARE_SUFFIX matches. */
const LONGEST_SHARE_SUFFIX = 64;
const SHARE_SUFFIX = new RegExp(`(?<=.) (?:${forms.shareSuffixes.join('|')})$`, 'u');
/** Forms that are also words, as the name is written. A day spa is not an S.p.A., and "Same As" is not an A/S. */
const AS_WRITTEN = new RegExp(
  `^(?:${forms.leadingAsWritten.join('|')})\\s+(?=\\S)|(?<=\\S)(?:,\\s*|\\s+)(?:${forms.trailingAsWritten.join('|')})\\s*$`,
  'u',
);

const SHORT_FORMS: ReadonlyMap<string, string> = new Map(
  Object.entries(forms.abbreviations).map(([long, short]) => [normalName(long), normalName(short)]),
);

/** A word that is part of no legal form. Stands for a name of which only the legal form is known. */
export const PLACEHOLDER = 'xq';

/** A form in which a name is compared, and the strength of a match by this form. */
export interface NameForm {
  readonly form: string;
  readonly strength: 'exact' | 'legal_form';
}

/**
 * Returns the forms in which a name is compared: the normal form, the normal form with "ä" written "ae" and so on, both without
 * legal forms, and the latter with their abbreviations written out. Each form comes once, with its greatest strength. Empty if the value contains no letter or digit.
 */
export function nameForms(value: string): NameForm[] {
  const { normals, cores } = readName(value);
  const distinct = new Set(
    [...normals, ...cores, ...cores.map(nameWrittenOut)].filter((form) => form !== ''),
  );
  return [...distinct].map((form) => ({ form, strength: normals.includes(form) ? 'exact' : 'legal_form' }));
}

/** Returns the normal forms of a name's spellings, as it is written first, and the same without legal forms. */
const readName = remembered((value) => {
  const texts = spellingsOf(value).map(unmarked);
  const normals = texts.map(folded);
  return { normals, cores: texts.map((text, index) => withoutForms(text, normals[index] ?? '')) };
});

/** Returns a name's normal form: "marks and spencer" for "Marks & Spencer". Idempotent. '' if it has no letter or digit. */
export function normalName(value: string): string {
  return folded(unmarked(value));
}

/**
 * Returns a name's normal form without legal forms, share classes and "the" at its start and end. Expects the name as it is written,
 * because "Day Spa" keeps its last word and "Eni S.p.A." does not. Idempotent. Empty only if the normal form is empty.
 */
export function coreName(value: string): string {
  return readName(value).cores[0] ?? '';
}

/** Returns a name's legal form in its shortest spelling ("kgaa", "co ltd"). '' if it has none. */
export function legalFormOf(value: string): string {
  const { normals, cores } = readName(withoutMarks(value));
  const [normal = ''] = normals;
  const [core = ''] = cores;
  const form = normal.replace(core, '').trim().replace(/^and /, '');
  const shortened = (written: string) => SHORT_FORMS.get(written) ?? written;
  // A form that is several is shortened each by itself: "corp ltd" for "Corporation Limited".
  return SHORT_FORMS.get(form) ?? form.split(' ').map(shortened).join(' ');
}

/** Removes signs, combining marks and invisible characters. Keeps case and punctuation. */
function unmarked(value: string): string {
  if (ASCII.test(value)) return value.replace(ASCII_APOSTROPHES, '');
  return (
    value
      // Signs must be removed before the decomposition, which turns "™" into letters and "´" into a space with an accent.
      .normalize('NFC')
      .replace(SIGNS, '')
      .normalize('NFKD')
      .replace(MARKS, '')
      .replace(INVISIBLE, '')
  );
}

function folded(text: string): string {
  if (ASCII.test(text)) return joined(text.toLowerCase().match(ASCII_WORDS) ?? []);
  const cased = text
    // Upper case and then lower case is the closest to Unicode case folding that JavaScript has.
    .toUpperCase()
    .toLowerCase()
    .replace(FOLDABLE, (letter) => FOLDED[letter] ?? letter)
    .normalize('NFC')
    .replace(ABBREVIATED_FORM, (form) => ` ${ABBREVIATED[form] ?? ''} `);
  // Without the space, a letter and a voiced mark after it become one letter.
  return joined(cased.match(WORDS) ?? [])
    .replace(CJK_SPACE, '')
    .normalize('NFC');
}

/** Joins words with spaces. Initials in a row become one word: "j p morgan" becomes "jp morgan", "s a" becomes "sa". */
function joined(words: readonly string[]): string {
  let form = '';
  let isAfterInitial = false;
  for (const word of words) {
    const isInitial = word.length === 1 && word >= 'a' && word <= 'z';
    if (form !== '' && !(isInitial && isAfterInitial)) form += ' ';
    form += word === '&' ? 'and' : word === '+' ? 'plus' : word;
    isAfterInitial = isInitial;
  }
  return form;
}

function withoutForms(text: string, normal: string): string {
  const written = withoutMarks(text).replace(AS_WRITTEN, '');
  if (written === text) return coreOf(normal);
  const shorter = folded(written);
  return shorter === '' ? normal : coreOf(shorter);
}

/** Checks whether the value is nothing but legal forms: "Inc.", "GmbH & Co. KG", "The". */
export function isLegalFormAlone(value: string): boolean {
  return coreName(`${PLACEHOLDER} ${value}`) === PLACEHOLDER;
}

/**
 * Removes legal forms from a normal name until none is left, because the rest may begin or end with another form. The time grows
 * with the length of the name, however many forms it has: no form is looked up that is longer than the longest known.
 */
export function coreOf(normal: string): string {
  const isAscii = ASCII.test(normal);
  let core = normal;
  let before: string;
  do {
    before = core;
    core = withoutShareSuffix(withoutTrailing(withoutLeading(core)));
    if (!isAscii) core = withoutGlued(core);
  } while (core !== before);
  // An ASCII name loses whole words at its ends only, so the rest is still normal.
  if (core === normal || isAscii) return core;
  const again = normalName(core);
  return again === core ? core : coreOf(again);
}

/** Removes the longest leading form. */
function withoutLeading(text: string): string {
  let end = text.indexOf(' ');
  if (end < 0 || !FIRST_WORDS.has(text.slice(0, end))) return text;
  let found = 0;
  for (; end >= 0 && end <= LONGEST_LEADING; end = text.indexOf(' ', end + 1))
    if (LEADING.has(text.slice(0, end))) found = end + 1;
  return text.slice(found);
}

/** Removes the longest trailing form, and an "and" before it. */
function withoutTrailing(text: string): string {
  let start = text.lastIndexOf(' ');
  if (start < 0 || !LAST_WORDS.has(text.slice(start + 1))) return text;
  let found = text.length;
  for (; start > 0 && text.length - start <= LONGEST_TRAILING + 1; start = text.lastIndexOf(' ', start - 1))
    if (TRAILING.has(text.slice(start + 1))) found = start;
  const rest = text.slice(0, found);
  return found < text.length && rest.endsWith(AND) && rest !== AND ? rest.slice(0, -AND.length) : rest;
}

function withoutShareSuffix(text: string): string {
  if (!SHARE_WORD.test(text.slice(text.lastIndexOf(' ') + 1))) return text;
  const first = Math.max(0, text.length - LONGEST_SHARE_SUFFIX);
  const suffix = SHARE_SUFFIX.exec(text.slice(first));
  return suffix === null ? text : text.slice(0, first + suffix.index);
}

function withoutGlued(text: string): string {
  const before = GLUED.find((form) => text.startsWith(form) && text !== form);
  if (before !== undefined) return text.slice(before.length).trimStart();
  const after = GLUED.find((form) => text.endsWith(form) && text !== form);
  return after === undefined ? text : text.slice(0, -after.length).trimEnd();
}

export function formsOf(byPlace: Readonly<Record<string, readonly string[]>>): ReadonlySet<string> {
  return new Set(Object.values(byPlace).flat().map(normalName));
}

function longestOf(forms: ReadonlySet<string>): number {
  return Math.max(...[...forms].map(({ length }) => length));
}

/** Returns the value, also with "ä" and similar letters written "ae" and so on, and with a "+" between words written "&". */
function spellingsOf(value: string): string[] {
  const composed = ASCII.test(value) ? value : value.normalize('NFC');
  const spelled = composed.replace(SPELLABLE, (letter) => SPELT_OUT[letter.toLowerCase()] ?? letter);
  const spellings = [composed, spelled];
  if (value.includes('+')) spellings.push(...spellings.map((text) => text.replace(JOINING_PLUS, '$1&$1')));
  return [...new Set(spellings)];
}
