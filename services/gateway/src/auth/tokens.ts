import { hash } from 'node:crypto';
import {
  type AccountChanged,
  type AccountsServiceClient,
  type Credential,
  checkToken,
  LONGEST_TOKEN,
  type TokenCheckKey,
  TokenRefusal,
  tokenCheckKeyOf,
} from '@brand-data/contracts';
import { type Clock, callUnary, elapsedMs, Fault, type Instant } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import { createUnknownTokens } from '../admission/unknown-tokens.ts';
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
/** In the 10 s for which a refusal is trusted, accounts refuses at most 500 tokens that may be made up. */
const REFUSALS_KEPT = 10_000;
const PLAN_TERMS_KEPT = 1_000;

/** The credential of a valid token, or the reason why a token is refused. */
type Verified = { credential: Credential } | { refusal: TokenRefusal };

/** The terms of a plan, which the credentials of all its accounts share. */
type PlanTerms = Pick<Credential, 'plan' | 'routes' | 'accountLimits'>;

/** The gateway has asked accounts about too many tokens that may be made up, and cannot ask about this one now. */
type Unasked = { unasked: true };

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
  /**
   * Returns a promise unless the cache has a verification that can be trusted. It rejects with Fault `unavailable` if accounts does
   * not answer.
   *
   * @param address returns the client's address; called only if the token may be made up
   */
  verify(token: string, address: () => string): Verified | Unasked | Promise<Verified | Unasked>;
  /** Marks the cached tokens of the changed key, account or plan, so that they are verified again. */
  invalidate(change: AccountChanged): void;
  /** The cache of valid tokens. */
  cacheStats(): CacheStats;
  /** The cache of refused tokens. */
  refusalStats(): CacheStats;
  /** Calls whose token was refused without asking accounts. */
  refusedUnasked(): { wrong: number; limited: number };
}

/**
 * Verifies tokens and caches the answers by the tokens' digest. It neither stores nor sends the tokens themselves. Refusals have a
 * cache of their own, so that made-up tokens cannot evict valid ones.
 */
