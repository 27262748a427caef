import { createHmac, randomBytes } from 'node:crypto';
import type { CallLimits, Key } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import type { Binary } from 'mongodb';
import { getPublicSuffix } from 'tldts';

const SHA256_BYTES = 32;
const MOST_ORIGINS = 20;
const LONGEST_ORIGIN = 300;
const ORIGIN = /^([a-z][a-z0-9+.-]*:\/\/)(\*\.)?([^/?#@*\\\s]+)$/i;
/** A domain with a dot, and no IP address: the last label begins with a letter. */
const DOMAIN = /^(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*$/;
const LATEST_DATE_MS = 8.64e15;
const LONGEST_OVERLAP_MS = 90 * 86_400_000;

export interface KeyDoc {
  /** The key's id. */
  _id: string;
  accountId: string;
  /** See hashToken; the token itself is not stored. */
  tokenHash: Binary;
  label: string;
  /** Empty: every origin may use the key. */
  allowedOrigins: string[];
  limits?: CallLimits | undefined;
  createdAt: Date;
  expiresAt?: Date;
  revokedAt?: Date;
  /** The key that replaces this one, if it was rotated. */
  replacedBy?: string;
}

export function createKeyId(): string {
  return `key-${randomBytes(10).toString('hex')}`;
}

/**
 * Returns the form in which a token is stored: HMAC-SHA256 of its SHA-256 digest, with a key that is not in the database. A copy
 * of the database alone therefore does not show whether a given token is in it.
 */
export function hashToken(secret: string, sha256: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(sha256).digest();
}

/** Throws Fault `invalid_argument` unless the bytes can be the digest of a token. */
export function requireTokenSha256(sha256: Uint8Array): Uint8Array {
  if (sha256.length === SHA256_BYTES) return sha256;
  throw new Fault('invalid_argument', 'token_sha256 must be the SHA-256 of a token: 32 bytes');
}

/**
 * Returns the origins as browsers write them in an Origin header: `scheme://host[:port]` in lower case, without the scheme's
 * default port. The host may be `*.example.com`, which stands for all subdomains. Under a public suffix, such as `com`, `co.uk` or
 * `github.io`, anyone can get a name, so `*.github.io` is refused. Each origin is in the result once. Throws Fault
 * `invalid_argument` if a text is not an origin or stands for the whole of a public suffix.
 */
export function requireOrigins(origins: readonly string[]): string[] {
  if (origins.length > MOST_ORIGINS)
    throw new Fault('invalid_argument', `a key can have at most ${MOST_ORIGINS} allowed origins`);
  return [...new Set(origins.map(requireOrigin))];
}

function requireOrigin(origin: string): string {
  const [, scheme = '', wildcard = '', host = ''] = ORIGIN.exec(origin.slice(0, LONGEST_ORIGIN + 1)) ?? [];
  const url = origin.length <= LONGEST_ORIGIN ? URL.parse(`${scheme}${host}`) : null;
  if (!url?.host || (wildcard !== '' && !DOMAIN.test(url.hostname)))
    throw new Fault(
      'invalid_argument',
      'an allowed origin must have the form scheme://host[:port] without a path, such as https://example.com, or https://*.example.com for all its subdomains',
    );
  if (wildcard !== '' && isPublicSuffix(url.hostname))
    throw new Fault(
      'invalid_argument',
      `anyone can get a name under ${url.hostname}, so *.${url.hostname} cannot be allowed: list the names that are yours, such as https://*.example.${url.hostname}`,
    );
  return `${url.protocol}//${wildcard}${url.host.toLowerCase()}`;
}

/** Whether the Public Suffix List has this name, either as a registry's or as a company's that gives out names below it. */
function isPublicSuffix(hostname: string): boolean {
  return getPublicSuffix(hostname, { allowPrivateDomains: true, validateHostname: false }) === hostname;
}

/** Returns the overlap of two keys in milliseconds. Throws Fault `invalid_argument` unless it is from 0 to 90 days. */
export function requireOverlap(overlapMs: number): number {
  if (!Number.isSafeInteger(overlapMs) || overlapMs < 0 || overlapMs > LONGEST_OVERLAP_MS)
    throw new Fault('invalid_argument', 'the overlap of the two keys must be from 0 to 90 days');
  return overlapMs;
}

/** Returns the expiry as a date. Throws Fault `invalid_argument` unless it is in the future. */
export function requireExpiry(expiresAtMs: number, nowMs: number): Date {
  if (expiresAtMs <= nowMs || expiresAtMs > LATEST_DATE_MS)
    throw new Fault('invalid_argument', 'the key must expire at a time in the future');
  return new Date(expiresAtMs);
}

export function keyToProto(key: KeyDoc): Key {
  return {
    id: key._id,
    accountId: key.accountId,
    label: key.label,
    allowedOrigins: key.allowedOrigins,
    createdAtMs: key.createdAt.getTime(),
    expiresAtMs: key.expiresAt?.getTime(),
    revokedAtMs: key.revokedAt?.getTime(),
    limits: key.limits,
    replacedBy: key.replacedBy ?? '',
  };
}
