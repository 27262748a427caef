import { type Match, MatchKind, MatchStrength } from '@brand-data/contracts';

const KIND: Record<MatchKind, string> = {
  [MatchKind.UNSPECIFIED]: 'unspecified',
  [MatchKind.TICKER]: 'ticker',
  [MatchKind.DOMAIN]: 'domain',
  [MatchKind.NAME]: 'name',
  [MatchKind.SUPERINVESTOR]: 'superinvestor',
  [MatchKind.ISIN]: 'isin',
  [MatchKind.CUSIP]: 'cusip',
  [MatchKind.FIGI]: 'figi',
  [MatchKind.LEI]: 'lei',
};

const STRENGTH: Record<MatchStrength, string> = {
  [MatchStrength.UNSPECIFIED]: 'unspecified',
  [MatchStrength.EXACT]: 'exact',
  [MatchStrength.LEGAL_FORM]: 'legal_form',
  [MatchStrength.FORMER]: 'former',
};

/** The value of the header Brand-Match: an RFC 9651 dictionary that says which identifier of the record matched, and how. */
export function brandMatchOf({ kind, value, strength }: Match): string {
  return `kind=${KIND[kind]}, value=${structuredText(value)}, strength=${STRENGTH[strength]}`;
}

/** A String (RFC 9651 3.3.3), or a Display String (3.3.8) for what is not ASCII. */
function structuredText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `"${text.replace(/["\\]/g, '\\$&')}"`;
  const escaped = [...Buffer.from(text)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x25
      ? `%${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  );
  return `%"${escaped.join('')}"`;
}
