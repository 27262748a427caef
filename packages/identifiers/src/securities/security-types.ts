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
  ['warrant', /\bwarrants?\b|\bwrt\b/],
  ['right', /\brights?\b|\brts\b/],
  ['fund', /\b(?:etf|etp|etn|etc|mutual fund|open[- ]end|exchange traded)\b/],
  ['preferred', /\b(?:preferred|preference|pref|pfd|ps)\b/],
  ['receipt', /\b(?:adr|gdr|adrc|depositary|receipts?|bdr|nvdr)\b/],
  ['note', /\b(?:notes?|bonds?|debentures?|corp|govt|muni)\b/],
  ['certificate', /\b(?:certificates?|structured|derivative|option|future)\b/],
  [
    'share',
    /\b(?:common|ordinary|equity|stock|share|reit|mlp|cs|os|closed[- ]end|trust units?|partnership|ltd part)\b/,
  ],
  ['unit', /\bunits?\b/],
];

type Forms = readonly (readonly [SecurityType, RegExp])[];

/** Marks after a sign, as NASDAQ, NYSE and data vendors write them: "BAC-PL", "BAC.PRL", "ABR^D", "AAC/WS", "AAC+", "AAC=". */
const US_MARKS: Forms = [
  ['preferred', /\^[A-Z]?$|-PR?-?[A-Z]?$/],
  ['warrant', /-W(?:[ST](?:-?[A-Z])?)?$|\+[A-Z]?$/],
  ['unit', /-UN?$|=$/],
  ['right', /-RT?$|-RTW[ID]$/],
];
/**
 * NASDAQ adds a fifth letter to the company's four. In August 2026, every ticker with one of these letters was such a security.
 * The fifth letters of classes (A, B, K and the L of GOOGL) and of receipts (Y) are not listed.
 */
const FIFTH_LETTERS: Forms = [
  ['warrant', /^[A-Z]{4}W$/],
  ['right', /^[A-Z]{4}R$/],
  ['unit', /^[A-Z]{4}U$/],
  ['preferred', /^[A-Z]{4}[M-P]$/],
  ['note', /^[A-Z]{4}[GHIZ]$/],
];
const CANADIAN: Forms = [
  ['preferred', /-PR?-?[A-Z]{1,3}$/],
  ['warrant', /-W[STR](?:-?[A-Z])?$/],
  ['right', /-I?RT?[A-Z]?$/],
  ['note', /-(?:DB|NT|NS)(?:-?[A-Z])?$/],
];
const NORDIC: Forms = [
  ['right', /-(?:TR|UR|IR|SR)(?:-?[A-Z])?$/],
  ['warrant', /-TO-?\d*[A-Z]?$/],
  ['unit', /-BTU(?:-?[A-Z])?$/],
  ['preferred', /-PREF(?:-?[A-Z])?$/],
];
const KOREAN: Forms = [
  ['warrant', /^5\d[A-Z][0-9A-Z]{3}$/],
  ['note', /^[5-7]\d{5}$/],
  ['preferred', /^\d{5}[579K-M]$/],
];

const TAIWANESE: Forms = [
  ['fund', /^00\d{2,4}[A-Z]?$/],
  ['receipt', /^91\d{4}$/],
  ['preferred', /^\d{4}[A-Z]\d?$/],
  ['note', /^[1-9]\d{4}$/],
  ['warrant', /^0[3-8]\d{3}[0-9A-Z]$/],
];

