import { coreName, legalFormOf } from '../names/names.ts';
import { isTooLongForName } from '../names/names-of-brand.ts';
import { withoutGroupWords } from '../names/weak-names.ts';
import { readWebHost } from './domains.ts';

/** The most words that stand for a whole name. */
const MOST_WORDS = 3;
/** The most words that people leave out. In "Westinghouse Air Brake Technologies", three words say what the company is. */
const MOST_LEFT_OUT = 2;
/** Words that join others: they neither end the leading words nor count as left out. */
const JOINING: ReadonlySet<string> = new Set('and of the de for in la le et und y e du des'.split(' '));

/** Words that nobody leaves out, because the name without them is that of the sponsor or the manager: "Rocket Internet". */
const NEVER_LEFT_OUT: ReadonlySet<string> = new Set(
  'acquisition acquisitions bdc lending merger opportunities'.split(' '),
);

/** The word that people leave out inside a name too: "Auckland Airport". "Shenzhen Holdings" may be several companies. */
const INNER = ' international ';

/** Returns the leading words that may stand for a name, in its normal form: "palo alto" and "palo" for "Palo Alto Networks Inc.". */
export function leadingWordsOf(name: string): string[] {
  const parts = partsOf(name);
  const leading = parts.words
    .slice(0, Math.min(MOST_WORDS, parts.words.length - 1))
    .flatMap((_, last) =>
      leftOutAfter(last + 1, parts) === undefined ? [] : parts.words.slice(0, last + 1).join(' '),
    );
  return [...new Set([...leading, ...withoutInner(parts)])];
}

function withoutInner({ words, proper }: Parts): string[] {
  const isInside = words.slice(0, proper).join(' ').includes(INNER);
  return isInside && words.length <= MOST_WORDS + 1 ? [words.join(' ').replace(INNER, ' ')] : [];
}

/**
 * Returns what a name has behind its leading words, without words such as "Group" and "and": "networks". Undefined if the words do not
 * stand for the name.
 */
export function wordsLeftOut(name: string, leading: string): string[] | undefined {
  const parts = partsOf(name);
  if (withoutInner(parts).includes(leading)) return [INNER.trim()];
  const count = leading.split(' ').length;
  const isLed = count < parts.words.length && parts.words.slice(0, count).join(' ') === leading;
  return isLed ? leftOutAfter(count, parts) : undefined;
}

type Parts = ReturnType<typeof partsOf>;

/** Returns a name's words, and how many of them come before "Group" and the like. */
function partsOf(name: string) {
  const words = coreName(name).split(' ');
  if (words.length === 1) return { words, proper: 1 };
  return { words, proper: withoutGroupWords(name).split(' ').length };
}

function leftOutAfter(count: number, { words, proper }: Parts): string[] | undefined {
  if (JOINING.has(words[count - 1] ?? '')) return undefined;
  const leftOut = words.slice(count, proper).filter((word) => !JOINING.has(word));
  const isShort = leftOut.length <= MOST_LEFT_OUT && !leftOut.some((word) => NEVER_LEFT_OUT.has(word));
  return isShort ? leftOut : undefined;
}

/** Returns a text that may be the leading words of a name, in its normal form. Undefined if it is too long, a domain or a number. */
export function readLeadingWords(text: string): string | undefined {
  if (isTooLongForName(text) || readWebHost(text) !== undefined) return undefined;
  const core = coreName(text);
  const form = legalFormOf(text);
  const isShort = core.split(' ').length <= MOST_WORDS && (form === '' || form === 'the');
  return isShort && /\p{L}/u.test(core) && !/\d{3}/.test(core) ? core : undefined;
}
