import type { Oklch, Rgb as UnitRgb } from 'culori';
import culori from 'culori/require';
import type { Pixels } from '../drawing/draw.ts';
import { COLOURS, replaceColours } from '../svg/css.ts';
import type { SvgElement } from '../svg/svg-tree.ts';
import { contrastOf, READABLE, type Rgb } from './contrast.ts';

const oklch = culori.converter('oklch');
const rgb = culori.converter('rgb');

/** A little more than what is asked for, so that rounding, and the loss of WebP and AVIF, do not fall below it. */
const AIM = READABLE + 0.1;
/** Below this chroma a colour is a grey. */
const GREY = 0.03;

/** Returns the colour of all that is painted, or undefined if there are several. Soft edges may differ a little. */
export function onlyColour({ data }: Pixels): Rgb | undefined {
  // The most opaque pixel has the truest colour.
  let [truest, most] = [0, 0];
  for (let at = 0; at < data.length && most < 255; at += 4) {
    const alpha = data[at + 3] ?? 0;
    if (alpha > most) [truest, most] = [at, alpha];
  }
  if (most === 0) return undefined;
  const [red = 0, green = 0, blue = 0] = data.subarray(truest, truest + 3);
  const differs = (value = 0, channel = 0, limit = 0) => Math.abs(value - channel) > limit;
  let [painted, others] = [0, 0];
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3] ?? 0;
    // Colours of faint pixels are rounded too much to be compared.
    if (alpha < 48) continue;
    painted += 1;
    const limit = 2 + 510 / alpha;
    if (
      differs(data[at], red, limit) ||
      differs(data[at + 1], green, limit) ||
      differs(data[at + 2], blue, limit)
    )
      others += 1;
  }
  return others <= painted / 1000 ? [red, green, blue] : undefined;
}

/**
 * Returns the nearest colour that is readable on the page. The hue is kept, and the lightness moves just as far as it must. A
 * grey becomes white or nearly black, as designers do it. A dark colour has little chroma, and would look dull with the same chroma
 * once it is lighter. On a dark page it therefore keeps its share of the chroma that the screen can show in its lightness and hue.
 */
export function readableColour(colour: Rgb, page: Rgb): Rgb {
  if (contrastOf(colour, page) >= READABLE) return colour;
  const isDarkPage = contrastOf(page, [255, 255, 255]) > contrastOf(page, [0, 0, 0]);
  const start = oklch({ mode: 'rgb', r: colour[0] / 255, g: colour[1] / 255, b: colour[2] / 255 });
  if (start.c < GREY) return isDarkPage ? [255, 255, 255] : [17, 17, 17];
  const share = isDarkPage ? Math.min(1, start.c / mostChroma(start)) : 0;
  const inLightness = (l: number) =>
    shown({ ...start, l, c: Math.max(start.c, share * mostChroma({ ...start, l })) });
  let near = start.l;
  let far = isDarkPage ? 1 : 0;
  for (let step = 0; step < 20; step += 1) {
    const middle = (near + far) / 2;
    if (contrastOf(inLightness(middle), page) >= AIM) far = middle;
    else near = middle;
  }
  return inLightness(far);
}

/** Returns the largest chroma that the screen can show in the lightness and the hue of a colour. */
function mostChroma(colour: Oklch): number {
  return culori.clampChroma({ ...colour, c: 0.4 }, 'oklch').c;
}

/** Returns the colour with as much of its chroma as the screen can show. */
function shown(colour: Oklch): Rgb {
  const { r, g, b }: UnitRgb = rgb(culori.clampChroma(colour, 'oklch'));
  const channel = (value: number) => Math.min(255, Math.max(0, Math.round(value * 255)));
  return [channel(r), channel(g), channel(b)];
}

export function hexOf(colour: Rgb): string {
  return `#${colour.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** Values of paint that are not colours, or take the colour from elsewhere. */
const NO_COLOUR =
  /^(none|transparent|inherit|initial|unset|currentcolor|context-fill|context-stroke)$|url\(/i;

/**
 * Returns the drawing with all its colours replaced by one. Masks keep their colours, because these decide what is transparent.
 * The caller has to compare the result with the original: CSS can give colours in ways that this function does not follow.
 */
export function recoloured(root: SvgElement, colour: string): SvgElement {
  const attributes = new Map(root.attributes);
  // An element that states no colour is black, in masks too.
  const original = attributes.get('fill') ?? '#000';
  if (!attributes.has('fill')) attributes.set('fill', colour);
  attributes.set('color', colour);
  const replace = (value: string) => (NO_COLOUR.test(value.trim()) ? value : colour);
  return replaced({ ...root, attributes }, replace, original);
}

function replaced(element: SvgElement, replace: (value: string) => string, original: string): SvgElement {
  if (element.name === 'mask')
    return { ...element, attributes: new Map([['fill', original], ...element.attributes]) };
  const attributes = new Map(element.attributes);
  for (const [name, value] of attributes) {
    if (COLOURS.has(name)) attributes.set(name, replace(value));
    if (name === 'style') attributes.set(name, replaceColours(value, 'declarationList', replace));
  }
  const children = element.children.map((child) => {
    if (typeof child !== 'string') return replaced(child, replace, original);
    return element.name === 'style' ? replaceColours(child, 'stylesheet', replace) : child;
  });
  return { ...element, attributes, children };
}
