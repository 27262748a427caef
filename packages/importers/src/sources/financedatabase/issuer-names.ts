import { comparableNames, coreName, normalName } from '@brand-data/identifiers';

/** A company's name, in the form that is used for comparing the names of securities. */
export interface Name {
  /** The name's words in their normal form, without the legal form and marks of the security. */
  readonly words: readonly string[];
  /** Equal names have a form in common (comparableNames). */
  readonly forms: readonly string[];
  /** The legal form, in one spelling for all variants ("corp", "ltd"). '' if the name has none. */
  readonly legal: string;
  /** "group", "holdings", both or ''. */
  readonly collective: string;
}

/** "equal": the same name. "alike": one may be an abbreviation of the other. "other": the names of two companies. */
export type Likeness = 'equal' | 'alike' | 'other';

/** Currencies as Berlin writes them before a par value. */
const CURRENCY =
  '(?:AD|BA|BD|CD|DK|DL|EO|FR|FT|HD|IL|IR|IS|KC|KP|LE|LS|NK|ND|PP|RC|RL|RP|RB|SD|SF|SK|TA|TN|UF|YC|YN|ZY)';
/** Berlin writes the security into the name: its par value ("DL-,01", "EO 2,5", "SK12,50", "-,0001"), … */
const PAR_VALUE = new RegExp(
  `(?:[\\s.]|(?<=\\p{L}))${CURRENCY}\\s*-[\\s.,\\d]*$|(?:[\\s.]|(?<=\\b(?:AB|AG|NV|PLC|SA|SE|INC|CORP)))${CURRENCY}\\s*[.,\\d]+[A-Z]?$|\\s-\\s*[.,]?\\d[.,\\d]*$`,
  'iu',
);
/** … whether it is a depositary receipt ("SP.ADR A1", "UNSP.ADR/2", "GDR REG.S/5"; also "Sponsored ADR Class A"), … */
const RECEIPT =
  /[\s,.(-]+[\d,]*(?:un?)?(?:s(?:p(?:on(?:s(?:ored)?)?)?)?)?[.)\s]*(?:[ag]\.?d\.?[rs]s?|nvdr|cdis?|cufs|dep\.?\s?r\w*)(?!\p{L}).*$/iu;
/** … and what sort of share. */
const SHARE_TYPE =
  /[\s,.(-]+(?:inh|inhaber|in|nam|na|nom|port|vna|vz|vzo|vza|vzna|st|sta|o\.n|on|conv|new|neu|fr|fria|reg\.?\s?s|regs|pref|pfd|preferred|ord|ordinary|reg|registered|bearer|n-vtg|non-voting|vtg|nvtg|shs?|shares|aktien?|cva|[ah]1|cl\.?\s?[a-z]|class\s+[a-z]|fgn|cpo)[.)-]*$/iu;
/** A share class at the end of a name that is all in capitals: "NOVO-NORDISK NAM.B". */
const SHARE_LETTER = /(?<=\S\s|\p{L}{3}\.)[A-DHKLN]$|(?<=\s\p{L}\.)B$/u;
const GERMAN_MARKS = [PAR_VALUE, RECEIPT, SHARE_TYPE, SHARE_LETTER, /(?<=\p{L})INH\.?$/u];
const MARKS = [RECEIPT, /[\s,]+(?:class [a-z]|pref|preferred|ord|cdi|\(publ\))\.?$/iu];

/** Words that some spellings of a name have and others omit. */
const INSIGNIFICANT: ReadonlySet<string> = new Set(
  'and the of for pour fur a d de do da del der des di du et la le les und van von y e i plc inc co corp ltd sa sab cv ag se nv aktiengesellschaft'.split(
    ' ',
  ),
);

