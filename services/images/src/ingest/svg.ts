import { drawPixels, type Pixels } from '../drawing/draw.ts';
import { type Form, Refused } from '../image/image.ts';
import { checkElements, checkReferences } from '../svg/expansion.ts';
import { MOST_SVG_BYTES, readSvg } from '../svg/read-svg.ts';
import { sanitizeSvg } from '../svg/sanitize-svg.ts';
import { type Box, statedBox, withSize } from '../svg/svg-size.ts';
import { SVG_NAMESPACE, type SvgElement } from '../svg/svg-tree.ts';
import { shortReason } from './raster.ts';

/** Reads a drawing and makes it safe, with the longer side in `longer` pixels. */
export async function readDrawing(bytes: Uint8Array, longer: number): Promise<Form> {
  return safeDrawing(bytes, longer).catch((error: unknown) => {
    // The stack has overflowed: the readers of CSS and of references recurse.
    throw error instanceof RangeError ? new Refused('the SVG is nested too deeply: simplify it') : error;
  });
}

async function safeDrawing(bytes: Uint8Array, longer: number): Promise<Form> {
  const given = readSvg(bytes);
  checkElements(given);
  // The stored drawing decides, and not the given file: escapes, duplicate ids and rules of style sheets are resolved in it.
  const root = readSvg(safeBytes(given));
  checkReferences(root);
  // The smallest box around what is drawn is found in two steps, each as exact as the pixels are.
  const box = statedBox(root) ?? (await inkBox(root, await inkBox(root, REGION)));
  return svgForm(withSize(root, box, longer));
}

/** Returns the sanitized drawing as it is stored. Its root states its width and height, in pixels. */
export function svgForm(root: SvgElement): Form {
  const [width = 0, height = 0] = ['width', 'height'].map((name) => Number(root.attributes.get(name)));
  const attributes = new Map([['xmlns', SVG_NAMESPACE], ...root.attributes]);
  return { format: 'svg', width, height, bytes: safeBytes({ ...root, attributes }) };
}

/** Returns the sanitized drawing. Its text can be longer than the file, and is refused if `readSvg` could not read it again. */
function safeBytes(root: SvgElement): Buffer {
  const bytes = Buffer.from(sanitizeSvg(root));
  if (bytes.length > MOST_SVG_BYTES)
    throw new Refused(
      `the SVG has ${bytes.length} bytes once it is made safe, and at most ${MOST_SVG_BYTES} are allowed: simplify it`,
    );
  return bytes;
}

/** The region in which a drawing without any size is looked for: its units are mostly pixels. */
const REGION: Box = { x: -1024, y: -1024, width: 4096, height: 4096 };

async function inkBox(root: SvgElement, region: Box): Promise<Box> {
  const attributes = new Map(root.attributes).set('preserveAspectRatio', 'none');
  const form = svgForm(withSize({ ...root, attributes }, region, 512));
  const pixels = await drawDrawing(form.bytes);
  const { x, y, width, height } = paintedBox(pixels);
  const unit = { x: region.width / pixels.width, y: region.height / pixels.height };
  const rounded = (value: number) => Math.round(value * 1000) / 1000;
  return {
    x: rounded(region.x + x * unit.x),
    y: rounded(region.y + y * unit.y),
    width: rounded(width * unit.x),
    height: rounded(height * unit.y),
  };
}

/** Draws an SVG, as `drawPixels` does. An SVG that librsvg cannot draw is refused. */
export function drawDrawing(bytes: Uint8Array, longer?: number): Promise<Pixels> {
  return drawPixels(bytes, longer).catch(asRefused);
}

/** Throws the refusal of an SVG whose drawing failed. */
export function asRefused(error: unknown): never {
  throw new Refused(`the SVG cannot be drawn (${shortReason(error)}): simplify it`);
}

function paintedBox({ data, width, height }: Pixels): Box {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if ((data[(y * width + x) * 4 + 3] ?? 0) < 64) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = y;
    }
  }
  if (right < 0) throw nothingDrawn();
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

export function nothingDrawn(): Refused {
  return new Refused('the picture shows nothing: draw something in its visible part');
}
