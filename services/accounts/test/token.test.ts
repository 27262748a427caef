import { checkToken, createToken, tokenCheckKeyFrom, tokenSha256 } from '@brand-data/contracts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const key = tokenCheckKeyFrom('a hash key of the tests');
const older = tokenCheckKeyFrom('the hash key before it');
const place = fc.nat(30);
const character = fc.constantFrom(...'0189AZaz-_ é');

describe.each([
  ['a keyed token', 32, 'genuine', () => createToken(key)],
  ['a plain token', 28, 'possible', () => createToken()],
] as const)('%s', (_form, length, verdict, create) => {
  const token = fc.constant(undefined).map(create);

  test('begins with pk_ and goes into a query string as it is', () => {
    for (let i = 0; i < 100; i++) expect(create()).toMatch(new RegExp(`^pk_[0-9A-Za-z]{${length}}$`));
  });

  test('is like no other', () => {
    expect(new Set(Array.from({ length: 1_000 }, create)).size).toBe(1_000);
  });

  test(`is ${verdict}`, () => {
    for (let i = 0; i < 1_000; i++) expect(checkToken(create(), [older, key])).toBe(verdict);
  });

  test('with one character changed, left out or put in is wrong', () =>
    fc.assert(
      fc.property(token, place, character, (good, at, other) => {
        const changed = good.slice(0, at) + other + good.slice(at + 1);
        const named = changed.slice(0, -8).endsWith(key.name) || length === 28;
        expect(checkToken(changed, [key]) === verdict).toBe(changed === good);
        if (changed !== good && named) expect(checkToken(changed, [key])).toBe('wrong');
        expect(checkToken(good.slice(0, at) + good.slice(at + 1), [key])).not.toBe(verdict);
        expect(checkToken(good.slice(0, at) + other + good.slice(at), [key])).not.toBe(verdict);
      }),
    ));

  test('with two neighbours exchanged is not taken for one', () =>
    fc.assert(
      fc.property(token, place, (good, at) => {
        const swapped = `${good.slice(0, at)}${good.charAt(at + 1)}${good.charAt(at)}${good.slice(at + 2)}`;
        expect(checkToken(swapped, [key]) === verdict).toBe(swapped === good);
      }),
    ));
});

describe('a text', () => {
  test('with any checksum but the one of the check key that it names is wrong', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Za-z]{8}$/), (checksum) => {
        const genuine = createToken(key);
        fc.pre(!genuine.endsWith(checksum));
        expect(checkToken(genuine.slice(0, -8) + checksum, [key])).toBe('wrong');
      }),
    ));

  test('that names a check key which the gateway lacks may be a token', () => {
    expect(checkToken(createToken(key), [])).toBe('possible');
    expect(checkToken(createToken(key), [older])).toBe('possible');
  });

  test('of any other form is wrong', () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^pk_[0-9A-Za-z]{0,31}$/)), (text) => {
        expect(checkToken(text, [key])).toBe('wrong');
      }),
    ));
});

test('a token has a digest of 32 bytes', () => {
  expect(tokenSha256('pk_')).toHaveLength(32);
});
