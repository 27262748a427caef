import { randomBytes } from 'node:crypto';

/** The services to which accounts gives operators passes. */
export const PASS_SERVICES = ['catalog', 'metering', 'images'] as const;

const PREFIX = 'bdsop_';
const RANDOM_BYTES = 24;

/** Returns a new credential of an operator, which is impossible to guess. Its prefix lets scanners of leaked secrets find it. */
export function createOperatorCredential(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Whether the text has the form of an operator's own credential, unlike the installation's operator token. */
export function isOperatorCredential(text: string): boolean {
  return /^bdsop_[\w-]{32}$/.test(text);
}
