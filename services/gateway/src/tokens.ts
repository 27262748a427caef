import { hash } from 'node:crypto';
import {
  type AccountChanged,
  type AccountsServiceClient,
  type Credential,
  isWellFormedToken,
  TokenRefusal,
} from '@brand-data/contracts';
import { callUnary, Fault } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import type { AccountChanges } from './account-changes.ts';

/** While the stream of changes is current, a remembered answer is too. */
const STREAM_TRUSTED_MS = 1_000;
/** With the stream silent, each key is verified again this often … */
const VERIFY_EVERY_MS = 1_000;
/** … and with accounts out of reach as well, the last answer holds this long. */
const OUTAGE_TRUSTED_MS = 600_000;
/** A refused token is asked about again after this: an operator may be creating it. */
const REFUSAL_TRUSTED_MS = 10_000;
const VERIFY_WITHIN_MS = 800;

/** What a token stands for, or why it is refused. */
type Verified = { credential: Credential } | { refusal: TokenRefusal };

interface Remembered {
  verified: Verified;
  /** When the question was put, on the monotonic clock. */
  askedAtMs: number;
  stale: boolean;
}

export interface Tokens {
  /** Rejects with Fault `unavailable`: accounts is out of reach and the token is not remembered. */
  verify(token: string): Promise<Verified>;
  /** What is remembered of the changed key, account or plan is asked about again. */
  forget(change: AccountChanged): void;
}

/** Verified tokens, by digest: the token itself is neither kept nor sent. */
export function createTokens(
  accounts: AccountsServiceClient,
  changes: () => AccountChanges,
  entries: number,
): Tokens {
  const remembered = new LRUCache<string, Remembered>({ max: entries });
  const asking = new Map<string, Promise<Verified>>();
  let changesSeen = 0;

  const isTrusted = ({ verified, askedAtMs, stale }: Remembered): boolean => {
    const ageMs = performance.now() - askedAtMs;
    if (stale || expiresBefore(verified, Date.now())) return false;
    if ('refusal' in verified && ageMs >= REFUSAL_TRUSTED_MS) return false;
    return changes().silentForMs() < STREAM_TRUSTED_MS || ageMs < VERIFY_EVERY_MS;
  };

  const ask = async (digest: string): Promise<Verified> => {
    const askedAtMs = performance.now();
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
      // The answer may be older than a change that arrived meanwhile: good for this call, not for the next.
      remembered.set(digest, { verified, askedAtMs, stale: changesSeen !== changesBefore });
      return verified;
    } catch (error) {
      const last = remembered.get(digest);
      if (last && !last.stale && performance.now() - last.askedAtMs < OUTAGE_TRUSTED_MS) return last.verified;
      if (error instanceof Fault)
        throw new Fault('unavailable', 'the token could not be verified in time', { cause: error });
      throw error;
    }
  };

  return {
    verify: async (token) => {
      if (!isWellFormedToken(token)) return { refusal: TokenRefusal.UNKNOWN };
      const digest = hash('sha256', token, 'base64');
      const known = remembered.get(digest);
      if (known && isTrusted(known)) return known.verified;
      let pending = asking.get(digest);
      if (!pending) {
        pending = ask(digest).finally(() => asking.delete(digest));
        asking.set(digest, pending);
      }
      return pending;
    },
    forget: ({ subject }) => {
      changesSeen += 1;
      for (const entry of remembered.values()) if (concerns(subject, entry.verified)) entry.stale = true;
    },
  };
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

function expiresBefore(verified: Verified, nowMs: number): boolean {
  return 'credential' in verified && (verified.credential.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
}
