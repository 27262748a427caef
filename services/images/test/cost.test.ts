import * as simpleIcons from 'simple-icons';
import { describe, expect, it } from 'vitest';
import { isSurelyCheap } from '../src/ingest/ingest.ts';
import { readSvg } from '../src/svg/read-svg.ts';

const isCheap = (inside: string) => {
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512" viewBox="0 0 9 9">${inside}</svg>`;
  return isSurelyCheap(readSvg(Buffer.from(text)), text.length);
};
const rect = '<rect width="9" height="9"/>';

describe('a drawing is surely cheap', () => {
  it('if it consists of a few shapes', () => {
    expect(
      isCheap(`<g fill="#c33" transform="scale(.5)">${rect}<path d="M0 0h9v9z" stroke="#000"/></g>`),
    ).toBe(true);
  });

  it('if it is one of nearly all icons of simple-icons', () => {
    const icons = Object.values(simpleIcons).flatMap((icon) => ('path' in icon ? [icon.path] : []));
    const cheap = icons.filter((path) => isCheap(`<path d="${path}" fill="#c33" color="#c33"/>`));
    expect(cheap.length / icons.length).toBeGreaterThan(0.98);
  });
});

it.each([
  ['many elements', rect.repeat(101)],
  ['much text', `<path d="M${' 1'.repeat(10_000)}"/>`],
  ['a filter', '<filter id="f"><feGaussianBlur stdDeviation="1"/></filter>'],
  ['a mask', `<mask id="m">${rect}</mask>`],
  ['a clip path', `<clipPath id="c">${rect}</clipPath>`],
  ['a pattern', `<pattern id="p">${rect}</pattern>`],
  ['a gradient', '<linearGradient id="l"><stop offset="1"/></linearGradient>'],
  ['text', '<text>A</text>'],
  ['a use', '<use href="#a"/>'],
  ['a reference', '<rect fill="url(#p)"/>'],
  ['a style', '<rect style="opacity:.5"/>'],
  ['a style sheet', '<style>rect{opacity:.5}</style>'],
  ['a transparent group', `<g opacity=".5">${rect}</g>`],
  ['dashes', '<rect stroke-dasharray=".001"/>'],
])('a drawing with %s is not surely cheap', (_, inside) => {
  expect(isCheap(inside)).toBe(false);
});
