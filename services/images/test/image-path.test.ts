import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  FOLDERS,
  FORMATS,
  imageIdOfPath,
  type PictureKind,
  readImageUrl,
  SIZES,
  THEMES,
} from '../src/image/image.ts';

const hash = fc.stringMatching(/^[0-9a-f]{32}$/);
const kind = fc.constantFrom(...(Object.keys(FOLDERS) as PictureKind[]));
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
  'size=6%34',
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
  'size=64&',
  '&size=64',
  '&&&size=64',
  'size=64&&theme=dark',
  'size=64;theme=dark',
  '%73ize=64',
  'size=64#',
  'size=+64',
  '?size=64',
  '&',
  '',
])('the query ?%s is refused', (query) => {
  expect(readImageUrl(`/images/logos/${HASH}.svg?${query}`)).toBe('bad_query');
});

/** Every query with which a picture can be had: some of the parameters, each once, in any order. */
function allQueries(): string[] {
  const values = { size: SIZES, format: FORMATS, theme: THEMES };
  const beginWith = (names: (keyof typeof values)[]): string[][] => [
    [],
    ...names.flatMap((name) =>
      beginWith(names.filter((other) => other !== name)).flatMap((rest) =>
        values[name].map((value) => [`${name}=${value}`, ...rest]),
      ),
    ),
  ];
  return beginWith(['size', 'format', 'theme']).flatMap((parts) =>
    parts.length === 0 ? [] : [parts.join('&')],
  );
}

test('a picture has 327 queries, and no other way of writing one leads to it', () => {
  const allowed = new Set(allQueries());
  expect(allowed.size).toBe(327);
  for (const query of allowed) expect(readImageUrl(`/images/logos/${HASH}?${query}`)).toBeTypeOf('object');

  const piece = fc.oneof(
    fc.constantFrom('size=64', 'theme=dark', 'format=png', '&', '=', '?', '#', '+', '%', ';', 'size', '64'),
    fc.string({ maxLength: 3 }),
  );
  const escaped = fc.tuple(fc.constantFrom(...allowed), fc.nat()).map(([query, at]) => {
    const place = at % query.length;
    return `${query.slice(0, place)}%${query.charCodeAt(place).toString(16)}${query.slice(place + 1)}`;
  });
  const inserted = fc
    .tuple(fc.constantFrom(...allowed), fc.nat(), piece)
    .map(
      ([query, at, added]) =>
        query.slice(0, at % (query.length + 1)) + added + query.slice(at % (query.length + 1)),
    );
  const joined = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.oneof(escaped, inserted, joined), (query) => {
      const isRead = typeof readImageUrl(`/images/logos/${HASH}?${query}`) === 'object';
      expect(isRead).toBe(allowed.has(query));
    }),
    { numRuns: 2_000 },
  );
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
    'monograms/GM-006cd3-99984d6ecd9377d8.svg',
    '../secret',
    '',
  ])
    expect(imageIdOfPath(path)).toBeUndefined();
});
