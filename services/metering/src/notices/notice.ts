import type { PassedThreshold } from './thresholds.ts';

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
