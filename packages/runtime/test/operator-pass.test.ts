import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { keyIdOf } from '../src/config/pem-keys.ts';
import { passesFor, signPass } from '../src/operators/operator-pass.ts';

const [own, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const ANA = { name: 'ana', role: 'keys', credentialId: 'opc-1' };
const MINUTE_MS = 60_000;

const checking = (keys: readonly KeyObject[], name = 'catalog') => {
  let change: (text: string) => void = () => {};
  const onSettingChange = (_name: string, changed: (text: string) => void) => {
    change = changed;
  };
  return { check: passesFor({ name, onSettingChange }, keys), change: (text: string) => change(text) };
};
const passOf = async (key: KeyObject, service = 'catalog', atMs = Date.now()) =>
  (await signPass(key, ANA, service, atMs)).pass;

test('a pass says who the operator is, for ten minutes and at one service', async () => {
  const { check } = checking([own.publicKey]);
  expect(await check(await passOf(own.privateKey))).toEqual(ANA);
  expect(await check(await passOf(own.privateKey, 'catalog', Date.now() - 9 * MINUTE_MS))).toEqual(ANA);
  expect(await check(await passOf(own.privateKey, 'catalog', Date.now() - 11 * MINUTE_MS))).toBe('expired');
  for (const service of ['images', 'metering', '']) {
    expect(await check(await passOf(own.privateKey, service))).toBe('unknown');
    expect(await checking([own.publicKey], service).check(await passOf(own.privateKey))).toBe('unknown');
  }
  const { expiresAtMs } = await signPass(own.privateKey, ANA, 'catalog', 5_000);
  expect(expiresAtMs).toBe(5_000 + 10 * MINUTE_MS);
});

describe('nobody else makes a pass', () => {
  const signed = (
    key: KeyObject,
    { typ = 'operator-pass+jwt', claims = {} as object, alg = 'EdDSA', kid = keyIdOf(own.publicKey) } = {},
  ) =>
    new SignJWT({ sub: 'ana', role: 'all', cid: 'opc-1', ...claims })
      .setProtectedHeader({ alg, typ, kid })
      .setIssuer('brand-data/accounts')
      .setAudience('brand-data/catalog')
      .setIssuedAt()
      .setExpirationTime('10m')
      .sign(key);
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  const forgeries: Record<string, () => Promise<string>> = {
    'with another key': () => signed(other.privateKey),
    'with another key under its own id': () => signed(other.privateKey, { kid: keyIdOf(other.publicKey) }),
    'of what accounts signs for another purpose': () => signed(own.privateKey, { typ: 'allowance+jwt' }),
    'without a role': () => signed(own.privateKey, { claims: { role: undefined } }),
    'of another role than was signed': async () => {
      const [head, , signature] = (await passOf(own.privateKey)).split('.');
      const now = Math.floor(Date.now() / 1_000);
      const body = {
        sub: 'ana',
        role: 'all',
        cid: 'opc-1',
        iss: 'brand-data/accounts',
        aud: 'brand-data/catalog',
        iat: now,
        exp: now + 600,
      };
      return `${head}.${encoded(body)}.${signature}`;
    },
    'without a signature': async () => {
      const [, body] = (await passOf(own.privateKey)).split('.');
      return `${encoded({ alg: 'none', typ: 'operator-pass+jwt', kid: keyIdOf(own.publicKey) })}.${body}.`;
    },
    'that is no token': async () => 'bdsop_and-some-other-text',
  };
  test.each(Object.keys(forgeries))('%s', async (name) => {
    const { check } = checking([own.publicKey]);
    expect(await check((await forgeries[name]?.()) ?? '')).toBe('unknown');
  });

  test('where there are no keys', async () => {
    expect(await checking([]).check(await passOf(own.privateKey))).toBe('unknown');
  });
});

test('while the key is replaced, passes of both keys are good, and afterwards those of the old one are not', async () => {
  const pem = (...keys: KeyObject[]) =>
    keys.map((key) => key.export({ type: 'spki', format: 'pem' })).join('\n');
  const { check, change } = checking([own.publicKey]);
  const [old, next] = [await passOf(own.privateKey), await passOf(other.privateKey)];
  expect([await check(old), await check(next)]).toEqual([ANA, 'unknown']);
  change(pem(own.publicKey, other.publicKey));
  expect([await check(old), await check(next)]).toEqual([ANA, ANA]);
  change(pem(other.publicKey));
  expect([await check(old), await check(next)]).toEqual(['unknown', ANA]);
  expect(() => change('not a key')).toThrow();
  expect(await check(next)).toEqual(ANA);
});
