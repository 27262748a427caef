import { converter } from 'culori';
import { expect, it } from 'vitest';
import { readableColour } from '../src/ingest/colours.ts';
import type { Rgb } from '../src/ingest/contrast.ts';
import { PAGES } from '../src/ingest/ingest.ts';

const oklch = converter('oklch');
const inOklch = ([r, g, b]: Rgb) => oklch({ mode: 'rgb', r: r / 255, g: g / 255, b: b / 255 });

it.each([
  ['the brown of UPS', [21, 4, 0], 0.1],
  ['the blue of Ford', [0, 39, 78], 0.12],
  ['the green of SUSE', [12, 50, 44], 0.07],
] as const)('%s becomes no dull one on a dark page', (_, colour, chroma) => {
  const readable = inOklch(readableColour(colour, PAGES.dark));
  expect(readable.c).toBeGreaterThan(chroma);
  expect(Math.abs((readable.h ?? 0) - (inOklch(colour).h ?? 0))).toBeLessThan(12);
});
