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

/** Verifies the allowances that accounts has signed. Several keys may be valid at once, so that accounts' key can be replaced. */
export class Allowances {
  readonly #verified = new LRUCache<string, SignedAllowance>({ max: REMEMBERED });
  #findKey: ReturnType<typeof findKeyIn>;

  /** @param keys Ed25519 public keys */
  constructor(keys: readonly KeyObject[]) {
    this.#findKey = findKeyIn(keys);
  }

  /** Trusts only these keys from now on. */
  replaceKeys(keys: readonly KeyObject[]): void {
    this.#findKey = findKeyIn(keys);
    this.#verified.clear();
  }

  /** Returns undefined if accounts has not signed it. Does not look at the time until which it is valid. */
  async verify(token: string): Promise<SignedAllowance | undefined> {
    const known = this.#verified.get(token);
    if (known) return known;
    const usedKeys = this.#findKey;
    try {
      const { payload } = await jwtVerify(token, usedKeys, {
        algorithms: ['EdDSA'],
        typ: ALLOWANCE_TYPE,
        issuer: ALLOWANCE_ISSUER,
        audience: ALLOWANCE_AUDIENCE,
        // Metering compares the time itself, with the clock on which its other rules depend.
        currentDate: new Date(0),
      });
      const allowance = allowanceFromClaims(payload);
      // The keys may have been replaced meanwhile.
      if (allowance && usedKeys === this.#findKey) this.#verified.set(token, allowance);
      return allowance;
    } catch {
      return undefined;
    }
  }
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
