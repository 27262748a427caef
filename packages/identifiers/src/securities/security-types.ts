import { rowsOf } from '../names/texts.ts';
import { exchangeOfMic } from './exchanges.ts';
import { readSecurityName, type SecurityType, typedPatterns } from './security-names.ts';
import PATTERNS from './security-patterns.json' with { type: 'json' };

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
const STATED = typedPatterns(PATTERNS.stated);

/**
 * The forms of tickers that are given to other securities than shares, by venue. The venues stand before the type. The first form that
 * matches at a venue decides.
 */
const FORMS_OF_VENUE = Map.groupBy(
  rowsOf(PATTERNS.tickers).flatMap((row) => {
    const [venues = '', ...form] = row.split('  ');
    return typedPatterns([form.join('  ')]).flatMap((each) =>
      venues.split(' ').map((venue) => ({ venue, ...each })),
    );
  }),
  ({ venue }) => venue,
);

/** Checks whether a security of this type stands for its company, so that its ticker means the company. */
export function isShareOrReceipt(type: SecurityType | undefined): boolean {
  return type === undefined || type === 'share' || type === 'receipt';
}

/** What lists state of all that is no fund: "Stock" of a warrant too. */
const SAYS_LITTLE = /^\s*(?:stocks?|equit(?:y|ies)|shares?)\s*$/i;

/**
 * Returns what a security is, by the surest of its facts: the stated type, then the name, then the form of the ticker. A statement that
 * says little comes last.
 */
export function typeOfSecurity({ name = '', ticker = '', mic = '', stated = '' }: SecurityFacts) {
  const statement = typeOfStatement(stated);
  // The units of partnerships and trusts are their shares.
  if (statement === 'unit') return readSecurityName(`${name} Units`).type;
  const ofName = () => readSecurityName(name).type ?? typeOfTicker(ticker, mic);
  return SAYS_LITTLE.test(stated) ? (ofName() ?? statement) : (statement ?? ofName());
}

/** Returns what the form of a ticker says at its venue. Undefined for shares, and where the form says nothing. */
export function typeOfTicker(ticker: string, mic: string): SecurityType | undefined {
  const forms = FORMS_OF_VENUE.get(exchangeOfMic(mic.toUpperCase())?.mic ?? mic.toUpperCase());
  if (forms === undefined) return undefined;
  const text = ticker.toUpperCase().replace(/[\s./_]/g, '-');
  return forms.find(({ pattern }) => pattern.test(text))?.type;
}

/** NASDAQ's list of symbols states it after the company's name: "Apple Inc. - Common Stock". */
function typeOfStatement(text: string): SecurityType | undefined {
  const last = text.toLowerCase().split(' - ').at(-1) ?? '';
  const words = last.replace(/[_/-]/g, ' ');
  return STATED.find(({ pattern }) => pattern.test(words))?.type;
}
