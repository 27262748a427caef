import { type Brand, BrandType, type Image } from '@brand-data/contracts';
import { drawMonogram, type Monogram, parseMonogramPath } from '@brand-data/monograms';
import { monogramUrl, presentFlat, presentGrouped } from '@brand-data/presenters';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryBrand } from './arbitrary-brand.ts';

const options = { logoHost: 'https://api.example/images', monogramKey: 'the key of the examples' };

/** Returns the monogram to which a URL of a record leads. Undefined if it leads to another image. */
function monogramAt(url: string): Monogram | undefined {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.startsWith(`${options.logoHost}/`)
    ? parseMonogramPath(pathname.slice('/images/'.length), [options.monogramKey])
    : undefined;
}

/** Returns the paths that the record's logo may have, if any is known. */
function knownPaths({ type, images, manager }: Brand): string[] {
  const of = (variants: { big?: Image | undefined; small?: Image | undefined } | undefined) =>
    [variants?.big, variants?.small].map((image) => image?.path ?? '');
  const paths =
    type === BrandType.SUPERINVESTOR
      ? [manager?.logoPath ?? '']
      : [...of(images?.logo), ...(type === BrandType.STOCK ? of(images?.stockLogo) : [])];
  return paths.filter((path) => path.replace(/^\/+/, '').trim() !== '');
}

test("the address of a typed text's monogram has a mark that needs the key", () =>
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(monogramAt(monogramUrl(text, options))).toBeDefined();
      expect(monogramAt(monogramUrl(text, { ...options, monogramKey: 'another' }))).toBeUndefined();
    }),
  ));

describe('every record', () => {
  test('has a logo, which is a monogram exactly if no logo is known', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const record = presentGrouped(brand, options);
        const isKnown = knownPaths(brand).length > 0;
        const url = record.type === 'superinvestor' ? record.logo : presentFlat(brand, options)?.logo;
        expect(url).toMatch(/^https:\/\/api\.example\/images\/./);
        expect(monogramAt(url ?? '') === undefined).toBe(isKnown);
      }),
    ));

  test('with a monogram states the width, height, format and bytes of what its URLs lead to', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const record = presentGrouped({ ...brand, type: BrandType.BRAND, images: undefined }, options);
        if (record.type !== 'brand') throw new Error('the record has another type');
        const { big, small } = record.images.logo;
        expect([big?.width, small?.width]).toEqual([512, 64]);
        for (const image of [big, small]) {
          const { url = '', width = 0, height, format, sizeKb } = image ?? {};
          const size = Number(new URL(url).searchParams.get('size') ?? 512);
          const drawing = drawMonogram(monogramAt(url) as Monogram, size);
          expect({ width, height, format }).toEqual({ width: size, height: size, format: 'svg' });
          expect(sizeKb).toBe(Math.round((Buffer.byteLength(drawing) / 1_024) * 100) / 100);
        }
      }),
    ));

  test('of one id has the same colour under every name', () =>
    fc.assert(
      fc.property(arbitraryBrand, fc.string({ minLength: 1 }), (brand, name) => {
        const colourOf = (shown: Brand) => {
          const url = presentFlat({ ...shown, type: BrandType.BRAND, images: undefined }, options)?.logo;
          return monogramAt(url ?? '')?.colour;
        };
        expect(colourOf({ ...brand, name })).toBe(colourOf(brand));
      }),
    ));
});

describe('the letters of a record', () => {
  const lettersOf = (brand: Brand) => {
    const record = presentGrouped(brand, options);
    const url = record.type === 'superinvestor' ? record.logo : record.images.logo?.big?.url;
    return monogramAt(url ?? '')?.letters;
  };
  const [acme] = fc.sample(arbitraryBrand, 1) as [Brand];

  test.each([
    ['Apple Inc.', 'A'],
    ['The Walt Disney Company', 'WD'],
    ['Alibaba Group Holding Limited', 'A'],
    ['株式会社ローソン', 'ロ'],
    ['!', ''],
  ])('of the company %s leave out the legal form', (name, letters) => {
    expect(lettersOf({ ...acme, type: BrandType.BRAND, name, images: undefined })).toBe(letters);
  });

  test.each([
    ['Berkshire Hathaway', 'Warren Buffett', 'WB'],
    ['Charles T. Munger', ' ', 'CM'],
  ])('of the superinvestor %s are those of the manager "%s"', (name, portfolioManager, letters) => {
    const manager = { portfolioManager, firm: '', portfolioManagerSource: '', logoPath: '' };
    expect(lettersOf({ ...acme, type: BrandType.SUPERINVESTOR, name, manager })).toBe(letters);
  });
});
