import { createToken, isWellFormedToken, tokenSha256 } from '@brand-data/contracts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const token = fc.constant(undefined).map(createToken);
const place = fc.nat(30);
const character = fc.constantFrom(...'0189AZaz-_ é');

describe('a token', () => {
  test('begins with pk_ and goes into a query string as it is', () => {
    for (let i = 0; i < 100; i++) expect(createToken()).toMatch(/^pk_[0-9A-Za-z]{28}$/);
  });

  test('is like no other', () => {
    expect(new Set(Array.from({ length: 1_000 }, createToken)).size).toBe(1_000);
  });

  test('is well-formed', () => {
    for (let i = 0; i < 1_000; i++) expect(isWellFormedToken(createToken())).toBe(true);
  });

  test('with one character changed, left out or put in is no token', () =>
    fc.assert(
      fc.property(token, place, character, (good, at, other) => {
        const changed = good.slice(0, at) + other + good.slice(at + 1);
        expect(isWellFormedToken(changed)).toBe(changed === good);
        expect(isWellFormedToken(good.slice(0, at) + good.slice(at + 1))).toBe(false);
        expect(isWellFormedToken(good.slice(0, at) + other + good.slice(at))).toBe(false);
      }),
    ));

  test('with two neighbours exchanged is no token', () =>
    fc.assert(
      fc.property(token, place, (good, at) => {
        const swapped = `${good.slice(0, at)}${good.charAt(at + 1)}${good.charAt(at)}${good.slice(at + 2)}`;
        expect(isWellFormedToken(swapped)).toBe(swapped === good);
      }),
    ));

  test('is told from any other text', () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^pk_[0-9A-Za-z]{0,40}$/)), (text) => {
        expect(isWellFormedToken(text)).toBe(false);
      }),
    ));

  test('has a digest of 32 bytes', () => {
    expect(tokenSha256('pk_')).toHaveLength(32);
  });
});
