import { LONGEST_NAME } from '../names/names-of-brand.ts';
import { rowsOf } from '../names/texts.ts';
import PATTERNS from './security-patterns.json' with { type: 'json' };

/**
 * What a security is. Only shares and receipts stand for the company. "unit" is a share sold together with warrants or rights;
 * the units of partnerships and trusts are shares. "fund" is an exchange-traded product of any legal form. "test" is a listing
 * with which an exchange tests its systems.
 */
export type SecurityType =
  | 'share'
  | 'receipt'
  | 'preferred'
  | 'warrant'
  | 'right'
  | 'unit'
  | 'note'
  | 'certificate'
  | 'fund'
  | 'test';

export interface SecurityName {
  /**
   * The name without the words that describe the security. Exact for shares and receipts. The names of other securities may keep
   * a rate of interest.
   */
  readonly company: string;
  /** Undefined if the name does not say it. Most names of companies do not. */
  readonly type: SecurityType | undefined;
}

/** Words after a company's name that say what the security is. The first words in the name decide. */
const PHRASES = typedPatterns(PATTERNS.phrases);

/** Codes in which exchanges write the terms of a security, anywhere in its name. */
const TERMS = typedPatterns(PATTERNS.terms);

/** Listings with which exchanges test their systems. */
const TEST =
  /\b(?:LSE USE ONLY|LSE INJECTOR|(?:symbology|pilot) test|test (?:stock|security|instrument|issue|common|sym\w*))\b/i;
/** Funds and notes of banks that follow goods or shares and are traded like shares, also by brands under which nothing else trades. */
const FUND =
  /\bET[CFNP]s?\d*\b(?!\.)|\bexchange[- ]traded\b|\((?:quoted )?(?:managed |hedge ?)+fund\)|\bUCITS?\b|\bindex f(?:un)?ds?\b(?! (?:advis|manage))|\b(?:iShares|SPDR|Xtrackers|ProShares|CurrencyShares|ETRACS|MicroSectors|QQQ Tr(?:ust)?)\b|\bfd,? l\.?p\b/i;
/** "LS -2X TESLA" follows a share with this factor. */
const MULTIPLE = /(?:^|\s)-?\d(?:\.\d+)?x(?:\s|$)/i;
/** Issuers of partnership units and trust units, which are their shares: "AllianceBernstein Holding L.P. Units". */
const PARTNERSHIP = /\b(?:L\.? ?P\.?|partners|trust|tr|fund)$/i;
const LEGAL_FORM =
  '(?:inc|incorporated|corp|corporation|co|company|ltd|limited|plc|n\\.?v|s\\.?a|l\\.?p|trust|ab|ag|asa|a/s|oyj|se)\\.?';

