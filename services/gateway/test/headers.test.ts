import { MatchKind, MatchStrength } from '@brand-data/contracts';
import { chooseEncoding, etagOf, matchesTag } from '@brand-data/runtime/http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { monthAround, quotaHeaders } from '../src/calls/call-headers.ts';
import { brandMatchOf } from '../src/records/records.ts';

const match = { kind: MatchKind.NAME, strength: MatchStrength.EXACT };

describe('the headers of an answer', () => {
  test('Brand-Match is always ASCII, and uses an RFC 9651 string if the matched value is ASCII', () => {
    expect(brandMatchOf({ ...match, value: 'Apple "Inc." \\' })).toBe(
      'kind=name, value="Apple \\"Inc.\\" \\\\", strength=exact',
    );
    expect(brandMatchOf({ ...match, value: 'Nestlé' })).toBe(
      'kind=name, value=%"Nestl%c3%a9", strength=exact',
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        expect(brandMatchOf({ ...match, value: value.toWellFormed() })).toMatch(/^[\x20-\x7e]*$/);
      }),
    );
  });

  test('Brand-Match says "unspecified" for a kind or a strength that only a newer catalog knows', () => {
    const unknown = { kind: MatchKind.UNSPECIFIED, value: 'AAPL', strength: MatchStrength.UNSPECIFIED };
    expect(brandMatchOf(unknown)).toBe('kind=unspecified, value="AAPL", strength=unspecified');
  });

  test('a Display String decodes to the matched value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const value = `é${text.toWellFormed()}`;
        const [, encoded = ''] = /value=%"(.*)", strength/.exec(brandMatchOf({ ...match, value })) ?? [];
        expect(decodeURIComponent(encoded)).toBe(value);
      }),
    );
  });

  test('If-None-Match matches the ETag of any encoding, weak or strong, alone, in a list, or as a star', () => {
    for (const encoding of ['identity', 'gzip', 'br'] as const) {
      expect(matchesTag(`"other", W/${etagOf('abc', encoding)}`, 'abc')).toBe(true);
      expect(matchesTag(etagOf('abc', encoding), 'abcd')).toBe(false);
    }
    expect(matchesTag('*', 'abc')).toBe(true);
    expect(matchesTag(undefined, 'abc')).toBe(false);
    expect(matchesTag('abc', 'abc')).toBe(false);
  });

  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.1, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'br'],
    ['identity', 'identity'],
    ['GZIP;Q=0.5', 'gzip'],
  ])('for Accept-Encoding %j the body is %s', (accept, encoding) => {
    expect(chooseEncoding(accept)).toBe(encoding);
  });

  test('the RateLimit fields give the allowance, the calls left and the seconds left of the month', () => {
    const allowance = { accountId: 'a', pool: 'calls', limit: 5, limitRevision: 1 };
    const nowMs = Date.UTC(2026, 10, 30, 23, 59, 30);
    expect(quotaHeaders(allowance, { charged: 1, remaining: 3, second: undefined, nowMs })).toEqual({
      'X-Quota-Charged': '1',
      'RateLimit-Policy': '"month";q=5;w=2592000',
      RateLimit: '"month";r=3;t=30',
    });
    const unknown = { charged: 0, remaining: undefined, nowMs } as const;
    expect(quotaHeaders(allowance, { ...unknown, second: undefined })).toEqual({ 'X-Quota-Charged': '0' });
    const second = { perSecond: 5, remaining: 2 };
    expect(quotaHeaders(allowance, { ...unknown, second })).toEqual({
      'X-Quota-Charged': '0',
      'RateLimit-Policy': '"second";q=5;w=1',
      RateLimit: '"second";r=2;t=1',
    });
    expect(quotaHeaders(allowance, { charged: 1, remaining: 9, second, nowMs })).toEqual({
      'X-Quota-Charged': '1',
      'RateLimit-Policy': '"month";q=5;w=2592000, "second";q=5;w=1',
      RateLimit: '"month";r=5;t=30, "second";r=2;t=1',
    });
  });

  test('a month is a calendar month in UTC, also in leap years', () => {
    expect(monthAround(Date.UTC(2028, 1, 29, 12))).toEqual({
      lengthSeconds: 29 * 86_400,
      leftSeconds: 43_200,
    });
    expect(monthAround(Date.UTC(2026, 11, 31, 23, 59, 59, 500)).leftSeconds).toBe(1);
  });
});
