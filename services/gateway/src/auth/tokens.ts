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
import { createUnknownTokens, type UnknownTokens } from '../admission/unknown-tokens.ts';
import type { CacheStats } from '../metrics/upstream-metrics.ts';
import type { StreamProgress } from './stream-progress.ts';

/** How often a token is verified without proof that it is up to date, and the pause after a request that accounts did not answer. */
const VERIFY_EVERY_MS = 1_000;
/** The gateway trusts no verification that is older than this. */
const TRUSTED_AT_MOST_MS = 600_000;
/** At this age, the verification of a token in use is renewed. If accounts does not answer, the next attempt is as much later. */
const RENEW_AFTER_MS = 60_000;
/** A refusal is trusted for this long only, because an operator may create the key meanwhile. */
const REFUSAL_TRUSTED_MS = 10_000;
const VERIFY_WITHIN_MS = 800;
/** In the 10 s for which a refusal is trusted, accounts refuses at most 500 tokens that may be made up. */
const REFUSALS_KEPT = 10_000;
const PLAN_TERMS_KEPT = 1_000;

/** The credential of a valid token, or the reason why a token is refused. */
type Verified = { credential: Credential } | { refusal: TokenRefusal };

type PlanTerms = Pick<Credential, 'plan' | 'routes' | 'accountLimits'>;

/** The gateway has asked accounts about too many tokens that may be made up, and cannot ask about this one now. */
type Unasked = { unasked: true };
type Verification = Verified | Unasked;

interface CachedToken {
  verified: Verified;
  /** When the gateway sent accounts the request that `verified` answers. */
  askedAt: Instant;
  /** When the gateway sent the last request that accounts did not answer. */
  failedAt?: Instant;
  /** Whether the key, account or plan has changed since `askedAt`. */
  changed: boolean;
}

interface TokensOptions {
  /** The stream of changes of keys, accounts and plans. */
  changes: Pick<StreamProgress, 'allArrivedSince'>;
  clock: Clock;
  /** The most tokens that the cache holds. */
  entries: number;
  /** Called each time that accounts does not answer. */
  onFailure?: () => void;
}

/**
 * Verifies tokens and caches the answers by the tokens' digest. It neither stores nor sends the tokens themselves. Refusals have a
 * separate cache, so that made-up tokens cannot evict valid ones.
 */
export class Tokens {
  readonly #accounts: AccountsServiceClient;
  readonly #clock: Clock;
  readonly #options: TokensOptions;
  readonly #valid: LRUCache<string, CachedToken>;
  readonly #refused = new LRUCache<string, CachedToken>({ max: REFUSALS_KEPT });
  /** Plan terms by their JSON. Cached tokens share them: a copy of each would take a third of a cached token's memory. */
  readonly #plans = new LRUCache<string, PlanTerms>({ max: PLAN_TERMS_KEPT });
  readonly #asking = new Map<string, Promise<Verification>>();
  readonly #unknownTokens: UnknownTokens;
  #checkKeys: readonly TokenCheckKey[] = [];
  /** The first question to accounts, while it has no answer. */
  #first: Promise<unknown> | undefined;
  #hasFirstAnswer = false;
  #changesSeen = 0;
  /** Whether the last request got no answer. */
  #isFailing = false;
  readonly #stats = { hits: 0, misses: 0, stale: 0 };
  readonly #refusals = { hits: 0, misses: 0, stale: 0 };
  readonly #unasked = { wrong: 0, limited: 0 };

  constructor(accounts: AccountsServiceClient, options: TokensOptions) {
    this.#accounts = accounts;
    this.#clock = options.clock;
    this.#options = options;
    this.#valid = new LRUCache({ max: options.entries });
    this.#unknownTokens = createUnknownTokens(options.clock);
  }

