import { comparableNames, coreName, normalName } from '@brand-data/identifiers';

/** A company's name as names of securities are compared by it. */
export interface Name {
  /** Its words in their normal form, without the security's marks and the legal form. */
  readonly words: readonly string[];
  /** Equal for names that say the same (comparableNames). */
  readonly forms: readonly string[];
  /** Its legal form, one spelling for all ("corp", "ltd"); '' without. */
  readonly legal: string;
  /** "group", "holdings", both or ''. */
  readonly collective: string;
}

/** "equal": the same name; "alike": one may be the other, abbreviated or cut off; "other": names of two companies. */
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
/** Of names in capitals alone: "NOVO-NORDISK NAM.B". */
const SHARE_LETTER = /(?<=\S\s|\p{L}{3}\.)[A-DHKLN]$|(?<=\s\p{L}\.)B$/u;
const GERMAN_MARKS = [PAR_VALUE, RECEIPT, SHARE_TYPE, SHARE_LETTER, /(?<=\p{L})INH\.?$/u];
const MARKS = [RECEIPT, /[\s,]+(?:class [a-z]|pref|preferred|ord|cdi|\(publ\))\.?$/iu];

/** Words that come and go between spellings of one name. */
const INSIGNIFICANT: ReadonlySet<string> = new Set(
  'and the of for pour fur a d de do da del der des di du et la le les und van von y e i plc inc co corp ltd sa sab cv ag se nv aktiengesellschaft'.split(
    ' ',
  ),
);

/** The issuer in the name of a security; undefined when no word is in it. */
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

/** "AMER. EL. PWR  DL 6,50" is "AMER. EL. PWR". */
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

/** Of a bank, which follows shares or goods: it is named after them, and so are its description and website. */
export function isProduct(name: string): boolean {
  return /\bET[CFNP]s?\d*\b|(?:^|\s)-?\d(?:\.\d+)?x(?:\s|$)/iu.test(name);
}

/** German exchanges' systems write names in capitals. */
export function isShouted(name: string): boolean {
  return name === name.toUpperCase();
}

const VERBS =
  'is|was|are|were|has|had|does|engages?|operates?|provides?|develops?|designs?|manufactures?|produces?|offers?|owns?|invests?|focuse[sd]|explores?|acquires?|conducts?|specializes|supplies|sells?|markets?|distributes?|researches|primarily|mainly|holds|delivers|purchases|constructs|plans|processes|discovers|creates|builds|publishes|leases|retails|imports|trades|manages|undertakes|identifies|generates|transmits|intends|aims|functions|serves|acts|makes|runs|represents|mines|explored|refers';
const SUBJECT = new RegExp(
  `^(?:The )?(.{2,90}?)(?:\\s*\\([^)]*\\))*(?:, (?:an?|the|together|through|formerly|doing|along|via|also|known|its|and its|incorporated|in|headquartered|founded|based|now|part)\\b|\\s(?:and its (?:\\w+ )?subsidiar|together with|through its|${VERBS})\\b)`,
  'u',
);

/** What the first sentence of a description speaks of: "Nostrum Oil & Gas PLC, an independent …". '' if that is unclear. */
export function subjectOf(summary: string): string {
  return SUBJECT.exec(summary)?.[1] ?? '';
}

const FORMER =
  /formerly known as (.{3,90}?)(?: and (?:changed|is now|then)\b|, (?:and|is|was)\b|\. (?=[A-Z])|\.$|\s\()/gu;

/** "The company was formerly known as DSV A/S and changed its name to …": the names it had. */
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
 * Whether each word of the shorter name stands for one or several of the longer's, in their order: "bk ny mellon" for
 * "bank new york mellon". What the longer has more at its end was cut off; a first word that is missing must be the
 * only one, before a word written out.
 */
function abbreviates(short: Name, long: Name): boolean {
  // "Saga plc" is not short for "Saga Pure ASA".
  if (short.words.length === 1 && short.legal !== '' && long.legal !== '' && short.legal !== long.legal)
    return false;
  const isWrittenOut = short.words[0] === long.words[1] && (short.words[0]?.length ?? 0) >= 5;
  return (
    standsFor(short.words, long.words) ||
    (isWrittenOut && standsFor(short.words, long.words.slice(1))) ||
    // "Royal Caribbean Group" is short for "Royal Caribbean Cruises", but "Sumo Group" is not for "Sumo Logic".
    (short.words.length >= 3 &&
      COLLECTIVES.has(short.words.at(-1) ?? '') &&
      standsFor(short.words.slice(0, -1), long.words))
  );
}

function standsFor(short: readonly string[], long: readonly string[]): boolean {
  if (short.length > long.length) return false;
  let at = 0;
  // One word of three or more may have been left out: "cia en ger" for "companhia energetica minas gerais".
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

/** How many words from `at` the word stands for; 0: none. */
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

/** The same first letter, and its letters are in the word in their order: "bkn" of "banken". */
function isAbbreviation(short: string, word: string): boolean {
  if (short[0] !== word[0] || short.length >= word.length || /\d/.test(short)) return false;
  let at = 0;
  for (const letter of short) {
    at = word.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** Products that were renamed: "Boost S&P 500 VIX Short-Term Futures", "WisdomTree S&P 500 VIX Short-Term Futures". */
function shareMostWords(a: readonly string[], b: readonly string[]): boolean {
  const common = new Set(a.filter((word) => b.includes(word)));
  return common.size >= 4 && common.size * 2 > Math.min(a.length, b.length);
}

/** "GraniteShares FAANG ETC" and "GRANITESHARES FINANCIAL PLC"; "INVESC.PHYS.MKT." and "Invesco Physical Gold". */
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

/** German exchanges write "UE" for "Ü", others "U". */
function foldUmlauts(normal: string): string {
  return normal.replace(/([aou])e/g, '$1');
}
