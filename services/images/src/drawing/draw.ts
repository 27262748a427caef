import sharp, { type Sharp } from 'sharp';
import type { Form, Format } from '../image/image.ts';
import { readSvg } from '../svg/read-svg.ts';
import { resizeSvg, scaled } from '../svg/svg-size.ts';
import { SVG_NAMESPACE, type SvgElement, svgText } from '../svg/svg-tree.ts';
import { drawable } from './fonts.ts';

/** Pixels with red, green, blue and alpha, one byte each, row by row. Colours are not multiplied by alpha. */
export interface Pixels {
  data: Uint8Array;
  width: number;
  height: number;
}

/** Pixels of the longer side at which pictures are measured: quickly, and for pictures of fine lines. */
const MEASURED = 128;
export const MEASURED_FINELY = 512;

/** A picture decodes at most this many pixels. A photograph of a phone has 12 million. */
export const PIXELS = 16_000_000;

/** Makes sharp use one thread, keep nothing, and read only the formats that the service takes. */
export function boundSharp(): void {
  sharp.concurrency(1);
  sharp.cache(false);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: ['Png', 'Jpeg', 'Webp', 'Nsgif', 'Heif', 'Svg'].map((name) => `VipsForeignLoad${name}Buffer`),
  });
}

/** Opens a picture, whose size is checked before it is decoded. Of several pages or frames, it is the first. */
export function decoded(bytes: Uint8Array, { limit = true } = {}): Sharp {
  return sharp(bytes, { limitInputPixels: limit ? PIXELS : false, failOn: 'error', pages: 1 });
}

/** Returns the pixels of a picture, `longer` of them on the longer side. */
export function drawPixels(bytes: Uint8Array, longer = MEASURED): Promise<Pixels> {
  return pixelsOf(decoded(bytes).resize(longer, longer, { fit: 'inside' }));
}

/** Returns a picture's pixels in sRGB with 8 bits. */
export async function pixelsOf(image: Sharp): Promise<Pixels> {
  const { data, info } = await image
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Opens pixels as a picture. */
export function fromPixels({ data, width, height }: Pixels): Sharp {
  return sharp(data, { raw: { width, height, channels: 4 } });
}

/**
 * Draws a stored form, or the SVG of a monogram, in a raster format. A raster never grows.
 *
 * @param longer pixels of the longer side; without it, the form's own
 */
export async function renderRaster(
  form: Form,
  { longer, format }: { longer: number | undefined; format: Exclude<Format, 'svg'> },
): Promise<Form> {
  const own = Math.max(form.width, form.height);
  const isSvg = form.format === 'svg';
  const side = longer === undefined || (!isSvg && longer > own) ? own : longer;
  const size = side === own ? { width: form.width, height: form.height } : scaled(form, side);
  const image = isSvg
    ? sharp(Buffer.from(resizeSvg(withDrawableText(form.bytes), size)), { failOn: 'error' })
    : decoded(form.bytes).resize({ ...size, fit: 'fill' });
  const { data, info } = await encode(image, format).toBuffer({ resolveWithObject: true });
  return { format, width: info.width, height: info.height, bytes: data };
}

function encode(image: Sharp, format: Exclude<Format, 'svg'>): Sharp {
  if (format === 'png') return image.png({ compressionLevel: 9 });
  if (format === 'webp') return image.webp({ quality: 90, alphaQuality: 100 });
  // Effort 2 of 9 takes a quarter of the time of the default, 4, for a few per cent more bytes.
  return image.avif({ quality: 65, effort: 2 });
}

function withDrawableText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString();
  if (!text.includes('<text')) return text;
  const root = withoutUncovered(readSvg(bytes));
  return svgText({ ...root, attributes: new Map([['xmlns', SVG_NAMESPACE], ...root.attributes]) });
}

function withoutUncovered(element: SvgElement): SvgElement {
  const children = element.children.map((child) => {
    if (typeof child !== 'string') return withoutUncovered(child);
    return element.name === 'style' ? child : drawable(child);
  });
  return { ...element, children };
}