  /**
   * Returns a promise unless the cache has a verification that can be trusted. It rejects with Fault `unavailable` if accounts does
   * not answer.
   *
   * @param address returns the client's address; called only if the token may be made up
   */
  verify(token: string, address: () => string): Verification | Promise<Verification> {
    if (token.length > LONGEST_TOKEN) return this.#refuseWrong();
    const digest = hash('sha256', token, 'base64');
    const known = this.#valid.get(digest) ?? this.#refused.get(digest);
    if (!known) return this.#askAboutUnknown(token, digest, address);
    const now = this.#clock.now();
    // A key's expiry never becomes later, so the gateway need not ask accounts.
    if (hasExpired(known.verified, now.wallMs)) return { refusal: TokenRefusal.EXPIRED };
    if (!this.#isCurrent(known, now)) return this.#verifyAgain(known, token, digest, address);
    const sinceAskedMs = Math.min(elapsedMs(known.askedAt, now), sinceFailureMs(known, now));
    if (sinceAskedMs >= RENEW_AFTER_MS) this.#ask(digest).catch(() => {});
    this.#statsOf(known).hits += 1;
    return known.verified;
  }

  /** Marks the cached tokens of the changed key, account or plan, so that they are verified again. Forgets those of a deleted account. */
  invalidate({ subject, deleted }: AccountChanged): void {
    this.#changesSeen += 1;
    const concerned = this.#valid.entries().filter(([, { verified }]) => concerns(subject, verified));
    if (deleted) for (const [digest] of [...concerned]) this.#valid.delete(digest);
    else for (const [, entry] of concerned) entry.changed = true;
    for (const entry of this.#refused.values()) entry.changed = true;
  }

  cacheStats(): CacheStats {
    return { ...this.#stats, entries: this.#valid.size };
  }

  refusalStats(): CacheStats {
    return { ...this.#refusals, entries: this.#refused.size };
  }

  refusedUnasked(): { wrong: number; limited: number } {
    return { ...this.#unasked };
  }

  #isCurrent(known: CachedToken, now: Instant): boolean {
    const ageMs = elapsedMs(known.askedAt, now);
    if (!isUsable(known, now) || ('refusal' in known.verified && ageMs >= REFUSAL_TRUSTED_MS)) return false;
    return ageMs < VERIFY_EVERY_MS || this.#options.changes.allArrivedSince(known.askedAt);
  }

  async #verifyAgain(known: CachedToken, token: string, digest: string, address: () => string) {
    if (sinceFailureMs(known, this.#clock.now()) < VERIFY_EVERY_MS) return this.#withoutAccounts(known);
    return 'refusal' in known.verified ? this.#askAboutUnknown(token, digest, address) : this.#ask(digest);
  }

  /** Asks about a token that the gateway does not know to be valid. If the token may be made up, the questions are limited. */
  async #askAboutUnknown(token: string, digest: string, address: () => string): Promise<Verification> {
    const check = checkToken(token, this.#checkKeys);
    if (check === 'wrong') return this.#refuseWrong();
    if (check === 'genuine') return this.#ask(digest);
    if (this.#first) {
      // Its answer brings the check keys. With them, the questions about all other tokens of accounts are not limited.
      await this.#first;
      return this.#isFailing
        ? this.#withoutAccounts(this.#refused.get(digest))
        : this.#askAboutUnknown(token, digest, address);
    }
    const answer = this.#shared(digest, () => this.#askIfAdmitted(digest, address()));
    if (!this.#hasFirstAnswer)
      this.#first = answer
        .catch(() => {})
        .then(() => {
          this.#first = undefined;
          this.#hasFirstAnswer = !this.#isFailing;
        });
    return answer;
  }

  async #askIfAdmitted(digest: string, address: string): Promise<Verification> {
    const question = await this.#unknownTokens.admit(address);
    if (!question) {
      this.#unasked.limited += 1;
      const known = this.#refused.get(digest);
      if (this.#isFailing || (known && isUsable(known, this.#clock.now())))
        return this.#withoutAccounts(known);
      return { unasked: true };
    }
    const verified = await this.#verifyByAccounts(digest);
    if ('credential' in verified) question.release();
    return verified;
  }

  #ask(digest: string): Promise<Verification> {
    return this.#shared(digest, () => this.#verifyByAccounts(digest));
  }

  /** Concurrent verifications of one token share one request. */
  #shared(digest: string, verify: () => Promise<Verification>): Promise<Verification> {
    let pending = this.#asking.get(digest);
    if (!pending) {
      pending = verify().finally(() => this.#asking.delete(digest));
      this.#asking.set(digest, pending);
    }
    return pending;
  }

  async #verifyByAccounts(digest: string): Promise<Verified> {
    this.#statsOf(this.#valid.peek(digest)).misses += 1;
    const askedAt = this.#clock.now();
    const changesBefore = this.#changesSeen;
    try {
      const { outcome, tokenCheckKeys } = await callUnary(
        this.#accounts,
        this.#accounts.verifyToken,
        { tokenSha256: Buffer.from(digest, 'base64') },
        { deadlineMs: VERIFY_WITHIN_MS },
      );
      this.#isFailing = false;
      if (tokenCheckKeys.length > 0) this.#checkKeys = tokenCheckKeys.map(tokenCheckKeyOf);
      const verified: Verified =
        outcome?.$case === 'credential'
          ? { credential: this.#withSharedTerms(outcome.value) }
          : { refusal: outcome?.value ?? TokenRefusal.UNKNOWN };
      const isValid = 'credential' in verified;
      (isValid ? this.#refused : this.#valid).delete(digest);
      // If a change arrived during the request, the answer may be older than the change. Only this call may use it.
      const changed = this.#changesSeen !== changesBefore;
      (isValid ? this.#valid : this.#refused).set(digest, { verified, askedAt, changed });
      return verified;
    } catch (error) {
      this.#options.onFailure?.();
      this.#isFailing = true;
      const known = this.#valid.get(digest) ?? this.#refused.get(digest);
      if (known) known.failedAt = askedAt;
      else if (!(error instanceof Fault)) throw error;
      return this.#withoutAccounts(known, error);
    }
  }

  #withSharedTerms(credential: Credential): Credential {
    const { plan, routes, accountLimits } = credential;
    const terms: PlanTerms = { plan, routes, accountLimits };
    const json = JSON.stringify(terms);
    const known = this.#plans.get(json);
    if (!known) this.#plans.set(json, terms);
    return { ...credential, ...(known ?? terms) };
  }

  #withoutAccounts(known: CachedToken | undefined, cause?: unknown): Verified {
    if (known && isUsable(known, this.#clock.now())) {
      this.#statsOf(known).stale += 1;
      return known.verified;
    }
    throw new Fault('unavailable', 'the token could not be verified in time', { cause });
  }

  #refuseWrong(): Verified {
    this.#unasked.wrong += 1;
    return { refusal: TokenRefusal.UNKNOWN };
  }

  #statsOf(known: CachedToken | undefined) {
    return known && 'credential' in known.verified ? this.#stats : this.#refusals;
  }
}

function sinceFailureMs({ failedAt }: CachedToken, now: Instant): number {
  return failedAt ? elapsedMs(failedAt, now) : Number.POSITIVE_INFINITY;
}

function isUsable({ changed, askedAt }: CachedToken, now: Instant): boolean {
  return !changed && elapsedMs(askedAt, now) < TRUSTED_AT_MOST_MS;
}

function concerns(subject: AccountChanged['subject'], verified: Verified): boolean {
  if (subject === undefined || 'refusal' in verified) return true;
  if (subject.$case === 'network') return false;
  return verified.credential[subject.$case] === subject.value;
}

function hasExpired(verified: Verified, nowMs: number): boolean {
  return 'credential' in verified && (verified.credential.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
}
