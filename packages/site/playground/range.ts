import { element } from '@brand-data/client/source/dom';
import { numberText } from './figures.ts';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT, MARGIN] = [300, 24, 8];

/** Returns the 52-week range as a line with the price on it. Undefined if the range does not have the form "low-high". */
export function rangeView(range: string, price: number | undefined): HTMLElement | undefined {
  const [, low = '', high = ''] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(range) ?? [];
  const [from, to] = [Number(low), Number(high)];
  if (low === '' || to <= from) return undefined;
  const isInside = price !== undefined && price >= from && price <= to;
  const label = `52-week range: ${numberText(from)} to ${numberText(to)}${isInside ? `, price ${numberText(price)}` : ''}`;
  const drawing = shape('svg', {
    class: 'range',
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': label,
  });
  const y = HEIGHT / 2;
  const placeOf = (value: number) => MARGIN + ((WIDTH - 2 * MARGIN) * (value - from)) / (to - from);
  const line = (x: number, kind: string) =>
    shape('line', { class: kind, x1: String(MARGIN), y1: String(y), x2: String(x), y2: String(y) });
  drawing.append(line(WIDTH - MARGIN, 'span'));
  if (isInside) {
    const x = placeOf(price);
    drawing.append(
      line(x, 'part'),
      shape('circle', { class: 'price', cx: String(x), cy: String(y), r: '6' }),
    );
  }
  const ends = element(
    'div',
    { class: 'ends', 'aria-hidden': 'true' },
    element('span', {}, numberText(from)),
    element('span', {}, '52-week range'),
    element('span', {}, numberText(to)),
  );
  return element('div', { class: 'range-box' }, drawing, ends);
}

function shape(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(SVG, name) as SVGElement;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}
