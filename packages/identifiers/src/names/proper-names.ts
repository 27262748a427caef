import { coreName, normalName } from './names.ts';
import { LONGEST_NAME } from './names-of-brand.ts';
import { weakFormsOf } from './weak-names.ts';

/** Each word of a name takes a comparison of the whole name. Names of more words are given in their normal form. */
const MOST_WORDS = 32;

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
  const words = name.trim().split(/\s+/u);
  if (words.length > MOST_WORDS) return proper;
  const end = words.findIndex((_, last) =>
    ` ${normalName(words.slice(0, last + 1).join(' '))}`.endsWith(` ${proper}`),
  );
  const upToEnd = words.slice(0, end + 1);
  const written = upToEnd
    .map((_, start) => upToEnd.slice(start).join(' '))
    .findLast((part) => normalName(part) === proper);
  return written?.replace(/[,;]$/, '') ?? proper;
}

/** Returns the core of the name. Group words at its start are kept, because "Grupo Bimbo" is known by both words. */
function withoutGroupWords(name: string): string {
  const core = coreName(name);
  return weakFormsOf(name).withoutGroupWords.findLast((form) => core.startsWith(form)) ?? core;
}
