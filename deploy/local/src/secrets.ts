import { randomBytes } from 'node:crypto';

export interface Secrets {
  /** What the admin ports want. */
  operatorToken: string;
  /** The key of the digests that tokens are stored as. */
  tokenHashKey: string;
}

export function newSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('base64url');
  return { operatorToken: secret(), tokenHashKey: secret() };
}
