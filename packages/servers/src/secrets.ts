import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';

export interface Secrets {
  /** The token that the admin ports require. */
  operatorToken: string;
  /** The key with which accounts hashes tokens before it stores them. */
  tokenHashKey: string;
  /** The key of the paths of monograms. */
  monogramKey: string;
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
    monogramKey: secret(),
    serverSecret: secret(),
    allowanceSigningKey: newSigningKeys().signing,
  };
}

/** Creates a key pair in PEM: accounts signs with the private key, and other services verify with the public one. */
export function newSigningKeys(): { signing: string; verifying: string } {
  const { privateKey: signing, publicKey: verifying } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { signing, verifying };
}

/** Returns the public key of a private one, both in PEM. */
export function publicKeyOf(signingKey: string): string {
  return createPublicKey(signingKey).export({ format: 'pem', type: 'spki' }).toString();
}
