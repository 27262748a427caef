import { createHash, randomBytes } from 'node:crypto';
import {
  isOperatorCredential,
  isOperatorRole,
  OPERATOR_ROLES,
  type OperatorCredential,
  type OperatorRole,
} from '@brand-data/contracts';
import { Fault, INSTALLATION, type Operators } from '@brand-data/runtime';
import type { Binary } from 'mongodb';
import { requireSlug } from './input.ts';

/** A credential of an operator. */
export interface OperatorDoc {
  /** The credential's id. */
  _id: string;
  name: string;
  role: OperatorRole;
  /** See hashCredential; the credential itself is not stored. */
  hash: Binary;
  createdAt: Date;
  createdBy: string;
  revokedAt?: Date;
}

export function createCredentialId(): string {
  return `opc-${randomBytes(10).toString('hex')}`;
}

/**
 * Returns the form in which a credential is stored. A credential has 192 random bits, so it cannot be found from its hash, and
 * the hash needs no key. Operators' credentials therefore stay valid when the key that hashes callers' tokens is replaced.
 */
export function hashCredential(credential: string): Buffer {
  return createHash('sha256').update(credential).digest();
}

/** Throws Fault `invalid_argument` unless it is a slug that people cannot take for the installation's operator token. */
export function requireOperatorName(name: string): string {
  if (name === INSTALLATION.name)
    throw new Fault('invalid_argument', `the name ${name} stands for the installation's own operator token`);
  return requireSlug('an operator', name);
}

export function requireRole(role: string): OperatorRole {
  if (isOperatorRole(role)) return role;
  throw new Fault('invalid_argument', `a role is one of ${OPERATOR_ROLES.join(', ')}`);
}

/** Authenticates the credentials in the store. A credential is refused as soon as its revocation is confirmed. */
export function storedOperators(store: {
  findOperator(hash: Buffer): Promise<OperatorDoc | undefined>;
}): Operators['authenticate'] {
  return async (credential) => {
    if (!isOperatorCredential(credential)) return 'unknown';
    const found = await store.findOperator(hashCredential(credential));
    if (!found) return 'unknown';
    if (found.revokedAt) return 'revoked';
    return { name: found.name, role: found.role, credentialId: found._id };
  };
}

export function operatorToProto(operator: OperatorDoc): OperatorCredential {
  const { _id, name, role, createdAt, createdBy, revokedAt } = operator;
  return {
    id: _id,
    name,
    role,
    createdBy,
    createdAtMs: createdAt.getTime(),
    revokedAtMs: revokedAt?.getTime(),
  };
}
