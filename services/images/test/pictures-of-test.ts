import fc from 'fast-check';
import sharp from 'sharp';

const side = fc.integer({ min: 8, max: 700 });
const colour = fc.constantFrom('#000000', '#ffffff', '#111111', '#ff6600', '#0055aa', '#cccccc');

/** SVG files of one or two shapes, wide, tall or square. */
export const svgFiles: fc.Arbitrary<Buffer> = fc
  .record({ width: side, height: side, colours: fc.array(colour, { minLength: 1, maxLength: 2 }) })
  .map(({ width, height, colours: [first, second] }) =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">` +
        `<rect width="${width}" height="${height / 2}" fill="${first}"/>` +
        (second ? `<circle cx="${width / 2}" cy="${height / 2}" r="${width / 4}" fill="${second}"/>` : '') +
        '</svg>',
    ),
  );

/** PNG, WebP and JPEG files of one colour on another or on nothing. */
export const rasterFiles: fc.Arbitrary<Promise<Buffer>> = fc
  .record({
    width: side,
    height: side,
    colour,
    isTransparent: fc.boolean(),
    format: fc.constantFrom('png', 'webp', 'jpeg'),
  })
  .map(({ width, height, colour, isTransparent, format }) =>
    sharp(plain(width, height, isTransparent ? '#00000000' : '#ffffff'))
      .composite([{ input: plain(Math.ceil(width / 2), Math.ceil(height / 2), colour) }])
      .toFormat(format as 'png')
      .toBuffer(),
  );

function plain(width: number, height: number, background: string) {
  return { create: { width, height, channels: 4 as const, background } };
}

/** Returns the format and the size in pixels that a picture really has. */
export async function measure(bytes: Buffer): Promise<{ format: string; width: number; height: number }> {
  const { format, width, height, compression } = await sharp(bytes).metadata();
  const text = bytes.toString('latin1');
  if (format === 'svg') {
    const [, w = '', h = ''] = /<svg[^>]* width="([\d.]+)"[^>]* height="([\d.]+)"/.exec(text) ?? [];
    return { format, width: Number(w), height: Number(h) };
  }
  return { format: format === 'heif' && compression === 'av1' ? 'avif' : format, width, height };
}
