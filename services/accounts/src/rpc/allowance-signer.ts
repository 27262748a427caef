import type { KeyObject } from 'node:crypto';
import {
  ALLOWANCE_AUDIENCE,
  ALLOWANCE_ISSUER,
  ALLOWANCE_LASTS_MS,
  ALLOWANCE_TYPE,
  type AllowanceClaims,
} from '@brand-data/contracts';
import { keyIdOf } from '@brand-data/runtime';
import { SignJWT } from 'jose';
import type { AccountDoc } from '../model/account.ts';
import { limitRevisionOf, type PlanDoc } from '../model/plan.ts';

/** Signs what accounts says about an account's limits, for metering. */
export class AllowanceSigner {
  #key: { key: KeyObject; kid: string };

  /** @param key an Ed25519 private key */
  constructor(key: KeyObject) {
    this.#key = { key, kid: keyIdOf(key) };
  }

  /** From now on signs with this key. */
  replaceKey(key: KeyObject): void {
    this.#key = { key, kid: keyIdOf(key) };
  }

  async sign(
    account: Pick<AccountDoc, '_id' | 'revision'>,
    plan: Pick<PlanDoc, 'pools' | 'revision'>,
    nowMs: number,
  ): Promise<{ token: string; untilMs: number }> {
    const { key, kid } = this.#key;
    const claims: AllowanceClaims = {
      sub: account._id,
      revision: limitRevisionOf(account, plan),
      pools: Object.fromEntries(plan.pools.map(({ name, allowance }) => [name, allowance])),
    };
    const seconds = Math.floor(nowMs / 1_000);
    const until = seconds + ALLOWANCE_LASTS_MS / 1_000;
    const token = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: ALLOWANCE_TYPE })
      .setIssuer(ALLOWANCE_ISSUER)
      .setAudience(ALLOWANCE_AUDIENCE)
      .setIssuedAt(seconds)
      .setExpirationTime(until)
      .sign(key);
    return { token, untilMs: until * 1_000 };
  }
}
