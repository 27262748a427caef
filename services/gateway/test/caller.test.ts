import { parse } from 'node:querystring';
import { createToken, TokenRefusal } from '@brand-data/contracts';
import { describe, expect, test } from 'vitest';
import { authenticate, checkOrigin, readCaller } from '../src/auth/caller.ts';
import type { Tokens } from '../src/auth/tokens.ts';

const token = createToken();
const credential = {
  keyId: 'key-1',
  accountId: 'acct-1',
  plan: 'paid',
  allowedOrigins: [],
  routes: [],
  limitRevision: 1,
  expiresAtMs: undefined,
  allowance: '',
  allowanceUntilMs: 0,
};
const tokens: Pick<Tokens, 'verify'> = {
  verify: async (given) => (given === token ? { credential } : { refusal: TokenRefusal.UNKNOWN }),
};
const caller = (query: string, headers: Record<string, string> = {}) =>
  readCaller(parse(query), headers, () => '192.0.2.1');

describe('a caller', () => {
  test('gives the token in the query, once', async () => {
    expect(await authenticate(tokens, caller(`x=1&token=${token}`))).toBe(credential);
    const refusal = async (query: string, headers = {}) => authenticate(tokens, caller(query, headers));
    await expect(refusal(`token=${token}&token=${token}`)).rejects.toThrow('token_invalid');
    await expect(refusal('')).rejects.toThrow('token_missing');
    await expect(refusal('token=')).rejects.toThrow('token_missing');
    const elsewhere = { authorization: `Bearer ${token}`, 'x-token': token, cookie: `token=${token}` };
    await expect(refusal('', elsewhere)).rejects.toThrow('token_missing');
  });

  test('whose token is refused for a reason that this gateway does not know is told so', async () => {
    const refusing: typeof tokens = { verify: async () => ({ refusal: TokenRefusal.UNSPECIFIED }) };
    const refusal = authenticate(refusing, caller(`token=${token}`));
    const problem = { code: 'token_invalid', detail: expect.stringContaining('refused') };
    await expect(refusal).rejects.toMatchObject({ problem });
  });

  test('whose token cannot be looked up now is told to try again in a second', async () => {
    const limited: typeof tokens = { verify: async () => ({ unasked: true }) };
    const problem = { code: 'rate_limited', headers: { 'Retry-After': '1' } };
    await expect(authenticate(limited, caller(`token=${token}`))).rejects.toMatchObject({ problem });
  });

  test('is allowed by its Origin, or without one by its Referer, when the key has a list', () => {
    const allowed = { allowedOrigins: ['https://example.com'] };
    const check = (headers: Record<string, string>) => () => checkOrigin(allowed, caller('', headers));
    expect(check({ origin: 'https://example.com' })).not.toThrow();
    expect(check({ referer: 'https://example.com/page?q=1' })).not.toThrow();
    for (const headers of [
      { origin: 'https://evil.example', referer: 'https://example.com/' },
      { origin: 'https://example.com.evil.example' },
      { origin: 'null' },
      { referer: 'not a url' },
      {},
    ] as Record<string, string>[]) {
      expect(check(headers)).toThrow('origin_not_allowed');
    }
    expect(() => checkOrigin({ allowedOrigins: [] }, caller(''))).not.toThrow();
  });

  test.each([
    ['https://www.example.com', true],
    ['https://a.b.example.com', true],
    ['HTTPS://WWW.Example.com', true],
    ['https://xn--bcher-kva.example.com', true],
    ['https://app.example.com:8443', false],
    ['https://example.com', false],
    ['https://.example.com', false],
    ['https://notexample.com', false],
    ['http://www.example.com', false],
    ['https://www.example.com.evil.test', false],
    ['https://evil.test?.example.com', false],
    ['https://evil.test/.example.com', false],
    ['https://user@.example.com', false],
    ['https://*.example.com', false],
    ['null', false],
  ])('from %s is %s on a list with https://*.example.com', (origin, isAllowed) => {
    const check = () => checkOrigin({ allowedOrigins: ['https://*.example.com'] }, caller('', { origin }));
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow('origin_not_allowed');
  });

  test('on a port of a subdomain is allowed if the list has the port', () => {
    const allowedOrigins = ['http://*.example.com:3000'];
    expect(() =>
      checkOrigin({ allowedOrigins }, caller('', { origin: 'http://a.example.com:3000' })),
    ).not.toThrow();
    expect(() => checkOrigin({ allowedOrigins }, caller('', { origin: 'http://a.example.com' }))).toThrow();
  });
});
