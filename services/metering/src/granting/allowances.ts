import type { KeyObject } from 'node:crypto';
import {
  ALLOWANCE_AUDIENCE,
  ALLOWANCE_ISSUER,
  ALLOWANCE_TYPE,
  type SignedAllowance,
} from '@brand-data/contracts';
import { findKeyIn } from '@brand-data/runtime';
import { jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';

/** How many verified allowances are remembered: one of an account in use is used again at each of its Acquires. */
const REMEMBERED = 20_000;

/** Verifies the allowances that accounts has signed. */
export interface Allowances {
  /** undefined: accounts has not signed it. Does not look at the time until which it is valid. */
  verify(token: string): Promise<SignedAllowance | undefined>;
}

/** Verifies allowances with public keys, of which several may be valid at once, so that accounts' key can be replaced. */
export interface KeyedAllowances extends Allowances {
  /** Trusts only these keys from now on. */
  replaceKeys(keys: readonly KeyObject[]): void;
}

/** @param keys Ed25519 public keys */
export function createAllowances(keys: readonly KeyObject[]): KeyedAllowances {
  const verified = new LRUCache<string, SignedAllowance>({ max: REMEMBERED });
  let findKey = findKeyIn(keys);

  const verify = async (token: string): Promise<SignedAllowance | undefined> => {
    try {
      const { payload } = await jwtVerify(token, findKey, {
        algorithms: ['EdDSA'],
        typ: ALLOWANCE_TYPE,
        issuer: ALLOWANCE_ISSUER,
        audience: ALLOWANCE_AUDIENCE,
        // Metering compares the time itself, with the clock on which its other rules depend.
        currentDate: new Date(0),
      });
      return allowanceFromClaims(payload);
    } catch {
      return undefined;
    }
  };

  return {
    verify: async (token) => {
      const known = verified.get(token);
      if (known) return known;
      const usedKeys = findKey;
      const allowance = await verify(token);
      // The keys may have been replaced meanwhile.
      if (allowance && usedKeys === findKey) verified.set(token, allowance);
      return allowance;
    },
    replaceKeys: (next) => {
      findKey = findKeyIn(next);
      verified.clear();
    },
  };
}

function allowanceFromClaims({
  sub,
  exp,
  revision,
  pools,
}: Record<string, unknown>): SignedAllowance | undefined {
  const limits = new Map(Object.entries(Object(pools)));
  if (typeof sub !== 'string' || typeof exp !== 'number' || !isCount(revision)) return undefined;
  if (![...limits.values()].every(isCount)) return undefined;
  return {
    accountId: sub,
    limitRevision: revision,
    limits: limits as ReadonlyMap<string, number>,
    untilMs: exp * 1_000,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
