import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identifierOf, readBrandRequest } from '../src/http/brand-request.ts';

function read(url: string) {
  const request = readBrandRequest(url, {});
  if (!request) throw new Error(`no route for ${url}`);
  return request;
}

const identifier = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text) && [...text].length <= 256);

describe('a request', () => {
  test('carries any identifier, percent-encoded, unchanged on both routes', () => {
    fc.assert(
      fc.property(identifier, (text) => {
        const segment = encodeURIComponent(text);
        expect(identifierOf(read(`/v1/brands/${segment}?token=t`))).toBe(text);
        expect(identifierOf(read(`/api/logos/${segment}/info?token=t`))).toBe(text);
      }),
    );
  });

  test('takes %2F as data of the identifier, and a bare slash as another route', () => {
    expect(identifierOf(read('/v1/brands/BRK%2FB'))).toBe('BRK/B');
    expect(readBrandRequest('/v1/brands/BRK/B', {})).toBeUndefined();
    expect(readBrandRequest('/v1/brands/AAPL/', {})).toBeUndefined();
    expect(readBrandRequest('/api/logos/AAPL', {})).toBeUndefined();
  });

  test.each(['%', '%E0%A4%A', '%00', 'a%0Ab', '', '%7F', '%C2%85', 'x'.repeat(257)])(
    'with the segment %j is refused as an invalid identifier',
    (segment) => {
      expect(() => identifierOf(read(`/v1/brands/${segment}`))).toThrow('identifier_invalid');
    },
  );

  test('counts characters, not code units, up to 256', () => {
    expect(identifierOf(read(`/v1/brands/${encodeURIComponent('😀'.repeat(256))}`))).toBe('😀'.repeat(256));
  });
});
