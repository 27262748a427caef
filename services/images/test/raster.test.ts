import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { drawPixels } from '../src/drawing/draw.ts';
import { formatOf } from '../src/ingest/file-format.ts';
import { ingest } from '../src/ingest/ingest.ts';

const SECRET = 'PAYLOAD <script>alert(1)</script>';

/** Returns a picture of 90 × 60 pixels with a red left half, drawn in few colours. */
function drawing(background = '#ffffff00') {
  const left = `<svg xmlns="http://www.w3.org/2000/svg" width="45" height="60"><rect width="45" height="60" fill="#d01010"/></svg>`;
  return sharp({ create: { width: 90, height: 60, channels: 4, background } }).composite([
    { input: Buffer.from(left), left: 0, top: 0 },
  ]);
}

/** Returns a photograph: every pixel has another colour. */
const photograph = (width: number, height: number) =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  });

const ingestBanner = async (file: Uint8Array) => (await ingest(file, { kind: 'banner' })).light;

describe('a raster that is taken', () => {
  it.each([
    ['PNG', () => drawing().png()],
    ['JPEG', () => drawing('#ffffff').jpeg({ quality: 100, chromaSubsampling: '4:4:4' })],
    ['JPEG in CMYK', () => drawing('#ffffff').removeAlpha().toColourspace('cmyk').jpeg({ quality: 100 })],
    ['WebP', () => drawing().webp({ lossless: true })],
    ['GIF', () => drawing().gif()],
    ['AVIF', () => drawing().avif({ lossless: true })],
    ['PNG in 16 bits', () => drawing().toColourspace('rgb16').png()],
    ['PNG with a palette', () => drawing().png({ palette: true })],
    ['PNG in grey', () => drawing('#ffffff').toColourspace('b-w').png()],
    ['interlaced PNG', () => drawing().png({ progressive: true })],
  ])('is a PNG of the same pixels if it was drawn: %s', async (_, make) => {
    const form = await ingestBanner(await make().toBuffer());
    expect(form).toMatchObject({ format: 'png', width: 90, height: 60 });
    expect((await sharp(form.bytes).metadata()).format).toBe('png');
    const { data } = await drawPixels(form.bytes);
    expect(data[3]).toBe(255);
  });

  it('is a WebP if it is a photograph', async () => {
    const form = await ingestBanner(await photograph(300, 200).jpeg().toBuffer());
    expect(form).toMatchObject({ format: 'webp', width: 300, height: 200 });
    expect((await sharp(form.bytes).metadata()).format).toBe('webp');
  });

  it('has at most 2048 pixels on the longer side', async () => {
    const form = await ingestBanner(await photograph(3000, 1000).jpeg({ quality: 60 }).toBuffer());
    expect(form).toMatchObject({ width: 2048, height: 683 });
  });

  it('has at most 4 MiB', async () => {
    const raw = { width: 1100, height: 1100, channels: 4 } as const;
    const file = await sharp(randomBytes(1100 * 1100 * 4), { raw })
      .png({ compressionLevel: 0 })
      .toBuffer();
    const form = await ingestBanner(file);
    expect(form.bytes.length).toBeLessThanOrEqual(4 * 1024 ** 2);
    expect(form).toMatchObject({ format: 'png', width: 550, height: 550 });
  });

  it('is upright', async () => {
    const form = await ingestBanner(
      await drawing('#ffffff').jpeg().withExif({}).withMetadata({ orientation: 6 }).toBuffer(),
    );
    expect(form).toMatchObject({ width: 60, height: 90 });
    expect((await sharp(form.bytes).metadata()).orientation).toBeUndefined();
  });

  it('is the first frame of an animation', async () => {
    const frames = await Promise.all(
      ['#ff0000', '#00ff00'].map((colour) => drawing(colour).removeAlpha().png().toBuffer()),
    );
    const file = await sharp(frames, { join: { animated: true } })
      .webp({ lossless: true })
      .toBuffer();
    expect(await ingestBanner(file)).toMatchObject({ format: 'png', width: 90, height: 60 });
  });

  it.each([
    [
      'PNG',
      () =>
        drawing()
          .withExif({ IFD0: { Copyright: SECRET } })
          .png(),
    ],
    [
      'JPEG',
      () =>
        photograph(80, 80)
          .withExif({ IFD0: { Copyright: SECRET } })
          .jpeg(),
    ],
    [
      'WebP',
      () =>
        photograph(80, 80)
          .withExif({ IFD0: { Copyright: SECRET } })
          .webp(),
    ],
  ])('loses its metadata and what follows its end: %s', async (_, make) => {
    const file = Buffer.concat([await make().toBuffer(), Buffer.from(SECRET)]);
    const form = await ingestBanner(file);
    expect(Buffer.from(form.bytes).includes('PAYLOAD')).toBe(false);
    const { exif, icc, xmp, iptc } = await sharp(form.bytes).metadata();
    expect([exif, icc, xmp, iptc]).toEqual([undefined, undefined, undefined, undefined]);
  });

  it.each([
    ['a drawing', () => drawing().png()],
    ['a photograph', () => photograph(200, 100).jpeg()],
  ])('is not changed by ingesting it again once it is stored: %s', async (_, make) => {
    const once = await ingestBanner(await make().toBuffer());
    expect((await ingest(once.bytes, { kind: 'banner', isStored: true })).light).toEqual(once);
  });

  it('loses what follows its pixels within the part that holds them', async () => {
    const file = Buffer.concat([await photograph(80, 80).webp().toBuffer(), Buffer.from(`${SECRET} `)]);
    expect(file.length % 2).toBe(0);
    file.writeUInt32LE(file.length - 8, 4);
    file.writeUInt32LE(file.length - 20, 16);
    const form = await ingestBanner(file);
    expect(form).toMatchObject({ format: 'webp', width: 80, height: 80 });
    expect(Buffer.from(form.bytes).includes('PAYLOAD')).toBe(false);
  });
});

