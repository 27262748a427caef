import { exchangeOfMic } from './exchanges.ts';
import { readSecurityName, type SecurityType } from './security-names.ts';

/** Facts of a security. All may be missing. */
export interface SecurityFacts {
  readonly name?: string | undefined;
  /** As the venue writes it, with any sign before the mark of a class: "BAC-PL", "AAC/WS", "ABR^D". */
  readonly ticker?: string | undefined;
  readonly mic?: string | undefined;
  /** The type that FIGI (securityType), a broker or a vendor gives: "Common Stock", "ETP", "Preference". */
  readonly stated?: string | undefined;
}

/** The types as vendors write them, by the words that they contain. The first that matches decides. */
const STATED: readonly (readonly [SecurityType, RegExp])[] = [
  ['test', /^test$|\btest (?:issue|stock|security|instrument|listing)\b/],
  ['warrant', /\bwarrants?\b|\bwrt\b/],
  ['right', /\brights?\b|\brts\b/],
  ['fund', /\b(?:etf|etp|etn|etc|mutual fund|open[- ]end|exchange traded|nextshares)\b/],
  ['preferred', /\b(?:preferred|preference|pref|pfd|ps)\b/],
  ['receipt', /\b(?:adr|gdr|adrc|depositary|receipts?|bdr|nvdr)\b/],
  ['note', /\b(?:notes?|bonds?|debentures?)\b|^(?:corp|govt|muni)$/],
  ['certificate', /\b(?:certificates?|structured|derivative|option|future)\b/],
  [
    'share',
    /\b(?:common|ordinary|equity|stock|share|reit|mlp|cs|os|closed[- ]end|trust units?|beneficial interest|partnership|ltd part)\b/,
  ],
  ['unit', /\bunits?\b/],
];

/**
 * The forms of tickers that are given to other securities than shares, with their venues. The first that matches at a venue decides.
 */
