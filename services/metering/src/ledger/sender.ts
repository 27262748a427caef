import type { GrantUsage } from '@brand-data/contracts';

/** Who sent a request or usage: the holder whose key has signed it, or UNPROVED. */
export type Sender = string;
export const UNPROVED: Sender = '';

/** Usage that arrived from a gateway. */
export interface SentUsage extends GrantUsage {
  sender: Sender;
}

/** Usage for a ledger. Without a sender it is metering's own: a settler closes a grant. */
export type LedgerInput = GrantUsage & Partial<Pick<SentUsage, 'sender'>>;

/** Marks usage with its sender. */
export function sentBy(sender: Sender, usage: readonly GrantUsage[]): SentUsage[] {
  return usage.map((each) => ({ ...each, sender }));
}

/** Whether this sender may speak for the holder. */
export function speaksFor(holder: string, sender: Sender | undefined): boolean {
  return sender === undefined || sender === holder;
}