/** The forms of tickers that are given to other securities than shares, by venue. The first that matches decides. */
const FORMS: ReadonlyMap<string, Forms> = new Map<string, Forms>([
  ['XNAS', [...FIFTH_LETTERS, ...US_MARKS]],
  ['XNYS', US_MARKS],
  ['XASE', US_MARKS],
  ['ARCX', US_MARKS],
  ['BATS', US_MARKS],
  ['XTSE', CANADIAN],
  ['XTSX', CANADIAN],
  ['XCNQ', CANADIAN],
  ['NEOE', CANADIAN],
  [
    'XASX',
    [
      ['note', /^GS[BCI][A-Z]\d\d$|^YTM[A-Z0-9]{3}$/],
      // P: capital notes, convertible preference shares and other hybrids, which Sydney lists with debt.
      ['note', /^[A-Z0-9]{3}[GHP][A-Z]$/],
      ['warrant', /^[A-Z0-9]{3}O[A-Z]$|^[A-Z0-9]{6}$/],
      ['right', /^[A-Z0-9]{3}R[A-Z]$/],
    ],
  ],
  [
    'XHKG',
    [
      ['note', /^0?4[0-24-5]\d\d$|^0?5\d{3}$|^0?60[0-2]\d$|^40\d{3}$/],
      ['preferred', /^[08]?46\d\d$/],
      ['warrant', /^0?4[89]\d\d$|^[12]\d{4}$|^4[78]\d{3}$/],
      ['certificate', /^(?:49[5-9]|5\d\d|6\d\d)\d\d$/],
      ['fund', /^[08]?28[0-4]\d$|^[08]?3[014]\d\d$|^0?7[2357]\d\d$|^0?9(?:[014]\d|8[0-4])\d$/],
    ],
  ],
  ['XKRX', KOREAN],
  ['XKOS', KOREAN],
  // BT's shares are the only ones whose ticker ends in this way.
  ['XLON', [['preferred', /^(?!BT-)[A-Z0-9]{2,3}-[A-D]$/]]],
  ['XTKS', [['preferred', /^\d{3}[0-9A-Z][0-9P]$/]]],
  [
    'XPAR',
    [
      ['warrant', /^(?!AL|ML)[A-Z0-9]{3}B[STU]$/],
      ['certificate', /^(?!AL|ML)(?=(?:.*\d){2})[A-Z0-9]{4}[A-Z]$/],
    ],
  ],
  ['XSAU', [['right', /^\d{5,}$/]]],
  [
    'BVMF',
    [
      ['right', /^[A-Z0-9]{4}(?:1|2|9|10)$/],
      ['receipt', /^[A-Z0-9]{4}3[1-9]$/],
    ],
  ],
  [
    'XSHG',
    [
      ['note', /^1\d{5}$/],
      ['preferred', /^360\d{3}$/],
      ['fund', /^5\d{5}$/],
      ['right', /^7\d{5}$/],
    ],
  ],
  [
    'XSHE',
    [
      ['note', /^1[0-3]\d{4}$/],
      ['preferred', /^14\d{4}$/],
      ['fund', /^1[5-8]\d{4}$/],
      ['warrant', /^03\d{4}$/],
    ],
  ],
  ['XTAI', TAIWANESE],
  ['ROCO', TAIWANESE],
  [
    'XNSE',
    [
      ['right', /-RE\d?$/],
      ['warrant', /-W\d$/],
      ['preferred', /-P\d$/],
      ['note', /-(?:[NYZ][0-9A-Z]|GB|GS)$/],
    ],
  ],
  [
    'XBOM',
    [
      ['right', /^7\d{5}$/],
      ['note', /^(?:8[0-8]|9\d)\d{4}$/],
    ],
  ],
  [
    'XBKK',
    [
      ['receipt', /-R$/],
      ['warrant', /-W\d+$/],
      ['preferred', /-[PQ]$/],
    ],
  ],
  [
    'XKLS',
    [
      ['warrant', /^\d{4}W[A-Z]$/],
      ['certificate', /^\d{4}C[0-9A-Z]$/],
      ['preferred', /^\d{4}P[A-Z]$/],
      ['note', /^\d{4}L[A-Z]$/],
      ['fund', /^\d{4}E[A-Z]$/],
    ],
  ],
  ['XSTO', NORDIC],
  ['XHEL', NORDIC],
  ['XCSE', NORDIC],
  ['XOSL', NORDIC],
]);

/** Whether such a security stands for its company, so that its ticker means the company. */
export function isShareOrReceipt(type: SecurityType | undefined): boolean {
  return type === undefined || type === 'share' || type === 'receipt';
}

/** What a security is, by the surest of its facts: the stated type, then the name, then the form of the ticker. */
export function typeOfSecurity({ name, ticker, mic, stated }: SecurityFacts): SecurityType | undefined {
  return (
    typeOfStatement(stated ?? '') ??
    readSecurityName(name ?? '').type ??
    typeOfTicker(ticker ?? '', mic ?? '')
  );
}

/** What the form of a ticker says at its venue. Undefined for shares, and where the form says nothing. */
export function typeOfTicker(ticker: string, mic: string): SecurityType | undefined {
  const forms = FORMS.get(exchangeOfMic(mic.toUpperCase())?.mic ?? mic.toUpperCase());
  if (forms === undefined) return undefined;
  const text = ticker.toUpperCase().replace(/[\s./_]/g, '-');
  return forms.find(([, form]) => form.test(text))?.[0];
}

function typeOfStatement(text: string): SecurityType | undefined {
  const words = text.toLowerCase();
  return STATED.find(([, pattern]) => pattern.test(words))?.[0];
}
