import type { GrantUsage } from '@brand-data/contracts';
import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { UsageAnswer } from './apply-usage.ts';

const NAME = 'metering_usage_dropped_calls_total';
const REASONS = ['closed_grant', 'forgotten_grant', 'impossible', 'unreadable', 'unknown_grant'] as const;

/** Why usage is never billed: see deploy/metrics.md. */
type DropReason = (typeof REASONS)[number];

/** Hears of usage that will never be billed: at most so many calls, since usage is cumulative and may come again. */
export type Dropped = (calls: number, reason: DropReason) => void;

/** One counter a process, however often this is called. */
export function countDropped({ metrics }: Pick<Service, 'metrics'>): Dropped {
  const known = metrics.getSingleMetric(NAME);
  if (known instanceof Counter) return (calls, reason) => known.inc({ reason }, calls);
  const counter = new Counter({
    name: NAME,
    help: 'Calls in usage that is never billed, by reason; at most',
    labelNames: ['reason'],
    registers: [metrics],
  });
  // There from the start, so that the first of them is an increase.
  for (const reason of REASONS) counter.inc({ reason }, 0);
  return (calls, reason) => counter.inc({ reason }, calls);
}

/** Reports the usage that an answer leaves out for good, except refused usage, which the store reports. */
export function reportDropped(
  usage: readonly GrantUsage[],
  { impossible, unreadable, unknown }: Pick<UsageAnswer, 'impossible' | 'unreadable' | 'unknown'>,
  dropped: Dropped,
): void {
  const reasons = new Map<string, DropReason>([
    ...unknown.map((id) => [id, 'unknown_grant'] as const),
    ...impossible.map((id) => [id, 'impossible'] as const),
    ...unreadable.map((id) => [id, 'unreadable'] as const),
  ]);
  for (const { grantId, used } of usage) {
    const reason = reasons.get(grantId);
    if (reason && Number.isSafeInteger(used) && used > 0) dropped(used, reason);
  }
}
