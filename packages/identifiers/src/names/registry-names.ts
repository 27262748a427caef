import { LONGEST_NAME } from './names-of-brand.ts';
import words from './security-words.json' with { type: 'json' };
import { remembered, wordsIn } from './texts.ts';

/** Words that only describe a security, as "Namens-Aktien". */
const SURE = wordsIn(Object.values(words.sure).flat());
/** Words that do so only in capitals, because "Google Ads" is a name. */
const SURE_IN_CAPITALS = wordsIn(Object.values(words.sureInCapitals).flat());
/** Words that describe a security after a legal form: "CITIGROUP INC NEW". */
const AFTER_LEGAL_FORM = wordsIn(words.afterLegalForm);
const LEGAL_FORMS = wordsIn(words.legalForms);
/** Words that describe a security beside the words above or a par value. */
const FURTHER = wordsIn(Object.values(words.further).flat());
const CURRENCIES = [...wordsIn(words.currencies)].join('|');
const CURRENCY = new RegExp(`^(?:${CURRENCIES})$`);
/** "0,3", "1/9P", "-,001". */
const NUMBER = /^-?[.,]?\d[\d.,/]*[pP]?$/;
/** "EO 2,50", "DL -,01", "USD1", "$0.25", "10P", "-,0001". */
const PAR_VALUE = new RegExp(
  `(?:^| )(?:(?:${CURRENCIES}) ?-?[.,]?\\d[\\d.,/]*[A-Z]?|\\d[\\d.,/]*[pP]|-[.,]\\d+)(?: |$)`,
);
/** Words before a legal form's last word: "Società per Azioni", "Kommanditgesellschaft auf Aktien". */
const PART_OF_FORM = / (?:auf|par|per|por)$/i;
/** The signs around a word: "(UK REG)". */
const EDGES = /^[-.,;:()]+(?=.)|(?<=.)[.,;:()]+$/g;
/** No description has more words, and no mark of a registry more characters. */
const MOST_WORDS = 16;
const LONGEST_MARK = 24;
const LONGEST_WORD = 24;
/** In letters, and in words where no legal form stands before it. */
const SHORTEST_REPETITION = 3;

const PLACES = words.places.join('|');
const CODES = `[A-Z]{2,3}|${PLACES}`;
const FORMS = [...LEGAL_FORMS].join('|').replaceAll('.', '\\.');
/**
 * EDGAR's marks of a state, of a later namesake and of a receipt: "/DE/", "INC/DE", "/NEW", "/ADR", "\DE\", "(DE)" and a lone "/" or "(". A code
 * follows a space or a legal form, or stands between two slashes: "AC/DC" is a name, and "SA/NV" and "A/S" are legal forms.
 */
const REGISTRY_MARK = new RegExp(
  `(?:\\(DEL\\.\\)|[/\\\\] ?(?:(?:${CODES}) ?[/\\\\]|(?:${PLACES})|(?<=(?: |\\b(?:${FORMS})\\.?)[/\\\\] ?)(?<!\\bSA/(?=NV$))(?:${CODES})|)|(?<=\\b(?:${FORMS})\\.? ?)\\((?:DE|${PLACES})\\)|\\()$`,
  'i',
);

/** The share class in the names of index funds' holdings and of data terminals: "SIEMENS N AG", "NESTLE SA-REG", "Novo Nordisk (B)". */
const CLASS_BEFORE_FORM = /(?<=\S) (?:(?:N|PAR|NON-VOTING PREF) (?=AG$)|PREF (?=(?:AG|SA)$))/;
const DASH_BEFORE_CLASS =
  /(?<=\S)-(?=(?:REG|SP(?:ONS)? [AG]DR|[AG]DR|CLS? [A-Z]|CLASS [A-Z]|PREF|PFD|GENUSSCHEIN)$)/;
const CLASS_AFTER_FORM = new RegExp(`(?<=\\b(?:${FORMS})\\.?) (?:H|GEN\\.?)$`, 'i');
const CLASS_IN_PARENTHESES = /(?<=\S) \((?:[A-C]|V[Zz]\.?|S[Tt]\.?)\)$/;

/** A mark of one of the United States: "/MO/", "\\DE". */
const STATE_MARK = new RegExp(`[/\\\\] ?(?:${words.states.replaceAll(' ', '|')}) ?[/\\\\]?$`);

