import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { AllowanceSigner } from '@brand-data/accounts/src/rpc/allowance-signer.ts';
import { ALLOWANCE_LASTS_MS } from '@brand-data/contracts';
import { keyIdOf, signingKeyFromPem, verifyingKeysFromPem } from '@brand-data/runtime';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { Allowances } from '../src/granting/allowances.ts';

const NOW_MS = Date.UTC(2026, 10, 20);
const newKey = () => generateKeyPairSync('ed25519').privateKey;
const [old, next] = [newKey(), newKey()];
const publicOf = (key: KeyObject) => createPublicKey(key);
const account = { _id: 'acct', revision: 7 };
const plan = {
  revision: 9,
  pools: [
    { name: 'calls', allowance: 5, routes: [] },
    { name: 'logos', allowance: 100, routes: [] },
  ],
};
const signed = async (key: KeyObject) => (await new AllowanceSigner(key).sign(account, plan, NOW_MS)).token;
const said = {
  accountId: 'acct',
  limitRevision: 9,
  limits: new Map([
    ['calls', 5],
    ['logos', 100],
  ]),
  untilMs: NOW_MS + ALLOWANCE_LASTS_MS,
};

describe('an allowance', () => {
  test('is read as accounts signed it', async () => {
    expect(await new Allowances([publicOf(old)]).verify(await signed(old))).toEqual(said);
  });

  test('is trusted with any of several keys, and no longer once its key is taken away', async () => {
    const allowances = new Allowances([publicOf(old)]);
    const [byOld, byNext] = [await signed(old), await signed(next)];
    expect(await allowances.verify(byNext)).toBeUndefined();
    allowances.replaceKeys([publicOf(old), publicOf(next)]);
    expect(await allowances.verify(byOld)).toEqual(said);
    expect(await allowances.verify(byNext)).toEqual(said);
    allowances.replaceKeys([publicOf(next)]);
    expect(await allowances.verify(byOld)).toBeUndefined();
    expect(await allowances.verify(byNext)).toEqual(said);
  });

  const claims = { sub: 'acct', revision: 1, pools: { calls: 5 } };
  const token = (
    header: { alg?: string; kid?: string; typ?: string },
    more: Record<string, unknown> = {},
    key: KeyObject | Uint8Array = old,
  ) =>
    new SignJWT({ ...claims, iss: 'brand-data/accounts', aud: 'brand-data/metering', exp: 2e9, ...more })
      .setProtectedHeader({ alg: 'EdDSA', kid: keyIdOf(old), typ: 'allowance+jwt', ...header })
      .sign(key);
  const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  test('that these tests make is a good one', async () => {
    expect(await new Allowances([publicOf(old)]).verify(await token({}))).toBeDefined();
  });

  test.each<[string, () => Promise<string>]>([
    ['is empty', async () => ''],
    ['is no token', async () => 'a.b.c'],
    ['has no signature', async () => `${b64({ alg: 'none', typ: 'allowance+jwt' })}.${b64(claims)}.`],
    ['is signed by another key under the name of this one', () => token({}, {}, next)],
    [
      'is signed with the public key as a shared secret',
      async () => {
        const secret = publicOf(old).export({ format: 'der', type: 'spki' });
        return token({ alg: 'HS256' }, {}, secret);
      },
    ],
    [
      'has other claims than were signed',
      async () => {
        const [header, , signature] = (await token({})).split('.');
        return `${header}.${b64({ ...claims, pools: { calls: 60 } })}.${signature}`;
      },
    ],
    ['is of another type', () => token({ typ: 'JWT' })],
    ['is for somebody else', () => token({}, { aud: 'brand-data/catalog' })],
    ['is from somebody else', () => token({}, { iss: 'someone' })],
    ['has no account', () => token({}, { sub: undefined })],
    ['has no time', () => token({}, { exp: undefined })],
    ['has a negative revision', () => token({}, { revision: -1 })],
    ['has a limit that is no number', () => token({}, { pools: { calls: '5' } })],
  ])('that %s is not trusted', async (_what, make) => {
    expect(await new Allowances([publicOf(old)]).verify(await make())).toBeUndefined();
  });
});

describe('keys in PEM', () => {
  const pem = (key: KeyObject) =>
    key
      .export(key.type === 'private' ? { format: 'pem', type: 'pkcs8' } : { format: 'pem', type: 'spki' })
      .toString();

  test('are read, several public ones in one file', () => {
    expect(keyIdOf(signingKeyFromPem(pem(old)))).toBe(keyIdOf(publicOf(old)));
    const keys = verifyingKeysFromPem(`# old\n${pem(publicOf(old))}\n# new\n${pem(publicOf(next))}`);
    expect(keys.map(keyIdOf)).toEqual([keyIdOf(old), keyIdOf(next)]);
  });

  test('of other kinds are refused, without showing them', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(() => signingKeyFromPem(pem(rsa.privateKey))).toThrow('must be an Ed25519 private key in PEM');
    expect(() => signingKeyFromPem('nonsense')).toThrow('must be an Ed25519 private key in PEM');
    for (const wrong of [pem(old), pem(rsa.publicKey), 'nonsense', `${pem(publicOf(old))}${pem(old)}`])
      expect(() => verifyingKeysFromPem(wrong)).toThrow('must be one or several Ed25519 public keys');
    expect(createPrivateKey(pem(old)).asymmetricKeyType).toBe('ed25519');
  });
});