/** Words before a phrase that belong to the security: its class, its votes, its interest. */
const MODIFIERS = [
  /(?<![\s,(–-])[\s,(–-]+(?:class|cl\.?|series) (?:[a-z](?:-?\d)?|\d|one|two|i{1,3})$/i,
  /(?<![\s,–-])[\s,–-]+(?:class [a-z] (?:limited |multiple )?)?(?:non-? ?voting|voting|subordinate|redeemable|restricted|registered|public)$/i,
  /(?<![\s,–-])[\s,–-]+(?:un)?sponsored$/i,
  /(?<!\s)\s+['‘]new['’]$/i,
  new RegExp(`(?<=\\b${LEGAL_FORM}) new$`, 'i'),
  // The tracking stocks of a company: "Liberty Media Corporation Series A Liberty Formula One".
  new RegExp(`(?<=\\b${LEGAL_FORM}) series [a-z]\\b.*$`, 'i'),
];
/** What a list of securities adds to a company's name even if no phrase follows. */
const ADDITIONS = [
  /\s*\((?:class|series|cl\.?) [a-z]\)$/i,
  new RegExp(`(?<=\\b${LEGAL_FORM}),? (?:[-–] )?(?:class|cl\\.?|ser\\.) [a-z]$`, 'i'),
  new RegExp(`(?<=\\b${LEGAL_FORM}) (?:business development company|real estate investment trust)$`, 'i'),
];
/** The state of incorporation, or a former tracking group, after the legal form: "Aemetis Inc. (DE)". */
const IN_PARENTHESES = new RegExp(
  `(?<=\\b${LEGAL_FORM}|\\bbancorp\\.?)\\s+\\((?!the\\b|publ\\b)[^()]*\\)$`,
  'i',
);
/** How often the patterns are tried again on what they leave. No name of a security repeats its words so often. */
const MOST_ROUNDS = 10;
/** "Wendy's Company (The)". */
const ARTICLE_AT_END = /^(.+?),?\s*\(the\)\.?$/i;
/** Nasdaq's lists name some partnerships twice: "Global Partners LP Global Partners LP Common Units". */
const TWICE = /^(.{4,}) \1$/;

/**
 * Reads the name of a security, as the lists of exchanges write it, into the company's name and what the security is. Returns a
 * name without words for a security unchanged, and also a text that is too long for a name.
 */
export function readSecurityName(name: string): SecurityName {
  const text = name.replace(/\s+/g, ' ').trim();
  if (text.length > LONGEST_NAME) return { company: text, type: undefined };
  if (TEST.test(text)) return { company: text, type: 'test' };
  const found = firstPhrase(text);
  if (FUND.test(text) || (MULTIPLE.test(text) && found?.type !== 'share'))
    return { company: text, type: 'fund' };
  if (found === undefined) {
    const company = withoutAll(text, ADDITIONS);
    return { company: withArticle(company), type: company === text ? undefined : 'share' };
  }
  const before = text.slice(0, found.index).replace(/(?<![\s,(–-])[\s,(–-]+$/, '');
  const type = found.type === 'unit' && PARTNERSHIP.test(before) ? 'share' : found.type;
  const company = withoutAll(before, [...MODIFIERS, ...ADDITIONS, IN_PARENTHESES]);
  return { company: withArticle(company.replace(TWICE, '$1')), type };
}

/**
 * Returns the phrase or the terms that begin first in the name. A phrase must follow another word, because "Unit Corporation" is
 * a company. Of two that begin in one place, the one that is listed first.
 */
function firstPhrase(text: string): { type: SecurityType; index: number } | undefined {
  const firstWord = text.indexOf(' ');
  const afterFirstWord = firstWord < 0 ? '' : text.slice(firstWord);
  return [
    ...PHRASES.map(({ type, pattern }) => ({ type, index: afterFirstWord.search(pattern), from: firstWord })),
    ...TERMS.map(({ type, pattern }) => ({ type, index: text.search(pattern), from: 0 })),
  ]
    .flatMap(({ type, index, from }) => (index < 0 ? [] : [{ type, index: from + index }]))
    .sort((a, b) => a.index - b.index)[0];
}

function withoutAll(text: string, patterns: readonly RegExp[]): string {
  let shorter = text;
  let before = '';
  for (let round = 0; round < MOST_ROUNDS && before !== shorter; round += 1) {
    before = shorter;
    for (const pattern of patterns) {
      const rest = shorter.replace(pattern, '').trim();
      if (/[\p{L}\p{N}]/u.test(rest)) shorter = rest;
    }
  }
  return shorter;
}

function withArticle(company: string): string {
  const [, articleless] = ARTICLE_AT_END.exec(company) ?? [];
  return articleless === undefined ? company : `The ${articleless}`;
}

/** Reads rows of a type, a regular expression and its flags, with two spaces between them. "#" begins a comment. */
export function typedPatterns(rows: readonly string[]): { type: SecurityType; pattern: RegExp }[] {
  return rowsOf(rows).map((row) => {
    const [type, pattern = '', flags] = row.split('  ');
    return { type: type as SecurityType, pattern: new RegExp(pattern, flags) };
  });
}