/** The issuer in the name of a security. Undefined if the name contains no word. */
export function nameOf(text: string): Name | undefined {
  const plain = withoutSecurity(text)
    .replace(/\b[LD]['’](?=\p{L})/giu, '')
    .replace(/(?<=\S)\s*\+\s*(?=\S)/g, ' & ');
  const normal = coreName(normalName(plain));
  if (normal === '') return undefined;
  const words = foldUmlauts(normal).split(' ');
  const significant = words.filter((word) => !INSIGNIFICANT.has(word));
  return {
    words: significant.length > 0 ? significant : words,
    forms: comparableNames(words.join(' ')),
    legal: marksOf(plain, LEGAL_FORMS),
    collective: marksOf(plain, COLLECTIVES),
  };
}

const LEGAL_FORMS = spellings({
  ab: ['aktiebolag', 'aktiebolaget', 'ab'],
  ag: ['aktiengesellschaft', 'ag'],
  as: ['asa', 'as'],
  bhd: ['berhad', 'bhd'],
  corp: ['corporation', 'corp', 'cor'],
  inc: ['incorporated', 'inc'],
  kgaa: ['kgaa'],
  ltd: ['limited', 'ltd', 'pcl'],
  nv: ['nv'],
  oyj: ['oyj', 'oy', 'abp'],
  plc: ['plc'],
  sa: ['sa', 'sab'],
  se: ['se'],
  spa: ['spa'],
});
const COLLECTIVES = spellings({
  group: ['group', 'grp', 'gr', 'gp', 'gro'],
  holdings: ['holding', 'holdings', 'hldg', 'hldgs', 'hdgs', 'hdg', 'hlds', 'hld', 'hl', 'hd', 'hds'],
});

function spellings(byMark: Record<string, string[]>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(byMark).flatMap(([mark, words]) => words.map((word) => [word, mark] as const)),
  );
}

function marksOf(name: string, marks: ReadonlyMap<string, string>): string {
  const words = normalName(name).replace('public limited company', 'plc').split(' ');
  return [...new Set(words.flatMap((word) => marks.get(word) ?? []))].toSorted().join(' ');
}

/** Removes the marks of the security: "AMER. EL. PWR  DL 6,50" becomes "AMER. EL. PWR". */
export function withoutSecurity(name: string): string {
  const marks = isShouted(name) ? GERMAN_MARKS : MARKS;
  let text = name.trim();
  for (let before = ''; before !== text; ) {
    before = text;
    for (const mark of marks) {
      const shorter = text.replace(mark, '').trim();
      if (/\p{L}.*\p{L}/u.test(shorter)) text = shorter;
    }
  }
  return text;
}

/** Whether the security is a bank's product that follows shares or goods. It is named after them, and has their facts. */
export function isProduct(name: string): boolean {
  return /\bET[CFNP]s?\d*\b|(?:^|\s)-?\d(?:\.\d+)?x(?:\s|$)/iu.test(name);
}

/** Whether the name is all in capitals, as the systems of German exchanges write it. */
export function isShouted(name: string): boolean {
  return name === name.toUpperCase();
}

const VERBS =
  'is|was|are|were|has|had|does|engages?|operates?|provides?|develops?|designs?|manufactures?|produces?|offers?|owns?|invests?|focuse[sd]|explores?|acquires?|conducts?|specializes|supplies|sells?|markets?|distributes?|researches|primarily|mainly|holds|delivers|purchases|constructs|plans|processes|discovers|creates|builds|publishes|leases|retails|imports|trades|manages|undertakes|identifies|commercializes|generates|transmits|intends|aims|functions|serves|acts|makes|runs|represents|mines|explored|refers';
const SUBJECT = new RegExp(
  `^(?:The )?(.{2,90}?)(?:\\s*\\([^)]*\\))*(?:, (?:an?|the|together|through|formerly|doing|along|via|also|known|its|and its|incorporated|in|headquartered|founded|based|now|part)\\b|\\s(?:and its (?:\\w+ )?subsidiar|together with|through its|${VERBS})\\b)`,
  'u',
);

/** The subject of a description's first sentence: "Nostrum Oil & Gas PLC, an independent …". '' if it is unclear. */
export function subjectOf(summary: string): string {
  return SUBJECT.exec(summary)?.[1] ?? '';
}

const FORMER =
  /formerly known as (.{3,90}?)(?: and (?:changed|is now|then)\b|, (?:and|is|was)\b|\. (?=[A-Z])|\.$|\s\()/gu;

/** The former names in a description: "The company was formerly known as DSV A/S and changed its name to …". */
export function formerNamesOf(summary: string): string[] {
  return [...summary.matchAll(FORMER)].map(([, name = '']) => name);
}

export function compareNames(a: Name, b: Name): Likeness {
  if (a.forms.some((form) => b.forms.includes(form))) return 'equal';
  const isAlike =
    abbreviates(a, b) ||
    abbreviates(b, a) ||
    shareMostWords(a.words, b.words) ||
    shareStart(a.words, b.words);
  return isAlike ? 'alike' : 'other';
}

/**
 * Whether each word of the shorter name abbreviates one or several words of the longer name, in the same order: "bk ny mellon"
 * abbreviates "bank new york mellon". The shorter name may omit words at the end. It may also omit the longer name's first
 * word, if the second word is written in full.
 */
function abbreviates(short: Name, long: Name): boolean {
  // "Saga plc" does not abbreviate "Saga Pure ASA".
  if (short.words.length === 1 && short.legal !== '' && long.legal !== '' && short.legal !== long.legal)
    return false;
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

/** How many words of the longer name, from `at`, the word abbreviates. 0 if it abbreviates none. */
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

/** Whether `short` has the word's first letter, and the word contains its letters in the same order: "bkn" of "banken". */
function isAbbreviation(short: string, word: string): boolean {
  if (short[0] !== word[0] || short.length >= word.length || /\d/.test(short)) return false;
  let at = 0;
  for (const letter of short) {
    at = word.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** Recognizes renamed products: "Boost S&P 500 VIX Short-Term Futures", "WisdomTree S&P 500 VIX Short-Term Futures". */
function shareMostWords(a: readonly string[], b: readonly string[]): boolean {
  const common = new Set(a.filter((word) => b.includes(word)));
  return common.size >= 4 && common.size * 2 > Math.min(a.length, b.length);
}

/**
 * Whether the names begin with the same long word ("GraniteShares FAANG ETC" and "GRANITESHARES FINANCIAL PLC"), or with two
 * words that agree ("INVESC.PHYS.MKT." and "Invesco Physical Gold").
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

/** Replaces "ue" by "u" and so on, because German exchanges write "UE" for "Ü", and others "U". */
function foldUmlauts(normal: string): string {
  return normal.replace(/([aou])e/g, '$1');
}