/**
 * Removes what registries and lists of securities write behind a company's name: "BANK OF AMERICA CORP /DE/", "CITIGROUP INC COM
 * NEW", "Siemens AG Namens-Aktien o.N.". Idempotent. A text without capitals, such as a normal name, loses nothing, nor does a text
 * that is too long for a name, because each of its words may take a reading of the whole text.
 */
export const withoutMarks = remembered((text): string => {
  if (text.length > LONGEST_NAME || !/\p{Lu}/u.test(text)) return text;
  let rest = text;
  let before: string;
  do {
    before = rest;
    rest = withoutRepetition(withoutDescription(withoutRegistryMark(withoutShareClass(rest))));
  } while (rest !== before);
  return rest;
});

/** Checks for EDGAR's mark of a state, by which it tells namesakes apart: "FIRST BANCSHARES INC /MO/". */
export function hasStateMark(name: string): boolean {
  return hasRegistryMark(name) && STATE_MARK.test(name.trimEnd());
}

/** Checks for a mark of EDGAR's: of a state, of a receipt, of a later namesake. */
export function hasRegistryMark(name: string): boolean {
  return withoutRegistryMark(name) !== name.trimEnd();
}

function withoutRegistryMark(text: string): string {
  if (!/[/\\(]/.test(text)) return text;
  const at = Math.max(0, text.length - LONGEST_MARK);
  const rest = (text.slice(0, at) + text.slice(at).trimEnd().replace(REGISTRY_MARK, '')).trimEnd();
  return hasLetter(rest) ? rest : text;
}

function withoutShareClass(text: string): string {
  return text
    .replace(CLASS_BEFORE_FORM, ' ')
    .replace(DASH_BEFORE_CLASS, ' ')
    .replace(CLASS_AFTER_FORM, '')
    .replace(CLASS_IN_PARENTHESES, '');
}

/** Removes the name that lists repeat behind it, often cut off: "SPAREBANK 1 ASA SPAREBA", "Lazard LTD. Lazard, LTD.". */
function withoutRepetition(text: string): string {
  const lower = text.toLowerCase();
  const at = lower.lastIndexOf(` ${lower.slice(0, SHORTEST_REPETITION)}`);
  const isRepeated = at > 0 && lettersOf(lower).startsWith(lettersOf(lower.slice(at)));
  if (!isRepeated || !hasLetter(text.slice(0, at))) return text;
  const before = lower.slice(lower.lastIndexOf(' ', at - 1) + 1, at).replace(EDGES, '');
  const isWhole = lower.slice(at).split(' ').length > SHORTEST_REPETITION;
  return isWhole || LEGAL_FORMS.has(before) ? text.slice(0, at) : text;
}

function lettersOf(text: string): string {
  return text.replace(/[\s,.]/g, '');
}

/** Removes the words at the end that describe the security. The first word always stays. */
function withoutDescription(text: string): string {
  let start = text.length;
  let isSure = false;
  let isLikely = false;
  let word = '';
  for (let count = 0; count < MOST_WORDS; count += 1) {
    const space = text.lastIndexOf(' ', start - 1);
    const written = text.slice(space + 1, start);
    word = written.length > LONGEST_WORD ? written : written.replace(EDGES, '');
    const lower = word.toLowerCase();
    const isSureWord = SURE_IN_CAPITALS.has(word) || SURE.has(lower);
    if (space <= 0 || !(isSureWord || isFurther(word, lower))) break;
    isSure ||= isSureWord;
    isLikely ||= AFTER_LEGAL_FORM.has(lower);
    start = space;
  }
  if (start === text.length) return text;
  const isDescription =
    isSure || (isLikely && LEGAL_FORMS.has(word.toLowerCase())) || PAR_VALUE.test(text.slice(start));
  const rest = text.slice(0, start).trimEnd().replace(/,$/, '');
  return isDescription && hasLetter(rest) && !PART_OF_FORM.test(rest) ? rest : text;
}

function isFurther(word: string, lower: string): boolean {
  return (
    FURTHER.has(lower) ||
    AFTER_LEGAL_FORM.has(lower) ||
    NUMBER.test(word) ||
    CURRENCY.test(word) ||
    PAR_VALUE.test(word)
  );
}

function hasLetter(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
