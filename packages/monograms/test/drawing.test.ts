import { drawMonogram, lettersOf, monogramOf, needsFont } from '@brand-data/monograms';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OUTLINES } from '../src/gen/outlines.ts';

const colour = '#006cd3';
const PAIRED = [...OUTLINES.keys()].filter((letter) => lettersOf(`${letter}${letter}`).length === 2);

/** Returns the box of the outlines' ink, read from the drawing: its paths' points, moved and scaled as its groups say. */
function inkOf(letters: string): { left: number; right: number; top: number; bottom: number } {
  const drawing = drawMonogram({ letters, colour });
  const group = /<g fill="#fff" transform="translate\((\S+) (\S+)\) scale\((\S+)\)">/.exec(drawing);
  const [x, y, scale] = (group?.slice(1) ?? []).map(Number) as [number, number, number];
  const points = [...drawing.matchAll(/<path (?:transform="translate\((\S+)\)" )?d="([^"]+)"/g)].flatMap(
    ([, shift = '0', path = '']) =>
      pointsOf(path).map(([px, py]) => [x + (px + Number(shift)) * scale, y + py * scale] as const),
  );
  const [xs, ys] = [points.map(([px]) => px), points.map(([, py]) => py)];
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

/** Returns all points of a path of relative commands, also the curves' control points. */
function pointsOf(path: string): [number, number][] {
  let [x, y, startX, startY] = [0, 0, 0, 0];
  const points: [number, number][] = [];
  for (const [, command = '', text = ''] of path.matchAll(/([a-zA-Z])([^a-zA-Z]*)/g)) {
    const numbers = (text.match(/-?\d+/g) ?? []).map(Number);
    if (command === 'z') [x, y] = [startX, startY];
    const pairs =
      command === 'h' ? [[numbers[0] ?? 0, 0]] : command === 'v' ? [[0, numbers[0] ?? 0]] : pairsOf(numbers);
    for (const [dx = 0, dy = 0] of pairs) points.push([x + dx, y + dy]);
    const [dx = 0, dy = 0] = pairs.at(-1) ?? [];
    [x, y] = [x + dx, y + dy];
    if (command === 'M' || command === 'm') [startX, startY] = [x, y];
  }
  return points;
}

function pairsOf(numbers: readonly number[]): number[][] {
  return Array.from({ length: numbers.length / 2 }, (_, index) => numbers.slice(index * 2, index * 2 + 2));
}

const outlined = fc.oneof(
  fc.constantFrom(...OUTLINES.keys()),
  fc.tuple(fc.constantFrom(...PAIRED), fc.constantFrom(...PAIRED)).map((pair) => lettersOf(pair.join(' '))),
);

describe('the letters in the drawing', () => {
  test.each([...OUTLINES.keys(), 'WW', 'MM', 'ЩЩ', 'II', 'ÇĞ', 'ÅÅ', 'שש', 'ԴԲ'])(
    '%s stay clear of the edges and the corners of the plate',
    (letters) => {
      const { left, right, top, bottom } = inkOf(letters);
      expect(left).toBeGreaterThanOrEqual(75);
      expect(right).toBeLessThanOrEqual(512 - 75);
      expect(top).toBeGreaterThanOrEqual(50);
      expect(bottom).toBeLessThanOrEqual(512 - 50);
    },
  );

  test('stand in the middle', () =>
    fc.assert(
      fc.property(outlined, (letters) => {
        const { left, right, top, bottom } = inkOf(letters);
        expect(Math.abs((left + right) / 2 - 256)).toBeLessThan(0.6);
        // Accents and tails stand out of the line of capitals, which is in the middle.
        expect(Math.abs((top + bottom) / 2 - 256)).toBeLessThan(/^[0-9A-Z]+$/.test(letters) ? 18 : 45);
      }),
    ));

  test('are large enough to read in 32 pixels', () =>
    fc.assert(
      fc.property(outlined, (letters) => {
        const { top, bottom } = inkOf(letters);
        expect(bottom - top).toBeGreaterThan(letters.length > 1 ? 90 : 110);
      }),
    ));

  test('are outlines in the alphabets with capitals, and in Hebrew, Arabic, Thai and Devanagari', () => {
    const names = [
      'Google',
      'Östberg',
      'Εθνική',
      'Газпром',
      'Դավիթ',
      'ბანკი',
      'בנק',
      'راجحي',
      'ธนาคาร',
      'टाटा',
      '3M',
    ];
    for (const name of names) expect(needsFont(monogramOf({ id: 'acme', name })), name).toBe(false);
  });

  test('are in the order in which they are read: Hebrew from the right', () => {
    const widthOf = (letters: string) =>
      Number(/translate\((\d+)\)" d/.exec(drawMonogram({ letters, colour }))?.[1]);
    const advanceOf = (letter: string) => OUTLINES.get(letter)?.[4];
    expect(widthOf('LM')).toBe(advanceOf('L'));
    expect(widthOf('נש')).toBe(advanceOf('ש'));
  });
});

describe('the drawing', () => {
  test('is well-formed, has no reference and the same text each time, for every name', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(32, 64, 128, 256, 512), (name, size) => {
        const shown = monogramOf({ id: 'acme', name });
        const drawing = drawMonogram(shown, size);
        expect(drawing).toBe(drawMonogram({ ...shown }, size));
        expect(drawing).toMatch(
          new RegExp(`^<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" `),
        );
        expect(drawing).toMatch(/^(?:<[^<>]+>[^<>&]{0,2})+$/u);
        expect(drawing).not.toMatch(/href|url\(|script|style|on\w+=/);
        expect(Buffer.byteLength(drawing)).toBeLessThan(4_096);
      }),
    ));
});
