/**
 * Contrast, as a viewer of a page sees it.
 *
 * The contrast between two colours is WCAG's. The contrast of a picture with a page is measured on what is painted there. For each
 * painted pixel we ask which contrast a viewer's eye must cross, on the easiest way from the page to this pixel. White letters
 * on a blue square stand behind the square's contrast, so they are as readable as on any page. White letters beside the square
 * stand directly on the page, and are lost if the page is white.
 *
 * The contrast of the picture is the one that `SHARE` of its painted area reaches.
 */

/** Red, green and blue, each from 0 to 255. */
export type Rgb = readonly [number, number, number];

/** Pixels with red, green, blue and alpha, one byte each, row by row. Colours are not multiplied by alpha. */
export interface Pixels {
  data: Uint8Array;
  width: number;
  height: number;
}

/** The contrast that a picture must have. WCAG 2.2 asks for it of graphics (1.4.11) and of large text (1.4.3). */
export const READABLE = 3;

/**
 * The part of the painted area that must be readable. The other twentieth leaves room for small details, such as a highlight or
 * the sign of a trade mark. One letter of a word of ten is more than that.
 */
const SHARE = 0.95;

/** Colours this near to each other, in each channel, are the same background. JPEG changes colours that much. */
const NEAR = 20;
/** Steps of contrast that are told apart. */
const STEPS = 32;

/** A picture that paints less than this number of pixels paints nothing. */
const FEWEST = 4;