const FORMS: readonly (readonly [venues: string, type: SecurityType, form: RegExp])[] = [
  // NASDAQ adds a fifth letter to the company's four. In August 2026, every ticker with one of these letters was a security of
  // the type named here. The fifth letters of classes (A, B, K and the L of GOOGL) and of receipts (Y) are not listed.
  ['XNAS', 'warrant', /^[A-Z]{4}W$/],
  ['XNAS', 'right', /^[A-Z]{4}R$/],
  ['XNAS', 'unit', /^[A-Z]{4}U$/],
  ['XNAS', 'preferred', /^[A-Z]{4}[M-P]$/],
  ['XNAS', 'note', /^[A-Z]{4}[GHIZ]$/],
  // Marks after a sign, as NASDAQ, NYSE and data vendors write them: "BAC-PL", "BAC.PRL", "ABR^D", "AAC/WS", "AAC+", "AAC=".
  ['XNAS XNYS XASE ARCX BATS', 'preferred', /\^[A-Z]?$|-PR?-?[A-Z]?$/],
  ['XNAS XNYS XASE ARCX BATS', 'warrant', /-W(?:[ST](?:-?[A-Z])?)?$|\+[A-Z]?$/],
  ['XNAS XNYS XASE ARCX BATS', 'unit', /-UN?$|=$/],
  ['XNAS XNYS XASE ARCX BATS', 'right', /-RT?$|-RTW[ID]$/],
  ['XTSE XTSX XCNQ NEOE', 'preferred', /-PR?-?[A-Z]{1,3}$/],
  ['XTSE XTSX XCNQ NEOE', 'warrant', /-W[STR](?:-?[A-Z])?$/],
  ['XTSE XTSX XCNQ NEOE', 'right', /-I?RT?[A-Z]?$/],
  ['XTSE XTSX XCNQ NEOE', 'note', /-(?:DB|NT|NS)(?:-?[A-Z])?$/],
  ['XASX', 'note', /^GS[BCI][A-Z]\d\d$|^YTM[A-Z0-9]{3}$/],
  // P: capital notes, convertible preference shares and other hybrids, which Sydney lists with debt.
  ['XASX', 'note', /^[A-Z0-9]{3}[GHP][A-Z]$/],
  ['XASX', 'warrant', /^[A-Z0-9]{3}O[A-Z]$|^[A-Z0-9]{6}$/],
  ['XASX', 'right', /^[A-Z0-9]{3}R[A-Z]$/],
  ['XHKG', 'note', /^0?4[0-24-5]\d\d$|^0?5\d{3}$|^0?60[0-2]\d$|^40\d{3}$/],
  ['XHKG', 'preferred', /^[08]?46\d\d$/],
  ['XHKG', 'warrant', /^0?4[89]\d\d$|^[12]\d{4}$|^4[78]\d{3}$/],
  ['XHKG', 'certificate', /^(?:49[5-9]|5\d\d|6\d\d)\d\d$/],
  ['XHKG', 'fund', /^[08]?28[0-4]\d$|^[08]?3[014]\d\d$|^0?7[2357]\d\d$|^0?9(?:[014]\d|8[0-4])\d$/],
  ['XKRX XKOS', 'warrant', /^5\d[A-Z][0-9A-Z]{3}$/],
  ['XKRX XKOS', 'note', /^[5-7]\d{5}$/],
  ['XKRX XKOS', 'preferred', /^\d{5}[579K-M]$/],
  // BT's shares are the only ones whose ticker ends in this way.
  ['XLON', 'preferred', /^(?!BT-)[A-Z0-9]{2,3}-[A-D]$/],
  ['XTKS', 'preferred', /^\d{3}[0-9A-Z][0-9P]$/],
  // Vienna gives certificates their ISIN as their ticker.
  ['XWBO', 'certificate', /^[A-Z]{2}[A-Z0-9]{9}\d$/],
  ['XPAR', 'warrant', /^(?!AL|ML)[A-Z0-9]{3}B[STU]$/],
  ['XPAR', 'certificate', /^(?!AL|ML)(?=(?:.*\d){2})[A-Z0-9]{4}[A-Z]$/],
  ['XSAU', 'right', /^\d{5,}$/],
  ['BVMF', 'right', /^[A-Z0-9]{4}(?:1|2|9|10)$/],
  ['BVMF', 'receipt', /^[A-Z0-9]{4}3[1-9]$/],
  ['XSHG', 'note', /^1\d{5}$/],
  ['XSHG', 'preferred', /^360\d{3}$/],
  ['XSHG', 'fund', /^5\d{5}$/],
  ['XSHG', 'right', /^7\d{5}$/],
  ['XSHE', 'note', /^1[0-3]\d{4}$/],
  ['XSHE', 'preferred', /^14\d{4}$/],
  ['XSHE', 'fund', /^1[5-8]\d{4}$/],
  ['XSHE', 'warrant', /^03\d{4}$/],
  ['XTAI ROCO', 'fund', /^00\d{2,4}[A-Z]?$/],
  ['XTAI ROCO', 'receipt', /^91\d{4}$/],
  ['XTAI ROCO', 'preferred', /^\d{4}[A-Z]\d?$/],
  ['XTAI ROCO', 'note', /^[1-9]\d{4}$/],
  ['XTAI ROCO', 'warrant', /^0[3-8]\d{3}[0-9A-Z]$/],
  ['XNSE', 'right', /-RE\d?$/],
  ['XNSE', 'warrant', /-W\d$/],
  ['XNSE', 'preferred', /-P\d$/],
  ['XNSE', 'note', /-(?:[NYZ][0-9A-Z]|GB|GS)$/],
  ['XBOM', 'right', /^7\d{5}$/],
  ['XBOM', 'note', /^(?:8[0-8]|9\d)\d{4}$/],
  ['XBKK', 'receipt', /-R$/],
  ['XBKK', 'warrant', /-W\d+$/],
  ['XBKK', 'preferred', /-[PQ]$/],
  ['XKLS', 'warrant', /^\d{4}W[A-Z]$/],
  ['XKLS', 'certificate', /^\d{4}C[0-9A-Z]$/],
  ['XKLS', 'preferred', /^\d{4}P[A-Z]$/],
  ['XKLS', 'note', /^\d{4}L[A-Z]$/],
  ['XKLS', 'fund', /^\d{4}E[A-Z]$/],
  ['XSTO XHEL XCSE XOSL', 'right', /-(?:TR|UR|IR|SR)(?:-?[A-Z])?$/],
  ['XSTO XHEL XCSE XOSL', 'warrant', /-TO-?\d*[A-Z]?$/],
  ['XSTO XHEL XCSE XOSL', 'unit', /-BTU(?:-?[A-Z])?$/],
  ['XSTO XHEL XCSE XOSL', 'preferred', /-PREF(?:-?[A-Z])?$/],
];
const FORMS_OF_VENUE = Map.groupBy(
  FORMS.flatMap(([venues, type, form]) => venues.split(' ').map((venue) => ({ venue, type, form }))),
  ({ venue }) => venue,
);

/** Checks whether a security of this type stands for its company, so that its ticker means the company. */
export function isShareOrReceipt(type: SecurityType | undefined): boolean {
  return type === undefined || type === 'share' || type === 'receipt';
}

/** Returns what a security is, by the surest of its facts: the stated type, then the name, then the form of the ticker. */
export function typeOfSecurity({ name, ticker, mic, stated }: SecurityFacts): SecurityType | undefined {
  return (
    typeOfStatement(stated ?? '') ??
    readSecurityName(name ?? '').type ??
    typeOfTicker(ticker ?? '', mic ?? '')
  );
}

/** Returns what the form of a ticker says at its venue. Undefined for shares, and where the form says nothing. */
export function typeOfTicker(ticker: string, mic: string): SecurityType | undefined {
  const forms = FORMS_OF_VENUE.get(exchangeOfMic(mic.toUpperCase())?.mic ?? mic.toUpperCase());
  if (forms === undefined) return undefined;
  const text = ticker.toUpperCase().replace(/[\s./_]/g, '-');
  return forms.find(({ form }) => form.test(text))?.type;
}

/** NASDAQ's list of symbols states it after the company's name: "Apple Inc. - Common Stock". */
function typeOfStatement(text: string): SecurityType | undefined {
  const words = text.toLowerCase().split(' - ').at(-1) ?? '';
  return STATED.find(([, pattern]) => pattern.test(words))?.[0];
}
