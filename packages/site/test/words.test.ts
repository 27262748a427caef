import { MatchKind, MatchStrength } from '@brand-data/contracts';
import { expect, test } from 'vitest';
import { KINDS, matchWords, STRENGTHS } from '../playground/words.ts';

const namesOf = (values: object) =>
  Object.keys(values)
    .map((name) => name.toLowerCase())
    .toSorted();
const sentenceOf = (kind: string, strength: string) =>
  matchWords({ kind, value: 'X', strength }).join('X').trim();

test('each kind and strength of a match has its own words in the playground, and nothing else has', () => {
  expect(Object.keys(KINDS).toSorted()).toEqual(namesOf(MatchKind));
  expect(Object.keys(STRENGTHS).toSorted()).toEqual(namesOf(MatchStrength));
  const kinds = Object.keys(KINDS).filter((kind) => kind !== 'unspecified');
  const strengths = Object.keys(STRENGTHS).filter((strength) => strength !== 'unspecified');
  const sentences = kinds.flatMap((kind) => strengths.map((strength) => sentenceOf(kind, strength)));
  expect(new Set(sentences).size).toBe(kinds.length * strengths.length);
});

test.each([
  ['ticker', 'exact', 'its ticker X matches exactly.'],
  ['name', 'legal_form', 'its name X matches without its legal form.'],
  ['ticker', 'former', 'X is a former ticker of it.'],
  ['a_new_kind', 'a_new_strength', 'its identifier X matches.'],
])('the playground tells each kind and strength of a match in words: %s, %s', (kind, strength, sentence) => {
  expect(sentenceOf(kind, strength)).toBe(sentence);
});
