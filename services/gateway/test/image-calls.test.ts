import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPublicApi } from './public-api.ts';

const api = createPublicApi();
let url: string;
beforeAll(async () => {
  url = `http://127.0.0.1:${await api.listen()}`;
});
afterAll(api.close);

const call = (path: string) => fetch(`${url}/api/logos/${path}`, { redirect: 'manual' });

test('a monogram of a typed text costs a counted call', async () => {
  const typed = fc
    .string({ unit: 'grapheme', maxLength: 40 })
    .filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));
  await fc.assert(
    fc.asyncProperty(typed, async (text) => {
      api.permits.length = 0;
      const segment = encodeURIComponent(`${text}No Such`);
      const { status, headers } = await call(`${segment}?token=good&fallback=monogram&size=64`);
      expect([status, headers.get('brand-match'), api.permits]).toEqual([
        302,
        'none',
        ['used by key-1, logos, 404'],
      ]);
      expect(headers.get('location')).toMatch(
        /^https:\/\/logos\.example\.com\/monograms\/[\w.]+-[0-9a-f]{6}-[0-9a-f]{16}\.svg\?size=64$/,
      );
    }),
  );
});

test('the call for an image leads to the logo of the flat record', async () => {
  const { headers } = await call('Shared?token=good');
  const record = await (await call('Shared/info?token=good')).json();
  expect(record).toMatchObject({ logo: headers.get('location') });
});
