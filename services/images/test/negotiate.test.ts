import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FORMATS } from '../src/image/image.ts';
import { MEDIA_TYPES, negotiateFormat } from '../src/pictures/negotiate.ts';

const CHROME = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8';
const FIREFOX = 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5';
const SAFARI =
  'image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5';
const PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

test.each([
  ['svg', CHROME, 'svg'],
  ['svg', FIREFOX, 'svg'],
  ['svg', SAFARI, 'svg'],
  ['png', CHROME, 'webp'],
  ['png', FIREFOX, 'webp'],
  ['png', SAFARI, 'webp'],
  ['png', PAGE, 'png'],
  ['svg', PAGE, 'svg'],
  ['webp', '*/*', 'webp'],
  ['png', undefined, 'png'],
  ['svg', undefined, 'svg'],
  ['svg', 'image/png', 'png'],
  ['svg', 'image/png, */*;q=0.1', 'png'],
  ['svg', 'image/svg+xml;q=0.5, image/avif', 'avif'],
  ['png', 'image/svg+xml', 'png'],
  ['png', 'image/svg+xml, image/avif;q=0.2', 'avif'],
  ['webp', 'image/webp;q=0, image/*', 'png'],
  ['png', 'text/html', 'png'],
  ['svg', '', 'svg'],
  ['svg', 'IMAGE/PNG ; Q=1.0', 'png'],
  ...['2', '1.001', '-1', '0.1234', 'abc', '', '.5', '1e0', 'NaN', 'Infinity', '"1"'].map(
    (quality) => ['png', `image/webp;q=${quality}, image/avif;q=0.1`, 'avif'] as const,
  ),
  ['png', 'image/webp;q = 0.1, image/avif;q=0.2', 'avif'],
] as const)('of %s, Accept %j gets %s', (stored, accept, format) => {
  expect(negotiateFormat(stored, accept)).toBe(format);
});

test('any Accept gets a format that the image can have, and a single type that it can have gets that type', () => {
  fc.assert(
    fc.property(fc.constantFrom(...FORMATS), fc.string({ unit: 'binary' }), (stored, accept) => {
      expect(stored === 'svg' ? FORMATS : FORMATS.slice(1)).toContain(negotiateFormat(stored, accept));
    }),
  );
  for (const stored of FORMATS)
    for (const format of FORMATS)
      expect(negotiateFormat(stored, MEDIA_TYPES[format])).toBe(
        format === 'svg' && stored !== 'svg' ? stored : format,
      );
});
