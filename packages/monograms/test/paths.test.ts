import { readFile } from 'node:fs/promises';
import {
  drawMonogram,
  lettersOf,
  type Monogram,
  monogramImages,
  monogramOf,
  monogramPath as monogramPathWith,
  PALETTE,
  parseMonogramPath as parseMonogramPathWith,
} from '@brand-data/monograms';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const KEY = 'the key of the examples';
const monogramPath = (monogram: Monogram) => monogramPathWith(monogram, KEY);
const parseMonogramPath = (path: string) => parseMonogramPathWith(path, [KEY]);

const monogram: fc.Arbitrary<Monogram> = fc.record({
  letters: fc
    .oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', 'HP', 'ÖP', '漢', 'את', 'ش', '3M', '\u{10400}\u{10401}', '\u{1e922}'),
    )
    .map((name) => lettersOf(name)),
  colour: fc.constantFrom(...PALETTE),
});

describe('the path of a monogram', () => {
  test('leads to the monogram, with any extension of an image and without one', () =>
    fc.assert(
      fc.property(monogram, fc.constantFrom('.svg', '.png', '.webp', '.avif', ''), (shown, extension) => {
        expect(parseMonogramPath(monogramPath(shown).replace('.svg', extension))).toEqual(shown);
      }),
    ));

  test('is drawn with a key that made it, also beside another one, and never without', () =>
    fc.assert(
      fc.property(monogram, fc.string(), fc.string(), (shown, key, other) => {
        const path = monogramPathWith(shown, key);
        expect(parseMonogramPathWith(path, [other, key])).toEqual(shown);
        expect(parseMonogramPathWith(path, [])).toBeUndefined();
        if (other !== key) expect(parseMonogramPathWith(path, [other])).toBeUndefined();
      }),
    ));

  test('is not one of version 0.1.0, which anybody could compute', () => {
    expect(parseMonogramPath('monograms/G-b94f1f-381e504080a9c287.svg')).toBeUndefined();
    expect(parseMonogramPath('monograms/GM-006cd3-99984d6ecd9377d8.svg')).toBeUndefined();
  });

  test('has only characters that no URL encodes', () =>
    fc.assert(
      fc.property(monogram, (shown) => {
        expect(monogramPath(shown)).toMatch(/^monograms\/[\w.-]+\.svg$/);
      }),
    ));

  test('is another one for other letters and for another colour', () =>
    fc.assert(
      fc.property(monogram, monogram, (one, other) => {
        const isSame = one.letters === other.letters && one.colour === other.colour;
        expect(monogramPath(one) === monogramPath(other)).toBe(isSame);
      }),
    ));

  test('is refused after any change', () =>
    fc.assert(
      fc.property(
        monogram,
        fc.nat(),
        fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
        (shown, at, by) => {
          const path = monogramPath(shown);
          const place = at % path.lastIndexOf('.');
          const changed = path.slice(0, place) + by + path.slice(place + 1);
          const parsed = parseMonogramPath(changed);
          if (changed === path) expect(parsed).toEqual(shown);
          else expect(parsed).toBeUndefined();
        },
      ),
    ));

  test.each([
    ['', 'nothing'],
    ['monograms/', 'no file'],
    ['monograms/G.svg', 'no colour and no mark'],
    ['monograms/G-006cd3.svg', 'no mark'],
    ['monograms/G-006cd3-0000000000000000.svg', 'a wrong mark'],
    [pathWith({ letters: 'G', colour: '#ffffff' }), 'a colour that is not in the palette'],
    [pathWith({ letters: 'FOO', colour: '#006cd3' }), 'three letters'],
    [pathWith({ letters: 'a', colour: '#006cd3' }), 'a small letter'],
    [pathWith({ letters: '🍎', colour: '#006cd3' }), 'a sign that is no letter'],
    [pathWith({ letters: '漢字', colour: '#006cd3' }), 'two letters of a script that gives one'],
    [pathWith({ letters: '"/><script>', colour: '#006cd3' }), 'markup'],
    ['monograms/u110000-006cd3-0000000000000000.svg', 'a code point beyond Unicode'],
    ['monograms/ud800-006cd3-0000000000000000.svg', 'half a character'],
    [`${monogramPath({ letters: 'G', colour: '#006cd3' })}?size=64`, 'a query'],
    [`x/${monogramPath({ letters: 'G', colour: '#006cd3' })}`, 'another folder'],
    [monogramPath({ letters: 'G', colour: '#006cd3' }).replace('.svg', '.gif'), 'another extension'],
    [`${monogramPath({ letters: 'G', colour: '#006cd3' })}.png`, 'two extensions'],
    [
      monogramPath({ letters: 'G', colour: '#006cd3' }).replace('/G-', '/u47-'),
      'an ASCII letter as a code point',
    ],
  ])('is never %s (%s)', (path) => {
    expect(parseMonogramPath(path)).toBeUndefined();
  });

  test('refuses any other text without throwing', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `monograms/${text}`),
          fc.webPath(),
        ),
        (text) => {
          expect(parseMonogramPath(text)).toBeUndefined();
        },
      ),
    ));

  test('that the page and the docstring show leads to its monogram', async () => {
    for (const file of ['../README.md', '../src/paths.ts']) {
      const shown = (await readFile(new URL(file, import.meta.url), 'utf8')).match(
        /monograms\/\w+-[0-9a-f]{6}-[0-9a-f]{16}\.svg/,
      );
      expect(parseMonogramPath(shown?.[0] ?? '')).toEqual({ letters: 'GM', colour: '#006cd3' });
    }
  });

  // Records in caches and in other systems hold these paths. If a new drawing changes them, the service must go on drawing the old
  // ones, as long as answers with them may be cached.
  test('is the same in every release', () => {
    expect(
      ['Google', 'Bank of America', 'Österreichische Post', 'בנק הפועלים', '漢', '!'].map((name) =>
        monogramPath(monogramOf({ id: 'acme', name })),
      ),
    ).toMatchInlineSnapshot(`
      [
        "monograms/G-b94f1f-4a0e1ae017dc792d.svg",
        "monograms/BA-b94f1f-79b3c8a2eb21ce09.svg",
        "monograms/ud6.50-b94f1f-8cb33536cb2d450e.svg",
        "monograms/u5d1.5d4-b94f1f-b3bee632f738e4de.svg",
        "monograms/u6f22-b94f1f-29a9871583805a97.svg",
        "monograms/sign-b94f1f-4b3e817c78c24eea.svg",
      ]
    `);
  });
});

describe('the images of a monogram', () => {
  test('state the width, the height and the bytes of what their paths lead to', () =>
    fc.assert(
      fc.property(monogram, (shown) => {
        const { big, small } = monogramImages(shown, KEY);
        expect(small.path).toBe(`${big.path}?size=64`);
        for (const { path, width, height, format, sizeKb } of [big, small]) {
          const found = parseMonogramPath(path.split('?')[0] ?? '');
          const drawing = drawMonogram(found ?? shown, width);
          expect(found).toEqual(shown);
          expect(drawing).toMatch(new RegExp(`^<svg [^>]*width="${width}" height="${height}"`));
          expect(format).toBe('svg');
          expect(sizeKb).toBe(Math.round((Buffer.byteLength(drawing) / 1_024) * 100) / 100);
        }
      }),
    ));
});

/** Returns the path of something that no name leads to, with the right mark of its drawing. */
function pathWith(shown: { letters: string; colour: string }): string {
  return monogramPath(shown as Monogram);
}
