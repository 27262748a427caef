import { describe, expect, it } from 'vitest';
import { checkReferences } from '../src/svg/expansion.ts';
import { readSvg } from '../src/svg/read-svg.ts';
import { sanitizeSvg } from '../src/svg/sanitize-svg.ts';

const SVG = 'http://www.w3.org/2000/svg';
const rect = '<rect width="1" height="1"/>';
const black = '<rect width="1" height="1" fill="#000"/>';
const pattern = (id: string, inside: string) =>
  `<pattern id="${id}" width="1" height="1">${inside}</pattern>`;
const group = (attributes: string, inside: string) => `<g ${attributes}>${inside}</g>`;

function check(inside: string, attributes = ''): void {
  const text = `<svg xmlns="${SVG}" viewBox="0 0 9 9" ${attributes}>${inside}</svg>`;
  checkReferences(readSvg(Buffer.from(sanitizeSvg(readSvg(Buffer.from(text))))));
}

/** A pattern of 100 shapes, and shapes that together draw it 300 times. */
const costly = pattern('p', black.repeat(100));
const many = rect.repeat(300);
/** Patterns of ten shapes each, of which each shape takes the next pattern from around itself. */
const chain = Array.from({ length: 9 }, (_, number) =>
  group(`fill="url(#p${number + 1})"`, pattern(`p${number}`, rect.repeat(10))),
).join('');

describe('a drawing is refused if it draws too much', () => {
  it.each([
    ['each shape has the pattern', costly + rect.replace('/>', ' fill="url(#p)"/>').repeat(300)],
    ['a group has it for its shapes', costly + group('fill="url(#p)"', many)],
    ['a group has it as a stroke', costly + group('stroke="url(#p)"', many)],
    ['a group has it in its style', costly + group('style="fill:url(#p)"', many)],
    ['a group has it by a rule', `<style>.a{fill:url(#p)}</style>${costly}${group('class="a"', many)}`],
    ['a group around groups has it', costly + group('fill="url(#p)"', group('', group('id="a"', many)))],
    ['a use has it', `${costly}<defs>${group('id="a"', many)}</defs><use href="#a" fill="url(#p)"/>`],
    [
      'uses in a group draw the shapes',
      `${costly}<defs>${group('id="a"', rect.repeat(30))}</defs>${group('fill="url(#p)"', '<use href="#a"/>'.repeat(10))}`,
    ],
    ['patterns take patterns from around themselves', `${chain}<rect fill="url(#p0)"/>`],
    [
      'a shape says inherit',
      costly +
        group('fill="url(#p)"', group('fill="inherit"', rect.replace('/>', ' fill="inherit"/>').repeat(300))),
    ],
    [
      'a paint is none that a drawing program knows',
      costly + group('fill="url(#p)"', rect.replace('/>', ' fill="nocolour"/>').repeat(300)),
    ],
    [
      'a rule overrules the paints of the shapes',
      `<style>rect{fill:inherit}</style>${costly}${group('fill="url(#p)"', black.repeat(300))}`,
    ],
    [
      'a group has a marker for its paths',
      `<marker id="m">${black.repeat(100)}</marker>${group('marker-mid="url(#m)"', '<path d="M0 0h1h1h1h1"/>'.repeat(50))}`,
    ],
    [
      'the numbers of a path with a marker have nothing between them',
      `<marker id="m">${black.repeat(100)}</marker><path marker-mid="url(#m)" d="M0 0l${'.1.1'.repeat(300)}"/>`,
    ],
    [
      'a marker takes the pattern from its path',
      `${costly}<marker id="m"><path fill="context-fill" d="M0 0h1"/></marker><path fill="url(#p)" marker-mid="url(#m)" d="M0 0${'h1'.repeat(300)}"/>`,
    ],
    [
      'many shapes are blurred',
      `<filter id="f"><feGaussianBlur stdDeviation="0.03"/></filter>${rect.replace('/>', ' filter="url(#f)"/>').repeat(80)}`,
    ],
    [
      'many shapes are masked',
      `<mask id="f">${rect}</mask>${rect.replace('/>', ' mask="url(#f)"/>').repeat(200)}`,
    ],
  ])('%s', (_, inside) => {
    expect(() => check(inside)).toThrow(/draws more than 20000 elements/);
  });

  it('because a pattern takes itself from around itself', () => {
    expect(() => check(group('fill="url(#p)"', pattern('p', rect) + rect))).toThrow(/refers to itself/);
  });
});

describe('a drawing is taken', () => {
  const gradient =
    '<linearGradient id="l"><stop offset="0" stop-color="#f00"/><stop offset="1" stop-color="#00f"/></linearGradient>';
  const shadow = [
    'feFlood',
    'feColorMatrix',
    'feOffset',
    'feGaussianBlur',
    'feColorMatrix',
    'feBlend',
    'feBlend',
  ];
  it.each([
    [
      'a gradient in and for a group of a thousand shapes',
      group('fill="url(#l)"', gradient + rect.repeat(1000)),
    ],
    [
      'a pattern in the group that has it, in colours of its own',
      group('fill="url(#p)"', pattern('p', black) + many),
    ],
    [
      'shapes of colours of their own in a group with a pattern',
      costly + group('fill="url(#p)"', black.repeat(5000)),
    ],
    [
      'a clip path in the group whose pattern uses it',
      group(
        'fill="url(#p)"',
        `<clipPath id="c">${rect}</clipPath>${pattern('p', '<rect fill="#fff" clip-path="url(#c)"/>')}${many}`,
      ),
    ],
    [
      'twenty shadows, as drawing programs write them',
      Array.from(
        { length: 20 },
        (_, number) =>
          `<filter id="f${number}">${shadow.map((name) => `<${name}/>`).join('')}</filter>${group(`filter="url(#f${number})"`, rect)}`,
      ).join(''),
    ],
    [
      'arrows on lines',
      `<marker id="m"><path d="M0 0l9 9z"/></marker>${group('marker-end="url(#m)"', '<path d="M0 0h9" stroke="#000"/>'.repeat(500))}`,
    ],
  ])('%s', (_, inside) => {
    expect(() => check(inside)).not.toThrow();
  });
});
