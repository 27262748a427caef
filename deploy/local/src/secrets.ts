import { randomBytes } from 'node:crypto';

export interface Secrets {
  /** The token that the admin ports require. */
  operatorToken: string;
  /** The key with which accounts hashes tokens before it stores them. */
  tokenHashKey: string;
}

export function newSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('base64url');
  return { operatorToken: secret(), tokenHashKey: secret() };
}
