import { IMAGE_CHOICES } from '@brand-data/gateway/src/calls/parameters.ts';
import { FORMATS, SIZES, THEMES } from '@brand-data/images/src/image/image.ts';
import { expect, test } from 'vitest';

test('the gateway leads to every form of an image that images has, and to no other', () => {
  expect(IMAGE_CHOICES).toEqual({ size: SIZES, format: FORMATS, theme: THEMES });
});
