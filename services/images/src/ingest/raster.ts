import { decoded, fromPixels, PIXELS, type Pixels, pixelsOf } from '../drawing/draw.ts';
import { type Form, Refused } from '../image/image.ts';
import type { RasterFormat } from './file-format.ts';

/** The longer side of a stored raster, at most. */
const LONGEST = 2048;
/** The bytes of a stored raster, at most. */
const STORED_BYTES = 4 * 1024 ** 2;
/** A picture with at most this many colours is a drawing, which PNG keeps exactly. A photograph has more. */
const FEW_COLOURS = 4096;

/**
 * Decodes a raster and encodes it again, so that nothing of the file remains but its pixels: upright, in sRGB with 8 bits, at
 * most 2048 on the longer side. Only the form of a stored image stays as it is, since it has been encoded here before.
 */
export async function readRaster(
  bytes: Uint8Array,
  { format, isStored }: { format: RasterFormat; isStored: boolean },
): Promise<Form> {
  const size = await checkedSize(bytes);
  if (isStored && (format === 'png' || format === 'webp')) return { format, ...size, bytes };
  return encodeRaster(await decodedPixels(bytes));
}

/** Encodes pixels: as PNG if they have transparent parts or few colours, else as WebP; smaller if that has too many bytes. */
export async function encodeRaster(pixels: Pixels): Promise<Form> {
  const opaque = isOpaque(pixels);
  const format = opaque && isPhotograph(pixels) ? 'webp' : 'png';
  const { width, height } = pixels;
  const image = fromPixels(pixels);
  if (opaque) image.removeAlpha();
  const encoded = format === 'png' ? image.png({ compressionLevel: 9 }) : image.webp({ quality: 90 });
  const bytes = await encoded.toBuffer();
  if (bytes.length <= STORED_BYTES) return { format, width, height, bytes };
  return encodeRaster(await halved(pixels));
}

/** Returns the width and height that the file states. They are known before a pixel is decoded. */
async function checkedSize(bytes: Uint8Array): Promise<{ width: number; height: number }> {
  const { width, height } = await decoded(bytes, { limit: false }).metadata().catch(refuseDamaged);
  if (width * height > PIXELS)
    throw new Refused(
      `the picture has ${width} × ${height} pixels, and at most 16 million are allowed: scale it down`,
    );
  return { width, height };
}

function decodedPixels(bytes: Uint8Array): Promise<Pixels> {
  const upright = decoded(bytes).autoOrient();
  const resized = upright.resize(LONGEST, LONGEST, { fit: 'inside', withoutEnlargement: true });
  return pixelsOf(resized).catch(refuseDamaged);
}

function halved(pixels: Pixels): Promise<Pixels> {
  const { width, height } = pixels;
  return pixelsOf(fromPixels(pixels).resize(Math.ceil(width / 2), Math.ceil(height / 2)));
}

function isOpaque({ data }: Pixels): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return false;
  return true;
}

/** Checks whether an opaque picture has too many colours for a drawing. */
function isPhotograph(pixels: Pixels): boolean {
  const colours = new Set<number>();
  const view = new DataView(pixels.data.buffer, pixels.data.byteOffset, pixels.data.byteLength);
  for (let at = 0; at < pixels.data.length && colours.size <= FEW_COLOURS; at += 4)
    colours.add(view.getUint32(at));
  return colours.size > FEW_COLOURS;
}

function refuseDamaged(error: unknown): never {
  throw new Refused(
    `the picture is damaged or of an unusual kind (${shortReason(error)}): save it again as PNG`,
  );
}

/** Returns what a library says about a picture that it cannot read, for the person who sent it. */
export function shortReason(error: unknown): string {
  const [line = ''] = error instanceof Error ? error.message.split('\n') : [];
  return line.slice(0, 120);
}
