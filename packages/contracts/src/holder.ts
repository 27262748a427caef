import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';

/**
 * How gateways prove to metering who they are (services/metering/README.md, "Holders"). Each gateway process makes an Ed25519 key
 * pair when it starts. Its name as a holder is the public key, so metering needs nothing else to verify a signature.
 */

/** The NATS header with the signature of a usage event's bytes, in base64url. */
export const USAGE_SIGNATURE_HEADER = 'Brand-Data-Signature';
/** The gRPC metadata in which a gateway proves which holder it is. */
export const HOLDER_PROOF_METADATA = 'brand-data-holder-proof';

/** A gateway makes a new proof this often. */
const PROOF_RENEWED_AFTER_MS = 30_000;
/** A proof is valid for this long, by the gateway's clock. */
const PROOF_LASTS_MS = 90_000;
/** The gateway's clock and metering's may differ by this much. */
const CLOCKS_APART_MS = 60_000;
/** 32 bytes in base64url: an Ed25519 public key. */
const HOLDER_KEY = /^[\w-]{43}$/;

/** The key pair of a gateway process. */
export interface HolderIdentity {
  /** The public key, 32 bytes in base64url: 43 characters. */
  name: string;
  /** Signs the bytes of a usage event. Returns the signature in base64url. */
  sign(payload: Uint8Array): string;
  /** Returns the proof for a request that is sent now. The same proof is used for half a minute. `nowMs`: since 1970. */
  proofAt(nowMs: number): string;
}

export function createHolderIdentity(): HolderIdentity {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const name = publicKey.export({ format: 'jwk' }).x ?? '';
  const signed = (bytes: Uint8Array) => sign(null, bytes, privateKey).toString('base64url');
  let last = { atMs: Number.NEGATIVE_INFINITY, proof: '' };
  return {
    name,
    sign: signed,
    proofAt: (nowMs) => {
      // Also if the clock was set back: the last proof may then end too far in the future.
      if (Math.abs(nowMs - last.atMs) >= PROOF_RENEWED_AFTER_MS) {
        const untilMs = Math.floor(nowMs) + PROOF_LASTS_MS;
        last = { atMs: nowMs, proof: `${untilMs}.${signed(statementOf(name, untilMs))}` };
      }
      return last.proof;
    },
  };
}

/** Whether the name of a holder is a public key. Holders with other names cannot prove anything. */
export function isHolderKey(holder: string): boolean {
  return HOLDER_KEY.test(holder);
}

/** Returns the public key that a holder's name is, or undefined if the name is none. */
export function keyOfHolder(holder: string): KeyObject | undefined {
  if (!isHolderKey(holder)) return undefined;
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: holder }, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** Whether the holder with this key made the signature, which is in base64url. */
export function isSignedBy(key: KeyObject, payload: Uint8Array, signature: string): boolean {
  return verify(null, payload, key, Buffer.from(signature, 'base64url'));
}

/**
 * Checks a proof. Returns until when it is valid by this clock, in milliseconds since 1970. undefined: it does not prove that the
 * sender is the holder, or its time is over.
 */
export function proofEndMs(key: KeyObject, holder: string, proof: string, nowMs: number): number | undefined {
  const [, until, signature = ''] = /^(\d{1,15})\.([\w-]{86})$/.exec(proof) ?? [];
  const untilMs = Number(until);
  const leftMs = untilMs - nowMs;
  if (!(leftMs > -CLOCKS_APART_MS && leftMs <= PROOF_LASTS_MS + CLOCKS_APART_MS)) return undefined;
  return isSignedBy(key, statementOf(holder, untilMs), signature) ? untilMs + CLOCKS_APART_MS : undefined;
}

/** A usage event begins with another byte, so a signed event is never a proof, nor a proof an event. */
function statementOf(holder: string, untilMs: number): Buffer {
  return Buffer.from(`brand-data: holder ${holder} speaks to metering until ${untilMs}`);
}
