import { hash } from 'node:crypto';
import {
  type AccountChanged,
  type AccountsServiceClient,
  type Credential,
  isWellFormedToken,
  TokenRefusal,
} from '@brand-data/contracts';
import { type Clock, callUnary, elapsedMs, Fault, type Instant } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../metrics/cache-metrics.ts';
import type { AccountChanges } from './account-changes.ts';

/**
 * How often the gateway verifies a cached token if the stream of changes does not prove that the token is up to date. The
 * gateway also waits this long after a request that accounts did not answer.
 */
const VERIFY_EVERY_MS = 1_000;
/** The gateway trusts no verification that is older than this. */
const TRUSTED_AT_MOST_MS = 600_000;
/**
 * When the verification of a token in use is this old, the gateway verifies the token again. If accounts does not answer, the
 * gateway waits this long before the next attempt. So when accounts fails, verifications of tokens in use are at most about this
 * old.
 */
const RENEW_AFTER_MS = 60_000;
/** The gateway verifies a refused token again after this time, because an operator may have created its key meanwhile. */
const REFUSAL_TRUSTED_MS = 10_000;
const VERIFY_WITHIN_MS = 800;

/** The credential of a valid token, or the reason why a token is refused. */
type Verified = { credential: Credential } | { refusal: TokenRefusal };

interface CachedToken {
  verified: Verified;
  /** When the gateway sent accounts the request that `verified` answers. */
  askedAt: Instant;
  /** When the gateway sent the last request that accounts did not answer. */
  failedAt?: Instant;
  /** Whether the key, account or plan has changed since `askedAt`. */
  changed: boolean;
}

export interface Tokens {
  /** Rejects with Fault `unavailable` if accounts does not answer and the cache has no verification that can be trusted. */
  verify(token: string): Promise<Verified>;
  /** Marks the cached tokens of the changed key, account or plan, so that they are verified again. */
  invalidate(change: AccountChanged): void;
  cacheStats(): CacheStats;
}

/** Verifies tokens and caches the answers by the tokens' digest. It neither stores nor sends the tokens themselves. */
export function createTokens(
  accounts: AccountsServiceClient,
  {
    changes,
    clock,
    entries,
    onFailure = () => {},
  }: {
    changes: () => AccountChanges;
    clock: Pick<Clock, 'now'>;
    entries: number;
    /** Called each time that accounts does not answer. */
    onFailure?: () => void;
  },
): Tokens {
  const cached = new LRUCache<string, CachedToken>({ max: entries });
  const asking = new Map<string, Promise<Verified>>();
  let changesSeen = 0;
  const stats = { hits: 0, misses: 0, stale: 0 };

  const find = async (digest: string): Promise<Verified> => {
    const known = cached.get(digest);
    if (!known) return ask(digest);
    const now = clock.now();
    // A key's expiry never changes, so the gateway need not ask accounts.
    if (hasExpired(known.verified, now.wallMs)) return { refusal: TokenRefusal.EXPIRED };
    const sinceFailureMs = known.failedAt ? elapsedMs(known.failedAt, now) : Number.POSITIVE_INFINITY;
    if (isCurrent(known, now)) {
      const sinceAskedMs = Math.min(elapsedMs(known.askedAt, now), sinceFailureMs);
      if (sinceAskedMs >= RENEW_AFTER_MS) ask(digest).catch(() => {});
      stats.hits += 1;
      return known.verified;
    }
    return sinceFailureMs < VERIFY_EVERY_MS ? withoutAccounts(known) : ask(digest);
  };

  const isCurrent = (known: CachedToken, now: Instant): boolean => {
    const ageMs = elapsedMs(known.askedAt, now);
    if (!isUsable(known, now) || ('refusal' in known.verified && ageMs >= REFUSAL_TRUSTED_MS)) return false;
    return ageMs < VERIFY_EVERY_MS || changes().allArrivedSince(known.askedAt);
  };

  const withoutAccounts = (known: CachedToken | undefined, cause?: unknown): Verified => {
    if (known && isUsable(known, clock.now())) {
      stats.stale += 1;
      return known.verified;
    }
    throw new Fault('unavailable', 'the token could not be verified in time', { cause });
  };

  /** Concurrent verifications of one token share one request. */
  const ask = (digest: string): Promise<Verified> => {
    let pending = asking.get(digest);
    if (!pending) {
      pending = verifyByAccounts(digest).finally(() => asking.delete(digest));
      asking.set(digest, pending);
    }
    return pending;
  };

  const verifyByAccounts = async (digest: string): Promise<Verified> => {
    stats.misses += 1;
    const askedAt = clock.now();
    const changesBefore = changesSeen;
    try {
      const { outcome } = await callUnary(
        accounts,
        accounts.verifyToken,
        { tokenSha256: Buffer.from(digest, 'base64') },
        { deadlineMs: VERIFY_WITHIN_MS },
      );
      const verified: Verified =
        outcome?.$case === 'credential'
          ? { credential: outcome.value }
          : { refusal: outcome?.value ?? TokenRefusal.UNKNOWN };
      // If a change arrived during the request, the answer may be older than the change. Only this call may use the answer.
      cached.set(digest, { verified, askedAt, changed: changesSeen !== changesBefore });
      return verified;
    } catch (error) {
      onFailure();
      const known = cached.get(digest);
      if (known) known.failedAt = askedAt;
      else if (!(error instanceof Fault)) throw error;
      return withoutAccounts(known, error);
    }
  };

  return {
    verify: async (token) => {
      if (!isWellFormedToken(token)) return { refusal: TokenRefusal.UNKNOWN };
      return find(hash('sha256', token, 'base64'));
    },
    invalidate: ({ subject }) => {
      changesSeen += 1;
      for (const entry of cached.values()) if (concerns(subject, entry.verified)) entry.changed = true;
    },
    cacheStats: () => ({ ...stats, entries: cached.size }),
  };
}

function isUsable({ changed, askedAt }: CachedToken, now: Instant): boolean {
  return !changed && elapsedMs(askedAt, now) < TRUSTED_AT_MOST_MS;
}

function concerns(subject: AccountChanged['subject'], verified: Verified): boolean {
  if (subject === undefined || 'refusal' in verified) return true;
  const { keyId, accountId, plan } = verified.credential;
  switch (subject.$case) {
    case 'keyId':
      return subject.value === keyId;
    case 'accountId':
      return subject.value === accountId;
    case 'plan':
      return subject.value === plan;
  }
}

function hasExpired(verified: Verified, nowMs: number): boolean {
  return 'credential' in verified && (verified.credential.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
}
