import { type Match, MatchKind, MatchStrength } from '@brand-data/contracts';
import { DisplayString, serializeDictionary, Token } from 'structured-headers';

export const KIND: Record<MatchKind, string> = {
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

export const STRENGTH: Record<MatchStrength, string> = {
  [MatchStrength.UNSPECIFIED]: 'unspecified',
  [MatchStrength.EXACT]: 'exact',
  [MatchStrength.LEGAL_FORM]: 'legal_form',
  [MatchStrength.FORMER]: 'former',
  [MatchStrength.GROUP_WORD]: 'group_word',
  [MatchStrength.SPACING]: 'spacing',
};

/**
 * Returns the value of the header Brand-Match: an RFC 9651 dictionary with the identifier of the record that matched, and how it
 * matched. An identifier that is not ASCII becomes a Display String.
 */
export function brandMatchOf({ kind, value, strength }: Match): string {
  return serializeDictionary({
    kind: new Token(KIND[kind]),
    value: /^[\x20-\x7e]*$/.test(value) ? value : new DisplayString(value),
    strength: new Token(STRENGTH[strength]),
  });
}
