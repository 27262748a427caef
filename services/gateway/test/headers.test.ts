import { MatchKind, MatchStrength } from '@brand-data/contracts';
import { chooseEncoding, etagOf, matchesTag } from '@brand-data/runtime/http';
import fc from 'fast-check';
import { type InnerList, parseDictionary } from 'structured-headers';
import { describe, expect, test } from 'vitest';
import { monthAround, quotaHeaders } from '../src/calls/call-headers.ts';
import { brandDataOf, brandMatchOf } from '../src/records/records.ts';

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

  test('Brand-Data is an RFC 9651 dictionary of bounded length, with each source that it has room for, and its newest and oldest day', () => {
    expect(brandDataOf([], undefined)).toEqual({});
    expect(
      brandDataOf(
        [
          { name: 'A', date: '2026' },
          { name: 'A', date: '2024-01' },
          { name: 'A', date: '' },
          { name: 'é', date: '' },
        ],
        '2026-11-19',
      ),
    ).toEqual({
      'Brand-Data': 'sources=("A";date="2026";oldest="2024-01" %"%c3%a9"), price_date="2026-11-19"',
    });
    const name = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 2_000 }));
    const source = fc.record({ name, date: fc.constantFrom('', '2026', '2026-11-19') });
    const day = fc.option(fc.constant('2026-11-19'), { nil: undefined });
    fc.assert(
      fc.property(fc.array(source, { maxLength: 20, size: 'max' }), day, (sources, priceDate) => {
        // Two names that differ only in control characters look the same in the header, which may have room for one of them.
        const names = [...new Set(sources.map(({ name }) => name))];
        fc.pre(
          new Set(names.map((name) => name.replace(/\p{Cc}/gu, ' ').toWellFormed())).size === names.length,
        );
        const header = brandDataOf(sources, priceDate)['Brand-Data'] ?? '';
        expect(header.length).toBeLessThan(1_100);
        const read = parseDictionary(header);
        expect(read.get('price_date')?.[0]).toBe(priceDate);
        const shown = ((read.get('sources') as InnerList | undefined)?.[0] ?? []).map(([text, parameters]) =>
          JSON.stringify([String(text), parameters.get('date'), parameters.get('oldest')]),
        );
        const lines = [...Map.groupBy(sources, ({ name }) => name)].map(([name, own]) => {
          const days = own.flatMap(({ date }) => date || []).sort();
          const oldest = days[0] === days.at(-1) ? undefined : days[0];
          return JSON.stringify([name.replace(/\p{Cc}/gu, ' ').toWellFormed(), days.at(-1), oldest]);
        });
        expect(lines.filter((line) => shown.includes(line))).toEqual(shown);
        if (lines.join('').length < 100) expect(shown).toEqual(lines);
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
