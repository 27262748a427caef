/**
 * Contrast, as a viewer of a page sees it. Between two colours it is WCAG's. For a picture we ask of each painted pixel which
 * contrast a viewer's eye must cross, on the easiest way from the page to this pixel. White letters on a blue square stand behind
 * the square's contrast, so they are as readable as on any page. White letters beside the square stand directly on the page, and
 * are lost if the page is white. The contrast of the picture is the one that `SHARE` of its painted area reaches.
 */
import type { Pixels } from '../drawing/draw.ts';

/** Red, green and blue, each from 0 to 255. */
export type Rgb = readonly [number, number, number];

/** The contrast that a picture must have. WCAG 2.2 asks for it of graphics (1.4.11) and of large text (1.4.3). */
export const READABLE = 3;

/** The other twentieth leaves room for small details, such as the sign of a trade mark. One letter of ten is more than that. */
const SHARE = 0.95;

/** Colours this near to each other, in each channel, are the same background. JPEG changes colours that much. */
const NEAR = 20;
/** How many steps of contrast are distinguished. */
const STEPS = 32;

/** A picture that paints less than four opaque pixels paints nothing. */
const FEWEST = 4 * 255;

const LINEAR = Float64Array.from({ length: 256 }, (_, channel) => {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

/** WCAG's relative luminance, from 0 to 1. */
function luminance(red: number, green: number, blue: number): number {
  const linear = (channel: number) => LINEAR[Math.round(channel)] ?? 0;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** WCAG's contrast ratio of two colours, from 1 to 21. */
export function contrastOf(one: Rgb, other: Rgb): number {
  return ratio(luminance(...one), luminance(...other));
}

function ratio(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** Returns the contrast of a picture with the page around it, rounded down to a 32nd. Undefined if the picture paints nothing. */
export function contrastOn(pixels: Pixels, page: Rgb): number | undefined {
  const { weights, total } = paintOf(pixels);
  if (total < FEWEST) return undefined;
  const reached = reachedContrasts(contrastSteps(pixels, page), pixels.width, pixels.height);
  const areas = new Float64Array(21 * STEPS + 1);
  // A loop over `entries` would allocate for each pixel, which made most of an import's time.
  for (let index = 0; index < weights.length; index += 1) {
    const step = reached[index] ?? 0;
    areas[step] = (areas[step] ?? 0) + (weights[index] ?? 0);
  }
  let below = 0;
  for (const [step, area] of areas.entries()) {
    below += area;
    if (below > total * (1 - SHARE)) return step / STEPS;
  }
  return 21;
}

/**
 * Checks whether the contrast of a picture with the page is `READABLE` or more, as `contrastOn` measures it. Undefined if the
 * picture paints nothing. For most pictures the single pixels decide, and no way from the page has to be looked for.
 */
export function isReadableOn(pixels: Pixels, page: Rgb): boolean | undefined {
  const { weights, total } = paintOf(pixels);
  if (total < FEWEST) return undefined;
  const steps = contrastSteps(pixels, page);
  const most = total * (1 - SHARE);
  // The contrast on the way to a pixel is at least the pixel's own, and at most the largest of the picture.
  if (areaBelow(steps, weights) <= most) return true;
  if (steps.every((step) => step < READABLE * STEPS)) return false;
  return areaBelow(reachedContrasts(steps, pixels.width, pixels.height), weights) <= most;
}

/** Returns the painted area of the pixels whose contrast is not readable. */
function areaBelow(steps: Uint16Array, weights: Uint8Array): number {
  let area = 0;
  for (let index = 0; index < steps.length; index += 1)
    if ((steps[index] ?? 0) < READABLE * STEPS) area += weights[index] ?? 0;
  return area;
}

/** Returns for each pixel the contrast of what is seen there with the page, in steps. */
function contrastSteps({ data }: Pixels, page: Rgb): Uint16Array {
  const pageLuminance = luminance(...page);
  const steps = new Uint16Array(data.length / 4);
  const stepOf = (colour: number) => Math.floor(ratio(colour, pageLuminance) * STEPS + 1e-9);
  const ofPage = stepOf(pageLuminance);
  let [red, green, blue, alpha] = [0, 0, 0, 0];
  let step = ofPage;
  const seen = (value: number, behind: number) => (value * alpha + behind * (255 - alpha)) / 255;
  for (let index = 0, at = 0; index < steps.length; index += 1, at += 4) {
    // Most pixels are like the one before them.
    if (data[at] !== red || data[at + 1] !== green || data[at + 2] !== blue || data[at + 3] !== alpha) {
      [red, green, blue, alpha] = [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0, data[at + 3] ?? 0];
      step =
        alpha === 0
          ? ofPage
          : stepOf(luminance(seen(red, page[0]), seen(green, page[1]), seen(blue, page[2])));
    }
    steps[index] = step;
  }
  return steps;
}

/**
 * Returns for each pixel the least contrast that must be crossed on a way from the page to it, the pixel's own included. The pixels
 * are visited in the order of this value, as water would fill them from the edges.
 */
function reachedContrasts(steps: Uint16Array, width: number, height: number): Uint16Array {
  const reached = new Uint16Array(steps.length);
  const seen = new Uint8Array(steps.length);
  // The pixels that wait at a level are a list: `first` has its first pixel, and `next` the pixel after each, or -1.
  const first = new Int32Array(21 * STEPS + 2).fill(-1);
  const next = new Int32Array(steps.length);
  const visit = (index: number, level: number) => {
    if (seen[index] === 1) return;
    seen[index] = 1;
    const own = Math.max(level, steps[index] ?? 0);
    reached[index] = own;
    next[index] = first[own] ?? -1;
    first[own] = index;
  };
  for (let x = 0; x < width; x += 1) {
    visit(x, 0);
    visit((height - 1) * width + x, 0);
  }
  for (let y = 0; y < height; y += 1) {
    visit(y * width, 0);
    visit(y * width + width - 1, 0);
  }
  for (let level = 0; level < first.length; level += 1) {
    for (let index = first[level] ?? -1; index >= 0; index = first[level] ?? -1) {
      first[level] = next[index] ?? -1;
      const x = index % width;
      if (x > 0) visit(index - 1, level);
      if (x < width - 1) visit(index + 1, level);
      if (index >= width) visit(index - width, level);
      if (index + width < steps.length) visit(index + width, level);
    }
  }
  return reached;
}

/** How much each pixel counts, from 0 to 255, and the sum, for pictures that are measured on several pages. */
const paints = new WeakMap<Pixels, { weights: Uint8Array; total: number }>();

function paintOf(pixels: Pixels) {
  const known = paints.get(pixels);
  if (known !== undefined) return known;
  const weights = paintedWeights(pixels);
  const paint = { weights, total: sum(weights) };
  paints.set(pixels, paint);
  return paint;
}

/**
 * Returns how much each pixel counts: its alpha. A pixel with a more opaque neighbour is the soft edge of it and does not count.
 * Nor does the background of a picture that is opaque up to all its edges.
 */
function paintedWeights(pixels: Pixels): Uint8Array {
  const { data, width, height } = pixels;
  const alpha = (x: number, y: number) =>
    x < 0 || y < 0 || x >= width || y >= height ? 0 : (data[(y * width + x) * 4 + 3] ?? 0);
  const weights = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const own = data[(y * width + x) * 4 + 3] ?? 0;
      if (own === 0) continue;
      // A small slope is part of a gradient.
      const limit = own + 4;
      // A loop over a list of the neighbours takes a quarter longer for a picture with soft edges.
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
      if (!isEdge) weights[y * width + x] = own;
    }
  }
  const background = opaqueBackground(pixels);
  if (background === undefined) return weights;
  const mark = weights.map((weight, index) => (background[index] === 1 ? 0 : weight));
  // A picture of one colour throughout has no mark on it, and is looked at as a whole.
  return sum(mark) < FEWEST ? weights : mark;
}

function sum(values: Uint8Array): number {
  let total = 0;
  for (let index = 0; index < values.length; index += 1) total += values[index] ?? 0;
  return total;
}

/** Marks the pixels of the background, if the picture's edges are opaque and of one colour. */
function opaqueBackground({ data, width, height }: Pixels): Uint8Array | undefined {
  // Most pictures have transparent corners.
  if ((data[3] ?? 0) < 250) return undefined;
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
