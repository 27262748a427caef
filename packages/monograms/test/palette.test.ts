import { colourOf, PALETTE } from '@brand-data/monograms';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

/** Relative luminance of "#rrggbb" (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(PALETTE)('the colour %s', (colour) => {
  test.each(['#ffffff', '#111111'])('has a contrast of 3 or more against pages in %s', (page) => {
    expect(contrast(colour, page)).toBeGreaterThanOrEqual(3);
  });

  test('has a contrast of 4.5 or more against the white letters', () => {
    expect(contrast(colour, '#ffffff')).toBeGreaterThanOrEqual(4.5);
  });
});

test('each colour is in the palette once', () => {
  expect(new Set(PALETTE).size).toBe(PALETTE.length);
});

test('an id has the same colour always, and ids use the whole palette evenly', () => {
  const ids = Array.from({ length: 8_000 }, (_, index) => `company-${index}`);
  const uses = new Map<string, number>(PALETTE.map((colour) => [colour, 0]));
  for (const id of ids) uses.set(colourOf(id), (uses.get(colourOf(id)) ?? 0) + 1);
  expect(uses.size).toBe(PALETTE.length);
  for (const count of uses.values()) {
    expect(count).toBeGreaterThan(400);
    expect(count).toBeLessThan(600);
  }
});

test('every text is an id', () =>
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (id) => PALETTE.includes(colourOf(id)))));
