import type { GrantUsage } from '@brand-data/contracts';
import { countBy, perRegistry } from '@brand-data/runtime';
import type { UsageAnswer } from './usage-by-ledger.ts';

const DROP_REASONS = [
  'closed_grant',
  'foreign_grant',
  'forgotten_grant',
  'impossible',
  'unreadable',
  'unknown_grant',
] as const;

/** Why usage is never billed. See deploy/metrics.md. */
type DropReason = (typeof DROP_REASONS)[number];

/**
 * Called for usage that will never be billed. `calls` is an upper bound: usage is cumulative, so a later message may contain
 * some of these calls again.
 */
export type Dropped = (reason: DropReason, calls: number) => void;

export const countDropped = perRegistry<Dropped>((registry) =>
  countBy(registry, {
    name: 'metering_usage_dropped_calls_total',
    help: 'Calls in usage that metering will never bill, by reason; a call may be counted more than once',
    label: 'reason',
    values: DROP_REASONS,
  }),
);

/** Reports the calls in usage that, by this answer, will never be billed. The store itself reports refused usage. */
export function reportDropped(
  usage: readonly GrantUsage[],
  { foreign, impossible, unreadable, unknown }: Omit<UsageAnswer, 'refused' | 'unavailable'>,
  dropped: Dropped,
): void {
  const reasons = new Map<string, DropReason>([
    ...unknown.map((id) => [id, 'unknown_grant'] as const),
    ...foreign.map((id) => [id, 'foreign_grant'] as const),
    ...impossible.map((id) => [id, 'impossible'] as const),
    ...unreadable.map((id) => [id, 'unreadable'] as const),
  ]);
  for (const { grantId, used } of usage) {
    const reason = reasons.get(grantId);
    if (reason && Number.isSafeInteger(used) && used > 0) dropped(reason, used);
  }
}

const REJECTION_REASONS = [
  'no_proof',
  'forged',
  'foreign_grant',
  'no_allowance',
  'foreign_allowance',
  'expired_allowance',
] as const;

/** Why metering refuses what a sender has no right to. See deploy/metrics.md. */
export type RejectionReason = (typeof REJECTION_REASONS)[number];
export type Rejected = (reason: RejectionReason, count?: number) => void;

export const countRejected = perRegistry<Rejected>((registry) =>
  countBy(registry, {
    name: 'metering_rejected_total',
    help: 'Requests, messages and usage that metering refused because their sender did not prove its right to them, by reason',
    label: 'reason',
    values: REJECTION_REASONS,
  }),
);
