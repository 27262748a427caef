import type { GrantUsage } from '@brand-data/contracts';
import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { UsageAnswer } from './apply-readable.ts';

const NAME = 'metering_usage_dropped_calls_total';
const REASONS = [
  'closed_grant',
  'foreign_grant',
  'forgotten_grant',
  'impossible',
  'unreadable',
  'unknown_grant',
] as const;

/** Why usage is never billed. See deploy/metrics.md. */
type DropReason = (typeof REASONS)[number];

/**
 * Called for usage that will never be billed. `calls` is an upper bound: usage is cumulative, so a later message may contain
 * some of these calls again.
 */
export type Dropped = (calls: number, reason: DropReason) => void;

/** Returns the process's only counter of dropped calls, and registers it at the first call. */
export function countDropped({ metrics }: Pick<Service, 'metrics'>): Dropped {
  const known = metrics.getSingleMetric(NAME);
  if (known instanceof Counter) return (calls, reason) => known.inc({ reason }, calls);
  const counter = new Counter({
    name: NAME,
    help: 'Calls in usage that metering will never bill, by reason; a call may be counted more than once',
    labelNames: ['reason'],
    registers: [metrics],
  });
  // Prometheus sees the first drop as an increase only if the series already exists.
  for (const reason of REASONS) counter.inc({ reason }, 0);
  return (calls, reason) => counter.inc({ reason }, calls);
}

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
    if (reason && Number.isSafeInteger(used) && used > 0) dropped(used, reason);
  }
}
