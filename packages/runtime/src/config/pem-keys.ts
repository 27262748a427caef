import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

/** Reads all certificates in a text. Empty: it has none. Throws an error if one is not valid. */
export function certificatesFromPem(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Reads an Ed25519 private key. Throws an error that does not show it. */
export function signingKeyFromPem(pem: string): KeyObject {
  return ed25519(() => createPrivateKey(pem), 'must be an Ed25519 private key in PEM');
}

/** Reads Ed25519 public keys from blocks of PEM: public keys, or certificates. Throws if there is none, or something else. */
export function verifyingKeysFromPem(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN ([A-Z ]+)-----[^-]*-----END \1-----/g) ?? [];
  const problem = 'must be one or several Ed25519 public keys or certificates in PEM';
  // createPublicKey would derive a public key from a private one. A private key here is a mistake that gives it away.
  if (blocks.length === 0 || blocks.some((block) => block.includes('PRIVATE'))) throw new Error(problem);
  return blocks.map((block) => ed25519(() => createPublicKey(block), problem));
}

/** Returns a short name of a key pair, the same for its private and its public key. */
export function keyIdOf(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const bytes = publicKey.export({ format: 'der', type: 'spki' });
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
}

/** Returns a function that finds the key that a signed token's header names. It throws if the key is not one of these. */
export function findKeyIn(keys: readonly KeyObject[]): (header: { kid?: string | undefined }) => KeyObject {
  const byId = new Map(keys.map((key) => [keyIdOf(key), key]));
  return ({ kid }) => {
    const key = byId.get(kid ?? '');
    if (key === undefined) throw new Error('no such key');
    return key;
  };
}

function ed25519(read: () => KeyObject, problem: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = read();
  } catch {
    // The error of OpenSSL does not help, and must not show a part of the key.
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw new Error(problem);
  return key;
}
