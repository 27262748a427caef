import type { KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { findKeyIn, keyIdOf, verifyingKeysFromPem } from '../config/pem-keys.ts';
import { installationOr, type Operator, type Operators } from '../grpc/operator.ts';
import type { Service } from '../service/service.ts';

/**
 * Only accounts stores operators' credentials, and the other services cannot ask it. Therefore accounts gives an operator a signed,
 * short-lived pass for one service, which says who the operator is. That service checks the pass with accounts' public key.
 */
const TYPE = 'operator-pass+jwt';
const ISSUER = 'brand-data/accounts';
const ALGORITHM = 'EdDSA';

/** A revoked credential still opens the other services for at most this long, plus CLOCKS_APART_S. */
export const PASS_LASTS_MS = 10 * 60_000;
/** The clocks of two services may differ by this much. */
const CLOCKS_APART_S = 30;

/** Signs a pass for the admin port of `service` with accounts' Ed25519 key. Times are in milliseconds since 1970. */
export async function signPass(
  key: KeyObject,
  { name, role, credentialId }: Operator,
  service: string,
  nowMs: number,
): Promise<{ pass: string; expiresAtMs: number }> {
  const now = Math.floor(nowMs / 1_000);
  const until = now + PASS_LASTS_MS / 1_000;
  const pass = await new SignJWT({ sub: name, role, cid: credentialId })
    .setProtectedHeader({ alg: ALGORITHM, kid: keyIdOf(key), typ: TYPE })
    .setIssuer(ISSUER)
    .setAudience(audienceOf(service))
    .setIssuedAt(now)
    .setExpirationTime(until)
    .sign(key);
  return { pass, expiresAtMs: until * 1_000 };
}

/** Authenticates passes for this service with accounts' public keys: several, while the key is replaced in the setting's file. */
export function passesFor(
  { name, onSettingChange }: Pick<Service, 'name' | 'onSettingChange'>,
  keys: readonly KeyObject[] = [],
): Operators['authenticate'] {
  let findKey = findKeyIn(keys);
  onSettingChange('PASS_PUBLIC_KEYS', (pem) => {
    findKey = findKeyIn(verifyingKeysFromPem(pem));
  });
  return async (credential) => {
    try {
      const { payload } = await jwtVerify(credential, findKey, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: ISSUER,
        audience: audienceOf(name),
        clockTolerance: CLOCKS_APART_S,
        requiredClaims: ['sub', 'iat', 'exp'],
      });
      const { sub, role, cid } = payload;
      if (typeof sub !== 'string' || typeof role !== 'string' || typeof cid !== 'string') return 'unknown';
      return { name: sub, role, credentialId: cid };
    } catch (error) {
      return error instanceof errors.JWTExpired ? 'expired' : 'unknown';
    }
  };
}

/** Authenticates the installation's operator tokens and operators' passes: for every service except accounts. */
export function installationOrPass(
  service: Pick<Service, 'name' | 'onSettingChange'>,
  settings: { OPERATOR_TOKEN: readonly string[]; PASS_PUBLIC_KEYS: readonly KeyObject[] | undefined },
): Operators['authenticate'] {
  return installationOr(service, settings.OPERATOR_TOKEN, passesFor(service, settings.PASS_PUBLIC_KEYS));
}

function audienceOf(service: string): string {
  return `brand-data/${service}`;
}