/** Returns the header of a PNG that states a size, and nothing else that is right. */
async function pngOfSize(width: number, height: number): Promise<Buffer> {
  const file = await drawing().png().toBuffer();
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  return file;
}

describe('a file is refused, with what to do, if it is', () => {
  it.each([
    ['an icon', Buffer.from('000001000100', 'hex'), /ICO.*PNG/],
    ['a BMP', Buffer.from('BM......'), /BMP.*PNG/],
    ['a TIFF', Buffer.from('II*\0'), /TIFF.*PNG/],
    ['a PDF', Buffer.from('%PDF-1.7'), /PDF.*SVG/],
    ['a web page', Buffer.from('\n<!DOCTYPE html><html>'), /web page/],
    ['SVGZ', Buffer.from('1f8b0800', 'hex'), /gzip.*unpack/],
    ['an archive', Buffer.from('PK\x03\x04'), /ZIP.*unpack/],
    ['HEIC', Buffer.from('\0\0\0\x18ftypheic'), /HEIC.*PNG/],
    ['text', Buffer.from('logo.png'), /no picture.*PNG/],
    ['empty', Buffer.alloc(0), /no picture/],
  ])('%s', (_, file, why) => {
    expect(() => formatOf(file)).toThrow(
      expect.objectContaining({ name: 'Refused', message: expect.stringMatching(why) }),
    );
  });

  it.each([
    ['cut off', async () => (await photograph(80, 80).png().toBuffer()).subarray(0, 2000), /damaged/],
    ['only a beginning', async () => Buffer.from('89504e470d0a1a0a', 'hex'), /damaged/],
    ['of very many pixels', () => pngOfSize(100_000, 100_000), /damaged|16 million/],
    [
      'of slightly too many pixels',
      async () =>
        sharp({ create: { width: 4001, height: 4000, channels: 3, background: 'red' } })
          .png()
          .toBuffer(),
      /4001 × 4000.*16 million.*scale/,
    ],
  ])('%s', async (_, make, why) => {
    await expect(ingestBanner(await make())).rejects.toThrow(
      expect.objectContaining({ name: 'Refused', message: expect.stringMatching(why) }),
    );
  });
});
