import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';

export interface Secrets {
  /** The token that the admin ports require. */
  operatorToken: string;
  /** The key with which accounts hashes tokens before it stores them. */
  tokenHashKey: string;
  /** The private key with which accounts signs allowances, in PEM. */
  allowanceSigningKey: string;
  /** The secret from which the passwords of the users of MongoDB and NATS are computed. */
  serverSecret: string;
}

export function newSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('base64url');
  return {
    operatorToken: secret(),
    tokenHashKey: secret(),
    serverSecret: secret(),
    allowanceSigningKey: newAllowanceKeys().signing,
  };
}

/** Creates a key pair in PEM: accounts signs allowances with the private key, and metering verifies them with the public one. */
export function newAllowanceKeys(): { signing: string; verifying: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const signing = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return { signing, verifying: publicKeyOf(signing) };
}

/** Returns the public key of a private one, both in PEM. */
export function publicKeyOf(signingKey: string): string {
  return createPublicKey(createPrivateKey(signingKey)).export({ format: 'pem', type: 'spki' }).toString();
}

/**
 * Creates the keys with which accounts signs operators' passes, and other services check them. Each start has new ones, because
 * passes are valid for some minutes only.
 */
export function newPassKeys(): { privateKey: string; publicKey: string } {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}
