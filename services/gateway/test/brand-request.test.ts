import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { identifierFromSegment } from '../src/calls/answer-call.ts';
import { createPublicApi } from './public-api.ts';

const identifier = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .filter(
    (text) =>
      text.isWellFormed() &&
      text.trim() === text &&
      text !== '.' &&
      text !== '..' &&
      !/\p{Cc}/u.test(text) &&
      [...text].length <= 256,
  );

const api = createPublicApi();
afterAll(api.close);

describe('an identifier', () => {
  test('of any characters, percent-encoded, is looked up unchanged on both routes', async () => {
    await fc.assert(
      fc.asyncProperty(identifier, async (text) => {
        const segment = encodeURIComponent(text);
        for (const path of [`/v1/brands/${segment}`, `/api/logos/${segment}/info`]) {
          await api.app.inject(`${path}?token=good`);
          expect(api.lookedUp.at(-1)).toBe(text);
        }
      }),
    );
  });

  test.each(['%', '%E0%A4%A', '%00', 'a%0Ab', '', '%7F', '%C2%85', 'x'.repeat(257)])(
    'written as %j is refused as invalid',
    (segment) => {
      expect(() => identifierFromSegment({ segment })).toThrow('identifier_invalid');
    },
  );

  test('has up to 256 characters, not code units', () => {
    expect(identifierFromSegment({ segment: encodeURIComponent('😀'.repeat(256)) })).toBe('😀'.repeat(256));
  });
});
