import { createHmac, hash, hkdfSync, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * A token (services/accounts/README.md) is `pk_`, 22 random base62 characters (130 bits), and a checksum. There are two forms:
 *
 * - Keyed tokens, 32 characters after `pk_`. Two characters name a check key, and 8 are a MAC of all characters before them.
 *   Only accounts can make a token with the right MAC, so a gateway that has the check key refuses made-up tokens by itself.
 * - Plain tokens, 28 characters after `pk_`. The last 6 are a CRC-32 of all characters before them. The checksum shows a typo,
 *   but anyone can compute it. Versions before keyed tokens made plain tokens, which stay valid.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'pk_';
const RANDOM_LENGTH = 22;
const CRC_LENGTH = 6;
const KEY_NAME_LENGTH = 2;
const MAC_LENGTH = 8;
const PLAIN_LENGTH = PREFIX.length + RANDOM_LENGTH + CRC_LENGTH;
const KEYED_LENGTH = PREFIX.length + RANDOM_LENGTH + KEY_NAME_LENGTH + MAC_LENGTH;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]+$`);

/** No token is longer. */
export const LONGEST_TOKEN = KEYED_LENGTH;

/** With this key accounts makes the checksums of keyed tokens, and gateways check them. It proves nothing else. */
export interface TokenCheckKey {
  /** Two base62 characters, which every token that is made with the key contains. */
  name: string;
  bytes: Uint8Array;
}

/** Derives the check key from the secret with which accounts hashes tokens. The secret cannot be found from the check key. */
export function tokenCheckKeyFrom(tokenHashKey: string): TokenCheckKey {
  return tokenCheckKeyOf(new Uint8Array(hkdfSync('sha256', tokenHashKey, '', 'brand-data token check', 32)));
}

export function tokenCheckKeyOf(bytes: Uint8Array): TokenCheckKey {
  return { name: base62(hash('sha256', bytes, 'buffer').readUIntBE(0, 6), KEY_NAME_LENGTH), bytes };
}

/** Returns a new token that is impossible to guess: a keyed token, or a plain token if there is no check key. */
export function createToken(checkKey?: TokenCheckKey): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length)));
  const body = PREFIX + random.join('') + (checkKey?.name ?? '');
  return body + (checkKey ? macOf(body, checkKey) : base62(crc32(body), CRC_LENGTH));
}

/**
 * What the text alone shows about a token.
 *
 * - `genuine`: accounts has made it. It may be revoked meanwhile.
 * - `possible`: only accounts can say. It is a plain token, or its check key is not one of `checkKeys`.
 * - `wrong`: it is mistyped or made up.
 */
export function checkToken(
  text: string,
  checkKeys: readonly TokenCheckKey[],
): 'genuine' | 'possible' | 'wrong' {
  if (text.length === PLAIN_LENGTH && FORM.test(text))
    return base62(crc32(text.slice(0, -CRC_LENGTH)), CRC_LENGTH) === text.slice(-CRC_LENGTH)
      ? 'possible'
      : 'wrong';
  if (text.length !== KEYED_LENGTH || !FORM.test(text)) return 'wrong';
  const body = text.slice(0, -MAC_LENGTH);
  const named = checkKeys.filter(({ name }) => body.endsWith(name));
  if (named.length === 0) return 'possible';
  return named.some((key) => macOf(body, key) === text.slice(-MAC_LENGTH)) ? 'genuine' : 'wrong';
}

/** Returns the digest that VerifyToken takes in place of the token: SHA-256, 32 bytes. */
export function tokenSha256(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** 47 bits of an HMAC-SHA256. */
function macOf(body: string, { bytes }: TokenCheckKey): string {
  return base62(createHmac('sha256', bytes).update(body).digest().readUIntBE(0, 6), MAC_LENGTH);
}

/** Returns the last `length` digits of a whole number up to 2^53 - 1. */
function base62(number: number, length: number): string {
  let rest = number;
  let digits = '';
  for (let i = 0; i < length; i++) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
