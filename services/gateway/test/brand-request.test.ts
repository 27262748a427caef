import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identifierOf, isOriginAllowed, readBrandRequest, tokenOf } from '../src/brand-request.ts';

function read(url: string, headers: Record<string, string> = {}) {
  const request = readBrandRequest(url, headers);
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

  test('has its token in the query alone, and once', () => {
    expect(tokenOf(read('/v1/brands/a?x=1&token=pk_1'))).toBe('pk_1');
    expect(() => tokenOf(read('/v1/brands/a?token=pk_1&token=pk_1'))).toThrow('token_invalid');
    expect(() => tokenOf(read('/v1/brands/a'))).toThrow('token_missing');
    expect(() => tokenOf(read('/v1/brands/a', { authorization: 'Bearer pk_1', 'x-token': 'pk_1' }))).toThrow(
      'token_missing',
    );
  });

  test('is allowed by its Origin, or without one by its Referer, when the key has a list', () => {
    const allowed = ['https://example.com'];
    const isAllowed = (headers: Record<string, string>) =>
      isOriginAllowed(read('/v1/brands/a', headers), allowed);
    expect(isAllowed({ origin: 'https://example.com' })).toBe(true);
    expect(isAllowed({ referer: 'https://example.com/page?q=1' })).toBe(true);
    expect(isAllowed({ origin: 'https://evil.example', referer: 'https://example.com/' })).toBe(false);
    expect(isAllowed({ origin: 'https://example.com.evil.example' })).toBe(false);
    expect(isAllowed({ origin: 'null' })).toBe(false);
    expect(isAllowed({})).toBe(false);
    expect(isOriginAllowed(read('/v1/brands/a'), [])).toBe(true);
  });
});