export function createTokens(
  accounts: AccountsServiceClient,
  {
    changes,
    clock,
    entries,
    onFailure = () => {},
  }: {
    changes: () => AccountChanges;
    clock: Clock;
    entries: number;
    /** Called each time that accounts does not answer. */
    onFailure?: () => void;
  },
): Tokens {
  const valid = new LRUCache<string, CachedToken>({ max: entries });
  const refused = new LRUCache<string, CachedToken>({ max: REFUSALS_KEPT });
  /** By their JSON. Each answer of accounts has a copy of its own, which would take a third of a cached token's memory. */
  const plans = new LRUCache<string, PlanTerms>({ max: PLAN_TERMS_KEPT });
  const asking = new Map<string, Promise<Verified | Unasked>>();
  const unknownTokens = createUnknownTokens(clock);
  let checkKeys: readonly TokenCheckKey[] = [];
  /** The first question to accounts, while it has no answer. */
  let first: Promise<unknown> | undefined;
  let hasFirstAnswer = false;
  let changesSeen = 0;
  /** Whether accounts left the last request without an answer. */
  let isFailing = false;
  const stats = { hits: 0, misses: 0, stale: 0 };
  const refusals = { hits: 0, misses: 0, stale: 0 };
  const unasked = { wrong: 0, limited: 0 };

  const statsOf = (known: CachedToken | undefined) =>
    known && 'credential' in known.verified ? stats : refusals;

  const find: Tokens['verify'] = (token, address) => {
    if (token.length > LONGEST_TOKEN) return refuseWrong();
    const digest = hash('sha256', token, 'base64');
    const known = valid.get(digest) ?? refused.get(digest);
    if (!known) return askAboutUnknown(token, digest, address);
    const now = clock.now();
    // A key's expiry never becomes later, so the gateway need not ask accounts.
    if (hasExpired(known.verified, now.wallMs)) return { refusal: TokenRefusal.EXPIRED };
    if (!isCurrent(known, now)) return verifyAgain(known, token, digest, address);
    const sinceAskedMs = Math.min(elapsedMs(known.askedAt, now), sinceFailureMs(known, now));
    if (sinceAskedMs >= RENEW_AFTER_MS) ask(digest).catch(() => {});
    statsOf(known).hits += 1;
    return known.verified;
  };

  const verifyAgain = async (
    known: CachedToken,
    token: string,
    digest: string,
    address: () => string,
  ): Promise<Verified | Unasked> => {
    if (sinceFailureMs(known, clock.now()) < VERIFY_EVERY_MS) return withoutAccounts(known);
    return 'refusal' in known.verified ? askAboutUnknown(token, digest, address) : ask(digest);
  };

  const sinceFailureMs = ({ failedAt }: CachedToken, now: Instant): number =>
    failedAt ? elapsedMs(failedAt, now) : Number.POSITIVE_INFINITY;

  const refuseWrong = (): Verified => {
    unasked.wrong += 1;
    return { refusal: TokenRefusal.UNKNOWN };
  };

  const isCurrent = (known: CachedToken, now: Instant): boolean => {
    const ageMs = elapsedMs(known.askedAt, now);
    if (!isUsable(known, now) || ('refusal' in known.verified && ageMs >= REFUSAL_TRUSTED_MS)) return false;
    return ageMs < VERIFY_EVERY_MS || changes().allArrivedSince(known.askedAt);
  };

  const withoutAccounts = (known: CachedToken | undefined, cause?: unknown): Verified => {
    if (known && isUsable(known, clock.now())) {
      statsOf(known).stale += 1;
      return known.verified;
    }
    throw new Fault('unavailable', 'the token could not be verified in time', { cause });
  };

  /** Asks about a token that the gateway does not know to be valid. If the token may be made up, the questions are limited. */
  const askAboutUnknown = async (
    token: string,
    digest: string,
    address: () => string,
  ): Promise<Verified | Unasked> => {
    const check = checkToken(token, checkKeys);
    if (check === 'wrong') return refuseWrong();
    if (check === 'genuine') return ask(digest);
    if (first) {
      // Its answer brings the check keys. With them, the questions about all other tokens of accounts are not limited.
      await first;
      return isFailing ? withoutAccounts(refused.get(digest)) : askAboutUnknown(token, digest, address);
    }
    const answer = shared(digest, async () => {
      const question = await unknownTokens.admit(address());
      if (!question) {
        unasked.limited += 1;
        const known = refused.get(digest);
        if (isFailing || (known && isUsable(known, clock.now()))) return withoutAccounts(known);
        return { unasked: true };
      }
      const verified = await verifyByAccounts(digest);
      if ('credential' in verified) question.release();
      return verified;
    });
    if (!hasFirstAnswer)
      first = answer
        .catch(() => {})
        .then(() => {
          first = undefined;
          hasFirstAnswer = !isFailing;
        });
    return answer;
  };

  const ask = (digest: string) => shared(digest, () => verifyByAccounts(digest));

  /** Concurrent verifications of one token share one request. */
  const shared = (digest: string, verify: () => Promise<Verified | Unasked>): Promise<Verified | Unasked> => {
    let pending = asking.get(digest);
    if (!pending) {
      pending = verify().finally(() => asking.delete(digest));
      asking.set(digest, pending);
    }
    return pending;
  };

  const withSharedTerms = (credential: Credential): Credential => {
    const { plan, routes, accountLimits } = credential;
    const terms: PlanTerms = { plan, routes, accountLimits };
    const json = JSON.stringify(terms);
    const known = plans.get(json);
    if (!known) plans.set(json, terms);
    return { ...credential, ...(known ?? terms) };
  };

  const verifyByAccounts = async (digest: string): Promise<Verified> => {
    statsOf(valid.peek(digest)).misses += 1;
    const askedAt = clock.now();
    const changesBefore = changesSeen;
    try {
      const { outcome, tokenCheckKeys } = await callUnary(
        accounts,
        accounts.verifyToken,
        { tokenSha256: Buffer.from(digest, 'base64') },
        { deadlineMs: VERIFY_WITHIN_MS },
      );
      isFailing = false;
      if (tokenCheckKeys.length > 0) checkKeys = tokenCheckKeys.map(tokenCheckKeyOf);
      const verified: Verified =
        outcome?.$case === 'credential'
          ? { credential: withSharedTerms(outcome.value) }
          : { refusal: outcome?.value ?? TokenRefusal.UNKNOWN };
      const [cache, other] = 'credential' in verified ? [valid, refused] : [refused, valid];
      other.delete(digest);
      // If a change arrived during the request, the answer may be older than the change. Only this call may use the answer.
      cache.set(digest, { verified, askedAt, changed: changesSeen !== changesBefore });
      return verified;
    } catch (error) {
      onFailure();
      isFailing = true;
      const known = valid.get(digest) ?? refused.get(digest);
      if (known) known.failedAt = askedAt;
      else if (!(error instanceof Fault)) throw error;
      return withoutAccounts(known, error);
    }
  };

  return {
    verify: find,
    invalidate: ({ subject }) => {
      changesSeen += 1;
      for (const entry of valid.values()) if (concerns(subject, entry.verified)) entry.changed = true;
      for (const entry of refused.values()) entry.changed = true;
    },
    cacheStats: () => ({ ...stats, entries: valid.size }),
    refusalStats: () => ({ ...refusals, entries: refused.size }),
    refusedUnasked: () => ({ ...unasked }),
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
