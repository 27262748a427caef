import type { Match, MatchKind, MatchStrength } from '@brand-data/client/source';

/** What matched, after "its". */
export const KINDS: Readonly<Record<MatchKind, string>> = {
  unspecified: 'identifier',
  ticker: 'ticker',
  domain: 'domain',
  name: 'name',
  superinvestor: 'name as a superinvestor',
  isin: 'ISIN',
  cusip: 'CUSIP',
  figi: 'FIGI',
  lei: 'LEI',
};

/** How it matched, after "matches". */
export const STRENGTHS: Readonly<Record<MatchStrength, string>> = {
  unspecified: '',
  exact: 'exactly',
  legal_form: 'without its legal form',
  // The kind takes it: a former ticker.
  former: '',
  group_word: 'without its last words, such as “Group”',
  spacing: 'without spaces and punctuation',
  leading_words: 'by its first words',
};

/** Returns the words around the identifier that matched. A later version of the service may have further kinds and strengths. */
export function matchWords({ kind, strength }: Match): [before: string, after: string] {
  const what = KINDS[kind as MatchKind] ?? KINDS.unspecified;
  if (strength === 'former') return ['', ` is a former ${what} of it.`];
  const how = STRENGTHS[strength as MatchStrength] ?? STRENGTHS.unspecified;
  return [`its ${what} `, how === '' ? ' matches.' : ` matches ${how}.`];
}
