import sharp from 'sharp';

/** A part of a screenshot, in pixels. */
export interface Cell {
  left: number;
  top: number;
  side: number;
}

/** What a viewer sees of a logo. */
export interface SeenLogo {
  /** The part of the cell that differs from the page, 0 to 1. */
  painted: number;
  /** The part of the painted area that stands out from the page, 0 to 1. Soft edges are left out. */
  readable: number;
  /** The part of the cell that is white, or nearly so, 0 to 1. */
  white: number;
}

type Rgb = readonly [number, number, number];

/** The pixels of a page as the browser painted them: red, green and blue, one byte each, row by row. */
type Pixels = Awaited<ReturnType<typeof pixelsIn>>;

/** Reads a screenshot without losses. */
export async function pixelsIn(png: Buffer) {
  const raw = sharp(png).removeAlpha().raw();
  const { data, info } = await raw.toBuffer({ resolveWithObject: true });
  return { data, width: info.width };
}

/** The least contrast of graphics with what is around them (WCAG 2.2, 1.4.11). */
const READABLE = 3;
/** Less than this contrast with the page is the page, as the eye and a compressed picture see it. */
const VISIBLE = 1.1;
const WHITE = [255, 255, 255] as const;

/**
 * Measures a logo by the pixels on the page. What has a contrast of 3 or more stands out, and so does all that it encloses: letters
 * on a plate are seen against the plate.
 */
export function seeLogo(pixels: Pixels, cell: Cell, page: Rgb): SeenLogo {
  const { side } = cell;
  const colours = coloursOf(pixels, cell);
  const contrasts = Float64Array.from(colours, (colour) => contrastOf(colour, page));
  const outside = reachableFromEdge(side, (index) => (contrasts[index] ?? 1) < READABLE);
  let [inside, faint, soft, white] = [0, 0, 0, 0];
  for (const [index, contrast] of contrasts.entries()) {
    if (contrastOf(colours[index] ?? page, WHITE) < VISIBLE) white += 1;
    if (outside[index] === 0) inside += 1;
    else if (contrast < VISIBLE) continue;
    else if (touches(index, side, (near) => outside[near] === 0)) soft += 1;
    else faint += 1;
  }
  const area = side * side;
  return {
    painted: (inside + soft + faint) / area,
    readable: inside + faint === 0 ? 0 : inside / (inside + faint),
    white: white / area,
  };
}

function coloursOf({ data, width }: Pixels, { left, top, side }: Cell): Rgb[] {
  return Array.from({ length: side * side }, (_, index) => {
    const at = 3 * ((top + Math.floor(index / side)) * width + left + (index % side));
    return [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0];
  });
}

/** Marks with 1 the pixels that a way over passable pixels connects with the edge of the square. */
function reachableFromEdge(side: number, isPassable: (index: number) => boolean): Uint8Array {
  const reached = new Uint8Array(side * side);
  const waiting: number[] = [];
  for (let step = 0; step < side; step += 1)
    waiting.push(step, (side - 1) * side + step, step * side, step * side + side - 1);
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (reached[index] === 1 || !isPassable(index)) continue;
    reached[index] = 1;
    const x = index % side;
    if (x > 0) waiting.push(index - 1);
    if (x < side - 1) waiting.push(index + 1);
    if (index >= side) waiting.push(index - side);
    if (index < side * (side - 1)) waiting.push(index + side);
  }
  return reached;
}

/** Whether a pixel around this one, also at its corners, has the property. */
function touches(index: number, side: number, has: (near: number) => boolean): boolean {
  const [x, y] = [index % side, Math.floor(index / side)];
  for (let ny = Math.max(y - 1, 0); ny <= Math.min(y + 1, side - 1); ny += 1)
    for (let nx = Math.max(x - 1, 0); nx <= Math.min(x + 1, side - 1); nx += 1)
      if (has(ny * side + nx)) return true;
  return false;
}

function contrastOf(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour
    .map((channel) => channel / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
