import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Tokens (services/accounts/README.md) are `pk_`, 22 random base62 characters (130 bits) and 6 more that hold a CRC-32 of all
 * characters before them, so that a typo is recognized without asking accounts.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'pk_';
const RANDOM_LENGTH = 22;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new token that nobody can guess. */
export function createToken(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length)));
  const body = PREFIX + random.join('');
  return body + checksum(body);
}

/** Whether the text could be a token: its form and its checksum are right. */
export function isWellFormedToken(text: string): boolean {
  if (!FORM.test(text)) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** The digest that VerifyToken takes in place of the token: SHA-256, 32 bytes. */
export function tokenSha256(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