const LINEAR = Float64Array.from({ length: 256 }, (_, channel) => {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

/** WCAG's relative luminance, from 0 to 1. */
function luminance(red: number, green: number, blue: number): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(channel: number): number {
  return LINEAR[Math.round(channel)] ?? 0;
}

/** WCAG's contrast ratio of two colours, from 1 to 21. */
export function contrastOf(one: Rgb, other: Rgb): number {
  return ratio(luminance(...one), luminance(...other));
}

function ratio(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** The contrast of a picture with the page around it, rounded down to a 32nd. Undefined if the picture paints nothing. */
export function contrastOn(pixels: Pixels, page: Rgb): number | undefined {
  const weights = paintedWeights(pixels);
  const reached = reachedContrasts(contrastSteps(pixels, page), pixels.width, pixels.height);
  const areas = new Float64Array(21 * STEPS + 1);
  let total = 0;
  // A loop over `entries` would allocate for each pixel, which made most of an import's time.
  for (let index = 0; index < weights.length; index += 1) {
    const weight = weights[index] ?? 0;
    if (weight === 0) continue;
    const step = reached[index] ?? 0;
    areas[step] = (areas[step] ?? 0) + weight;
    total += weight;
  }
  if (total < FEWEST) return undefined;
  let below = 0;
  for (const [step, area] of areas.entries()) {
    below += area;
    if (below > total * (1 - SHARE)) return step / STEPS;
  }
  return 21;
}

/** For each pixel, the contrast of what is seen there with the page, in steps. */
function contrastSteps({ data }: Pixels, page: Rgb): Uint16Array {
  const pageLuminance = luminance(...page);
  const steps = new Uint16Array(data.length / 4);
  const stepOf = (colour: number) => Math.floor(ratio(colour, pageLuminance) * STEPS + 1e-9);
  const ofPage = stepOf(pageLuminance);
  for (let index = 0; index < steps.length; index += 1) {
    const at = index * 4;
    const alpha = data[at + 3] ?? 0;
    if (alpha === 0) {
      steps[index] = ofPage;
      continue;
    }
    const seen = (channel: 0 | 1 | 2) =>
      ((data[at + channel] ?? 0) * alpha + page[channel] * (255 - alpha)) / 255;
    steps[index] = stepOf(luminance(seen(0), seen(1), seen(2)));
  }
  return steps;
}

/**
 * For each pixel, the least contrast that must be crossed on a way from the page to it, the pixel's own included. The pixels are
 * visited in the order of this value, as water would fill them from the edges.
 */
function reachedContrasts(steps: Uint16Array, width: number, height: number): Uint16Array {
  const reached = new Uint16Array(steps.length);
  const seen = new Uint8Array(steps.length);
  const waiting: number[][] = Array.from({ length: 21 * STEPS + 2 }, () => []);
  const visit = (index: number, level: number) => {
    if (seen[index] === 1) return;
    seen[index] = 1;
    const own = Math.max(level, steps[index] ?? 0);
    reached[index] = own;
    waiting[own]?.push(index);
  };
  for (let x = 0; x < width; x += 1) {
    visit(x, 0);
    visit((height - 1) * width + x, 0);
  }
  for (let y = 0; y < height; y += 1) {
    visit(y * width, 0);
    visit(y * width + width - 1, 0);
  }
  for (const [level, indexes] of waiting.entries()) {
    for (let index = indexes.pop(); index !== undefined; index = indexes.pop()) {
      const x = index % width;
      if (x > 0) visit(index - 1, level);
      if (x < width - 1) visit(index + 1, level);
      if (index >= width) visit(index - width, level);
      if (index + width < steps.length) visit(index + width, level);
    }
  }
  return reached;
}

/**
 * How much each pixel counts: its alpha. A pixel with a more opaque neighbour is the soft edge of it and does not count. Nor does
 * the background of a picture that is opaque up to all its edges.
 */
function paintedWeights(pixels: Pixels): Float64Array {
  const { data, width, height } = pixels;
  const alpha = (x: number, y: number) =>
    x < 0 || y < 0 || x >= width || y >= height ? 0 : (data[(y * width + x) * 4 + 3] ?? 0);
  const weights = new Float64Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const own = alpha(x, y);
      if (own === 0) continue;
      // A small slope is part of a gradient.
      const limit = own + 4;
      const isEdge =
        own < 255 &&
        (alpha(x - 1, y) > limit ||
          alpha(x + 1, y) > limit ||
          alpha(x, y - 1) > limit ||
          alpha(x, y + 1) > limit ||
          alpha(x - 1, y - 1) > limit ||
          alpha(x + 1, y - 1) > limit ||
          alpha(x - 1, y + 1) > limit ||
          alpha(x + 1, y + 1) > limit);
      if (!isEdge) weights[y * width + x] = own / 255;
    }
  }
  const background = opaqueBackground(pixels);
  if (background === undefined) return weights;
  const mark = weights.map((weight, index) => (background[index] === 1 ? 0 : weight));
  // A picture of one colour throughout has no mark on it, and is looked at as a whole.
  return sum(mark) < FEWEST ? weights : mark;
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Marks the pixels of the background, if the picture's edges are opaque and of one colour. */
function opaqueBackground({ data, width, height }: Pixels): Uint8Array | undefined {
  const edge: number[] = [];
  for (let x = 0; x < width; x += 1) edge.push(x, (height - 1) * width + x);
  for (let y = 1; y < height - 1; y += 1) edge.push(y * width, y * width + width - 1);
  if (edge.some((index) => (data[index * 4 + 3] ?? 0) < 250)) return undefined;
  const colour = [0, 1, 2].map((channel) => median(edge.map((index) => data[index * 4 + channel] ?? 0)));
  const isNear = (index: number) =>
    colour.every((value, channel) => Math.abs((data[index * 4 + channel] ?? 0) - value) <= NEAR);
  const left = edge.filter(isNear);
  if (left.length < edge.length * 0.98) return undefined;
  const background = new Uint8Array(width * height);
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    if (background[index] === 1 || !isNear(index)) continue;
    background[index] = 1;
    const x = index % width;
    if (x > 0) left.push(index - 1);
    if (x < width - 1) left.push(index + 1);
    if (index >= width) left.push(index - width);
    if (index + width < width * height) left.push(index + width);
  }
  return background;
}

function median(values: number[]): number {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
