import { type Ledger, type LedgerKey, ledgerIdOf, usedOf } from '../ledger/ledger.ts';

/** The shares of an allowance, in percent, at which metering sends a notice. */
export const THRESHOLDS = [80, 100] as const;

/** An account has used at least a share of its allowance of one pool and month. */
export interface PassedThreshold extends LedgerKey {
  allowance: number;
  /** Percent of the allowance. */
  threshold: number;
  /** Billed calls when metering noticed it. */
  used: number;
}

/** Returns the thresholds that a ledger in this state has passed. An allowance of 0 has none. */
export function passedThresholds(ledger: Pick<Ledger, keyof LedgerKey | 'limit' | 'closedUsed' | 'grants'>) {
  const { accountId, pool, month, limit } = ledger;
  return passedWith({ accountId, pool, month, allowance: limit, used: usedOf(ledger) });
}

/** Returns the thresholds that so many billed calls pass. */
export function passedWith(use: LedgerKey & { allowance: number; used: number }): PassedThreshold[] {
  if (use.allowance === 0) return [];
  return THRESHOLDS.filter((threshold) => use.used * 100 >= use.allowance * threshold).map((threshold) => ({
    ...use,
    threshold,
  }));
}

/** Returns the thresholds that a change of a ledger has passed. A new allowance has new thresholds. */
export function newlyPassed(before: Ledger, after: Ledger): PassedThreshold[] {
  const known = new Set(passedThresholds(before).map(noticeIdOf));
  return passedThresholds(after).filter((passed) => !known.has(noticeIdOf(passed)));
}

/** "account/pool/month/allowance/threshold". There is one notice for each. */
export function noticeIdOf({ allowance, threshold, ...key }: Omit<PassedThreshold, 'used'>): string {
  return `${ledgerIdOf(key)}/${allowance}/${threshold}`;
}

/**
 * `none`: no webhook was set when the account passed the threshold. `pending`: the receiver has not accepted the notice yet.
 * `failed`: metering has given up; the notice is a dead letter.
 */
export type WebhookState = 'none' | 'pending' | 'delivered' | 'failed';

/** An account has passed a threshold of its allowance. There is one notice for each account, pool, month, allowance and threshold. */
export interface Notice extends PassedThreshold {
  /** `noticeIdOf`. Each attempt to deliver the notice carries it, so a receiver recognises a repetition. */
  id: string;
  /** When metering noticed it. */
  at: Date;
  /** Whether the stream of notices has it. */
  isPublished: boolean;
  webhook: Delivery;
}

/** How far the delivery to the webhook is. */
export interface Delivery {
  state: WebhookState;
  attempts: number;
  /** When the last attempt ended. */
  lastAt?: Date | undefined;
  /** Why the last attempt failed: "status 500". Holds no URL. */
  failure?: string | undefined;
  /** When the next attempt is due. Only of `pending`. */
  nextAt?: Date | undefined;
}
