import {
  type CompanyName,
  companyName,
  coreName,
  isShouted,
  isTooLongForName,
  isUnspecific,
} from '@brand-data/identifiers';

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

/** Returns the issuer in the name of a security. Undefined if the name contains no word. */
export function issuerIn(text: string): CompanyName | undefined {
  return companyName(plainName(text).replace(/\b[LD]['’](?=\p{L})/giu, ''));
}

/** Removes the marks of the security, and writes "&" for "+" between words, as German exchanges do not. */
export function plainName(text: string): string {
  return withoutSecurity(text).replace(/(?<=\S)\s*\+\s*(?=\S)/g, ' & ');
}

/** Removes the marks of the security: "AMER. EL. PWR  DL 6,50" becomes "AMER. EL. PWR". */
export function withoutSecurity(name: string): string {
  if (isTooLongForName(name)) return name.trim();
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

const VERBS =
  'is|was|are|were|has|had|does|engages?|operates?|provides?|develops?|designs?|manufactures?|produces?|offers?|owns?|invests?|focuse[sd]|explores?|acquires?|conducts?|specializes|supplies|sells?|markets?|distributes?|researches|primarily|mainly|holds|delivers|purchases|constructs|plans|processes|discovers|creates|builds|publishes|leases|retails|imports|trades|manages|undertakes|identifies|commercializes|generates|transmits|intends|aims|functions|serves|acts|makes|runs|represents|mines|explored|refers';
const SUBJECT = new RegExp(
  `^(?:The )?(.{2,90}?)(?:\\s*\\([^)]*\\))*(?:, (?:an?|the|together|through|formerly|doing|along|via|also|known|its|and its|incorporated|in|headquartered|founded|based|now|part)\\b|\\s(?:and its (?:\\w+ )?subsidiar|together with|through its|${VERBS})\\b)`,
  'u',
);

/** More characters than the first sentence of a description has before its verb. */
const FIRST_SENTENCE = 1_000;

/** Returns the subject of a description's first sentence: "Nostrum Oil & Gas PLC, an independent …". '' if it is unclear. */
export function subjectOf(summary: string): string {
  return SUBJECT.exec(summary.slice(0, FIRST_SENTENCE))?.[1] ?? '';
}

const FORMER =
  /formerly known as (.{3,90}?)(?: and (?:changed|is now|then)\b|, (?:and|is|was)\b|\. (?=[A-Z])|\.$|\s\()/gu;

/** What shows that the text goes on after the name: "Dundee Realty Corp is a real estate firm". */
const NO_NAME = /\)|\b(?:is|has|and changes|changed|previously) /;
/** Shorter pieces of names end at a dot: "Y.K", "U.S". */
const NAME = /\p{L}{3}/u;

/**
 * Returns the former names in a description: "The company was formerly known as DSV A/S and changed its name to …". Leaves out what may
 * mean any company, such as "Gold Corp." for Midas Gold Corp.
 */
export function formerNamesOf(summary: string): string[] {
  return [...summary.matchAll(FORMER)]
    .map(([, name = '']) => name)
    .filter((name) => NAME.test(name) && !NO_NAME.test(name) && !isUnspecific(coreName(name)));
}
