import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { soundKeys, soundKeysToRead, spellingDistance } from '../src/index.ts';

/** One consonant of each sound. */
const CONSONANTS = ['b', 'c', 'd', 'f', 'j', 'l', 'm', 'r', 's', 'x'];
/** Letters that can be typed by mistake. "h" is left out, since "ph" is one sound. */
const LETTERS = [...'abcdefgijklmnopqrstuvwxyz'];

/** Names of one to three words, in which no two consonants sound alike. */
const name = fc
  .tuple(
    fc.shuffledSubarray(CONSONANTS, { minLength: 2 }),
    fc.infiniteStream(fc.constantFrom('a', 'e', 'io', 'u', '', 'o ')),
  )
  .map(([consonants, vowels]) =>
    consonants
      .map((consonant) => consonant + (vowels.next().value ?? ''))
      .join('')
      .trim(),
  );
const mistake = fc.tuple(
  fc.constantFrom('omit', 'add', 'replace', 'double', 'exchange'),
  fc.nat(),
  fc.constantFrom(...LETTERS),
);

function mistyped(text: string, [kind, number, letter]: [string, number, string]): string {
  const at = number % text.length;
  const [before, own, after] = [text.slice(0, at), text.charAt(at), text.slice(at + 1)];
  if (own === ' ') return before + after;
  if (kind === 'omit') return before + after;
  if (kind === 'add') return before + letter + own + after;
  if (kind === 'replace') return before + letter + after;
  if (kind === 'double') return before + own + own + after;
  return before + after.charAt(0) + own + after.slice(1);
}

describe('the keys of a name', () => {
  test('are found from the name with any one mistake', () => {
    fc.assert(
      fc.property(name, mistake, (name, mistake) => {
        const text = mistyped(name, mistake);
        const keys = soundKeys(name);
        expect(
          soundKeysToRead(text).some((key) => keys.includes(key)),
          text,
        ).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('are two short ones, and a text has at most seven to read', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const keys = soundKeys(text);
        expect(keys.length).toBeLessThanOrEqual(2);
        for (const key of keys) expect([...key].length).toBeLessThanOrEqual(10);
        expect(soundKeysToRead(text).length).toBeLessThanOrEqual(7);
        for (const key of keys) expect(key.isWellFormed() || !text.isWellFormed()).toBe(true);
      }),
    );
  });

  test('are none for a text without letters and digits', () => {
    expect(soundKeys('')).toEqual([]);
    expect(soundKeysToRead('')).toEqual([]);
  });

  test.each([
    ['vowels', 'mcdonalds', 'macdenolds'],
    ['doubled letters', 'google', 'gogglle'],
    ['spaces', 'coca cola', 'cocacola'],
    ['consonants that people confuse', 'pfizer', 'pfiser'],
    ['"ph" and "f"', 'vodafone', 'vodaphone'],
    ['Cyrillic vowels', 'газпром', 'гозпрам'],
  ])('do not depend on %s', (_, name, text) => {
    expect(soundKeysToRead(text)).toEqual(expect.arrayContaining(soundKeys(name)));
  });
});

describe('the distance of two spellings', () => {
  test('is symmetric, and zero only for equal texts', () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(spellingDistance(a, b, 100)).toBe(spellingDistance(b, a, 100));
        expect(spellingDistance(a, b, 100) === 0).toBe(a === b);
      }),
    );
  });

  test('is at most one and a half for one mistake', () => {
    fc.assert(
      fc.property(name, mistake, (name, mistake) => {
        expect(spellingDistance(name, mistyped(name, mistake), 2)).toBeLessThanOrEqual(1.5);
      }),
    );
  });

  test('is infinite above the limit, and the same for every limit below which it is', () => {
    fc.assert(
      fc.property(name, name, fc.integer({ min: 0, max: 12 }), (a, b, halves) => {
        const [most, distance] = [halves / 2, spellingDistance(a, b, 100)];
        expect(spellingDistance(a, b, most)).toBe(distance > most ? Number.POSITIVE_INFINITY : distance);
      }),
    );
  });

  test.each([
    ['apple', 'aple', 0.5],
    ['tesla', 'telsa', 1],
    ['toyota', 'toyoda', 0.5],
    ['starbucks', 'starbuks', 1],
    ['nestle', 'nestel', 1],
    ['sony', 'soni', 0.5],
    ['mars', 'cars', 1.5],
  ])('of "%s" and "%s" is %d', (a, b, distance) => {
    expect(spellingDistance(a, b, 3)).toBe(distance);
  });
});
