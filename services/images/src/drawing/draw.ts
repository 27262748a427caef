import sharp, { type Sharp } from 'sharp';

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
