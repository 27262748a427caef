import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FOLDERS, FORMATS, type Kind, SIZES, THEMES } from '../src/image.ts';
import { imageIdOfPath, readImageUrl } from '../src/image-path.ts';

const hash = fc.stringMatching(/^[0-9a-f]{32}$/);
const kind = fc.constantFrom(...(Object.keys(FOLDERS) as Kind[]));
const optional = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const query = fc
  .record({ size: optional(SIZES), format: optional(FORMATS), theme: optional(THEMES) })
  .chain((values) =>
    fc.shuffledSubarray(Object.entries(values), { minLength: 3 }).map((parts) => ({
      values,
      text: parts.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join('&'),
    })),
  );

test('a URL of allowed parts, in any order, is read as what it says, and the query wins over the extension', () => {
  fc.assert(
    fc.property(kind, hash, optional(FORMATS), query, (kind, hash, extension, { values, text }) => {
      const path = `${FOLDERS[kind]}/${hash}${extension ? `.${extension}` : ''}`;
      const url = `/images/${path}${text === '' ? '' : `?${text}`}`;
      expect(readImageUrl(url)).toEqual({
        source: { kind, id: `${FOLDERS[kind]}/${hash}` },
        size: values.size,
        format: values.format ?? extension,
        theme: values.theme ?? 'light',
      });
      expect(imageIdOfPath(url.slice('/images/'.length))).toBe(`${FOLDERS[kind]}/${hash}`);
    }),
  );
});

const HASH = '0123456789abcdef0123456789abcdef';

test.each([
  'size=63',
  'size=0',
  'size=64.0',
  'size=%364',
  'size=',
  'size',
  'size=64&size=64',
  'size=64&size=128',
  'format=gif',
  'format=SVG',
  'theme=sepia',
  'theme=light&theme=dark',
  'token=secret',
  'size=64&v=2',
  'Size=64',
  '__proto__=1',
  'size[]=64',
  '%',
  '=',
])('the query ?%s is refused, or means the same as one that is allowed', (query) => {
  const read = readImageUrl(`/images/logos/${HASH}.svg?${query}`);
  if (query === 'size=%364') expect(read).toMatchObject({ size: 64 });
  else expect(read).toBe('bad_query');
});

test('a query without parameters is no query', () => {
  expect(readImageUrl(`/images/logos/${HASH}.svg?`)).toEqual(readImageUrl(`/images/logos/${HASH}.svg`));
});

test.each([
  ['/', 'no_route'],
  ['/image/logos', 'no_route'],
  ['http://host/images/logos', 'no_route'],
  ['*', 'no_route'],
  ['', 'no_route'],
  ['/images/', 'no_image'],
  ['/images/logos/', 'no_image'],
  [`/images/logos/${HASH}.gif`, 'no_image'],
  [`/images/logos/${HASH.toUpperCase()}.svg`, 'no_image'],
  [`/images/logos/${HASH}0.svg`, 'no_image'],
  [`/images/logos/${HASH}.svg/`, 'no_image'],
  [`/images//logos/${HASH}.svg`, 'no_image'],
  [`/images/logos/../logos/${HASH}.svg`, 'no_image'],
  [`/images/constructor/${HASH}.svg`, 'no_image'],
  [`/images/logos/${HASH}.svg%00`, 'no_image'],
  [`/images/logos/${HASH}.svg\n`, 'no_image'],
] as const)('%j is %s', (url, unusable) => {
  expect(readImageUrl(url)).toBe(unusable);
});

test('reading any text as a URL throws nothing', () => {
  const start = fc.constantFrom(
    '',
    '/images/',
    `/images/logos/${HASH}`,
    `/images/logos/${HASH}.svg?`,
    '/images/monograms/',
  );
  fc.assert(
    fc.property(start, fc.string({ unit: 'binary' }), (start, end) => {
      readImageUrl(start + end);
      imageIdOfPath(start + end);
    }),
  );
});

test('a path that no image can have has no id', () => {
  for (const path of [
    'logos/simple-icons/nike.svg',
    'monograms/GM-006cd3-9f86d081884c7d65.svg',
    '../secret',
    '',
  ])
    expect(imageIdOfPath(path)).toBeUndefined();
});
