import legalForms from './legal-forms.json' with { type: 'json' };
import { coreName, coreOf, formsOf, normalName } from './names.ts';
import { LONGEST_NAME } from './names-of-brand.ts';

/** Shorter texts fit too many companies: "S&P" is "sp" without its sign. */
const MIN_JOINED = 3;
/** Longer names are hardly ever written without their spaces, and each form takes a place in the index. */
const MAX_JOINED = 16;

/** More group words than any name has. Each gives a form as long as the name, which takes a place in the index. */
const MOST_GROUP_WORDS = 8;
/** Words such as "Group". They distinguish companies, so a name without them matches more weakly than without its form. */
const GROUPS = formsOf(legalForms.groupWords);
/** The same in scripts that are written without spaces, after the name with or without a space. */
const GLUED = [...formsOf(legalForms.gluedGroupWords)].sort((a, b) => b.length - a.length);
const MOST_WORDS = Math.max(...[...GROUPS].map((words) => words.split(' ').length));
/** Words that people leave out of the name of a firm that manages money: "Pershing Square Capital Management". */
const FIRM_WORDS = formsOf(legalForms.firmWords);
/** For a cheap test: a name without any of these first or last words has no group word. */
const ENDS = new Set(
  [...GROUPS].flatMap((words) => [words.split(' ')[0] ?? '', words.split(' ').at(-1) ?? '']),
);
const ASCII = /^[\x20-\x7e]*$/;

/**
 * Returns the forms by which a name is found weakly, each once: without words such as "Group", of which one is removed at a time
 * ("alibaba group" and "alibaba"), and joined without spaces, also without its group words, if it is short. A name of one word has
 * no joined form, because its normal form has no spaces.
 */
export function weakFormsOf(name: string) {
  const core = coreName(name);
  const withoutGroupWords: string[] = [];
  for (let form = withoutGroupWord(core); form !== ''; form = withoutGroupWord(form)) {
    withoutGroupWords.push(form);
    if (withoutGroupWords.length === MOST_GROUP_WORDS) break;
  }
  const spaced = [core, ...withoutGroupWords].filter((form) => form.includes(' '));
  const short = spaced.map(joined).filter((form) => form !== '' && form.length <= MAX_JOINED);
  return { withoutGroupWords, joined: [...new Set(short)] };
}

/** Returns the normal forms of a firm's name without its last words: "baupost" for "The Baupost Group, LLC". */
export function shortFirmNames(name: string): string[] {
  const words = coreName(name).split(' ');
  const own = words.findLastIndex((word) => !FIRM_WORDS.has(word)) + 1;
  const first = Math.max(own, words.length - MOST_GROUP_WORDS, 1);
  return words.slice(first).map((_, more) => words.slice(0, first + more).join(' '));
}

/** Returns "marksspencer" for "Marks & Spencer plc" and "Marks and Spencer". '' if it has less than three characters. */
export function joinedForm(text: string): string {
  return joined(coreName(text));
}

/** Checks whether the text is nothing but a word such as "Group": "Group", "The Holding Company". */
export function isGroupWordAlone(text: string): boolean {
  const core = coreName(text);
  return GROUPS.has(core) || GLUED.includes(core);
}

function joined(core: string): string {
  const words = core.split(' ').filter((word) => word !== 'and');
  const text = words.join('');
  // Without the space, Korean letters may become one syllable, which only normalising shows.
  const form = ASCII.test(text) ? text : normalName(text);
  return form.length < MIN_JOINED ? '' : form;
}

/** Removes the longest group word at the end, else at the start. '' if there is none, or nothing else. */
function withoutGroupWord(core: string): string {
  if (!ASCII.test(core)) {
    const glued = GLUED.find((word) => core.endsWith(word) && core !== word);
    if (glued !== undefined) return coreOf(core.slice(0, -glued.length).trim());
  }
  const words = core.split(' ');
  if (words.length === 1 || !(ENDS.has(words[0] ?? '') || ENDS.has(words.at(-1) ?? ''))) return '';
  const most = Math.min(MOST_WORDS, words.length - 1);
  for (let count = most; count > 0; count -= 1)
    if (GROUPS.has(words.slice(-count).join(' '))) return coreOfRest(words.slice(0, -count));
  for (let count = most; count > 0; count -= 1)
    if (GROUPS.has(words.slice(0, count).join(' '))) return coreOfRest(words.slice(count));
  return '';
}

function coreOfRest(words: readonly string[]): string {
  const core = coreOf((words.at(-1) === 'and' ? words.slice(0, -1) : words).join(' '));
  return GROUPS.has(core) ? '' : core;
}

/** Each word of a name takes a comparison of the whole name. Names of more words are given in their normal form. */
const MOST_COMPARED_WORDS = 32;

/**
 * Returns the part of a company's name that distinguishes it, as it is written: "Alibaba" for "Alibaba Group Holding Ltd.". It is
 * in its normal form in a name of more than 32 words, and where a form has no space around it ("トヨタ自動車株式会社"). '' only if the
 * name has no letter and no digit.
 */
export function properName(whole: string): string {
  // Catalogues of earlier versions may hold longer names.
  const name = whole.slice(0, LONGEST_NAME);
  const proper = withoutGroupWords(name);
  if (proper === normalName(name)) return name.trim();
  return writtenPart(name, proper) ?? proper;
}

/** Returns the part of a name, as it is written, whose normal form is given. Undefined if it is not written in whole words. */
export function writtenPart(name: string, normal: string): string | undefined {
  const words = name.trim().split(/\s+/u);
  if (words.length > MOST_COMPARED_WORDS) return undefined;
  const end = words.findIndex((_, last) =>
    ` ${normalName(words.slice(0, last + 1).join(' '))}`.endsWith(` ${normal}`),
  );
  const upToEnd = words.slice(0, end + 1);
  const written = upToEnd
    .map((_, start) => upToEnd.slice(start).join(' '))
    .findLast((part) => normalName(part) === normal);
  return written?.replace(/[,;]$/, '');
}

/** Returns the core of the name without group words behind it. Those at its start stay, because "Grupo Bimbo" is known by both words. */
export function withoutGroupWords(name: string): string {
  const core = coreName(name);
  return weakFormsOf(name).withoutGroupWords.findLast((form) => core.startsWith(form)) ?? core;
}
