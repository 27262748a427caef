import { monogramOf, monogramPath } from '@brand-data/monograms';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { renderRaster } from '../src/drawing/draw.ts';
import { FORMATS, type Form, type Format, readImageUrl, SIZES, type Size } from '../src/image/image.ts';
import { monogramForm } from '../src/pictures/picture-maker.ts';
import { Pictures } from '../src/pictures/pictures.ts';
import { standInWorkers } from './stand-in-workers.ts';

const NAMES = [
  'Google',
  'Waverley Woodworks',
  'Österreichische Post',
  'בנק הפועלים',
  'الراجحي',
  '三菱商事',
  '현대',
  '!',
];
const RASTERS = FORMATS.filter((format) => format !== 'svg');

const KEY = 'the key of the examples';

/** Returns the path below monograms/, without its extension, as URLs of it are read. */
const pathOf = (name: string) =>
  monogramPath(monogramOf({ id: 'acme', name }), KEY).replace(/^monograms\/|\.svg$/g, '');

function formOf(name: string, options: { format: Format; size: Size }): Form {
  const form = monogramForm(pathOf(name), { ...options, keys: [KEY] });
  if (form === undefined) throw new Error('there is no such monogram');
  return form;
}

describe.each(NAMES)('the monogram of %s', (name) => {
  test.each(RASTERS)('shows white on its plate in each size as %s', async (format) => {
    for (const longer of SIZES) {
      const form = await renderRaster(formOf(name, { format, size: longer }), { longer, format });
      expect([form.width, form.height]).toEqual([longer, longer]);
      const { data } = await sharp(form.bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
      const pixels = Array.from({ length: data.length / 3 }, (_, index) =>
        data.subarray(3 * index, 3 * index + 3),
      );
      const white = pixels.filter((pixel) => pixel.every((channel) => channel > 200)).length / pixels.length;
      expect(white).toBeGreaterThan(0.02);
      expect(white).toBeLessThan(0.3);
    }
  });

  test.each(SIZES)('is an SVG of %i pixels with its own letters', (size) => {
    const { width, height, bytes } = formOf(name, { format: 'svg', size });
    const text = Buffer.from(bytes).toString();
    expect([width, height]).toEqual([size, size]);
    expect(text).toContain(`width="${size}" height="${size}"`);
    expect(text.includes('<text')).toBe(/[三현]/.test(name));
  });
});

test.each(['svg', 'png', 'webp', 'avif'])(
  'a path with .%s before its extension leads to no monogram',
  async (inner) => {
    const store = { findForm: async () => undefined, findStated: async () => undefined };
    const pictures = new Pictures(store, standInWorkers, {
      cacheBytes: 1_000_000,
      monogramKeys: [KEY],
      workerCount: 8,
    });
    for (const format of FORMATS) {
      const read = readImageUrl(`/images/monograms/${pathOf('Google')}.${inner}.${format}`);
      expect(typeof read === 'string' ? read : await pictures.find(read, { client: 'any' })).toBe('no_image');
    }
    expect(pictures.stats().entries).toBe(0);
  },
);

test('a path of other letters, of another colour or with another hash leads to no monogram', () => {
  for (const path of [
    '',
    'G',
    pathOf('Google').replace('G-', 'H-'),
    pathOf('Google').replace(/.$/, '_'),
    '../x',
  ])
    expect(monogramForm(path, { format: 'svg', keys: [KEY] })).toBeUndefined();
});
