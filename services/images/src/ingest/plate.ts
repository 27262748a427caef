import sharp from 'sharp';
import { decoded, type Pixels, pixelsOf } from '../drawing/draw.ts';
import type { Form } from '../image/image.ts';
import { readSvg } from '../svg/read-svg.ts';
import { scaled } from '../svg/svg-size.ts';
import { SVG_NAMESPACE, svgElement } from '../svg/svg-tree.ts';
import { hexOf } from './colours.ts';
import { contrastOn, isReadableOn, type Rgb } from './contrast.ts';
import { encodeRaster } from './raster.ts';
import { svgForm } from './svg.ts';

const GREYS = {
  light: [17, 51, 85, 118],
  dark: [255, 221, 170, 128],
} as const;

/**
 * Returns the colour of the plate for a page: the first on which the mark is readable. Nearly black on a light page and white on a
 * dark one come first, as designers use them. Each grey stands out from its page by itself.
 */
export function plateColour(mark: Pixels, theme: 'light' | 'dark'): Rgb {
  const plates = GREYS[theme].map((grey): Rgb => [grey, grey, grey]);
  const readable = plates.find((plate) => isReadableOn(mark, plate));
  if (readable !== undefined) return readable;
  const contrasts = plates.map((plate) => contrastOn(mark, plate) ?? 0);
  return plates[contrasts.indexOf(Math.max(...contrasts))] ?? [255, 255, 255];
}

/** Puts the mark, with room around it, on a plate with rounded corners. The longer side stays within that of the mark's form. */
export async function onPlate(form: Form, colour: Rgb): Promise<Form> {
  return form.format === 'svg' ? svgOnPlate(form, colour) : rasterOnPlate(form, colour);
}

/** Returns the room around a mark, and the radius of the corners. A wide word needs less above and below than a square sign. */
function measures({ width, height }: { width: number; height: number }) {
  const room = Math.round(0.06 * Math.max(width, height) + 0.1 * Math.min(width, height));
  return { room, radius: Math.round(1.2 * room), width: width + 2 * room, height: height + 2 * room };
}

function svgOnPlate(form: Form, colour: Rgb): Form {
  const mark = readSvg(form.bytes);
  const plate = measures(form);
  const size = scaled(plate, Math.max(form.width, form.height));
  // The mark becomes a drawing within the drawing, at its own place.
  const placed = new Map([['x', String(plate.room)], ['y', String(plate.room)], ...mark.attributes]);
  const root = svgElement('svg', { ...size, viewBox: `0 0 ${plate.width} ${plate.height}` }, [
    // Declared as a style, so that rules of the mark for all its shapes do not reach the plate.
    svgElement('rect', {
      width: plate.width,
      height: plate.height,
      rx: plate.radius,
      style: `fill:${hexOf(colour)};fill-opacity:1;stroke:none;opacity:1`,
    }),
    { ...mark, attributes: placed },
  ]);
  return svgForm(root);
}

async function rasterOnPlate(form: Form, colour: Rgb): Promise<Form> {
  const longer = Math.max(form.width, form.height);
  const plate = measures(form);
  const size = scaled(plate, longer);
  const scale = size.width / plate.width;
  const room = Math.round(plate.room * scale);
  const [width, height] = [size.width, size.height].map((side) => Math.max(1, side - 2 * room));
  const mark = await decoded(form.bytes).resize(width, height, { fit: 'fill' }).png().toBuffer();
  const rect = `<svg xmlns="${SVG_NAMESPACE}" width="${size.width}" height="${size.height}"><rect width="100%" height="100%" rx="${plate.radius * scale}" fill="${hexOf(colour)}"/></svg>`;
  const plated = sharp(Buffer.from(rect)).composite([{ input: mark, left: room, top: room }]);
  return encodeRaster(await pixelsOf(plated));
}
