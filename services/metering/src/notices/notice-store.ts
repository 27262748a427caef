import type { Delivery, Notice, WebhookState } from './notice.ts';
import type { PassedThreshold } from './thresholds.ts';

/** The notices. Each method rejects with Fault `unavailable` if the database does not answer in time. */
export interface NoticeStore {
  /**
   * Stores the notices that are not stored yet, and returns these.
   *
   * @param webhook whether they are to be delivered to a webhook
   */
  add(passed: readonly PassedThreshold[], at: Date, webhook: 'pending' | 'none'): Promise<PassedThreshold[]>;
  /**
   * Reads the ledgers of these months. Yields the thresholds that they have passed and that have no notice.
   */
  findMissing(months: readonly string[]): AsyncIterable<readonly PassedThreshold[]>;
  /** A notice that is to be published or delivered now. No other replica gets it before `until`. undefined: there is none. */
  claim(now: Date, until: Date): Promise<ClaimedNotice | undefined>;
  /**
   * Stores what came of a claimed notice. Does nothing if the claim has ended and another replica has the notice.
   *
   * @param dueAt when there is something to do again. undefined: nothing is left to do
   */
  update(notice: ClaimedNotice, outcome: SendOutcome): Promise<void>;
  /** The latest first. */
  list(page: NoticePage): Promise<{ notices: Notice[]; next: string }>;
  /**
   * Makes notices due now, from the first attempt on. Skips notices that are due already. Returns the ids of those that it
   * changed.
   */
  redeliver(ids: readonly string[] | 'all failed', now: Date): Promise<string[]>;
  /** The number of notices in these states. */
  count(): Promise<Record<'pending' | 'failed', number>>;
}

export interface ClaimedNotice extends Notice {
  /** A random text by which the claim is known. */
  claim: string;
}

export interface SendOutcome {
  isPublished: boolean;
  webhook: Delivery;
  dueAt: Date | undefined;
}

export interface NoticePage {
  state: WebhookState | undefined;
  accountId: string;
  month: string;
  limit: number;
  /** `next` of the page before. Empty: from the first notice on. */
  after: string;
}
