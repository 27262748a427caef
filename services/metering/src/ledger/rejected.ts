import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';

const NAME = 'metering_rejected_total';
const REASONS = [
  'no_proof',
  'forged',
  'foreign_grant',
  'no_allowance',
  'foreign_allowance',
  'expired_allowance',
] as const;

/** Why metering refuses what a sender has no right to. See deploy/metrics.md. */
export type RejectionReason = (typeof REASONS)[number];
export type Rejected = (reason: RejectionReason, count?: number) => void;

/** Returns the process's only counter of rejections, and registers it at the first call. */
export function countRejected({ metrics }: Pick<Service, 'metrics'>): Rejected {
  const known = metrics.getSingleMetric(NAME);
  const counter = known instanceof Counter ? known : newCounter(metrics);
  return (reason, count = 1) => counter.inc({ reason }, count);
}

function newCounter(metrics: Service['metrics']): Counter {
  const counter = new Counter({
    name: NAME,
    help: 'Requests, messages and usage that metering refused because their sender did not prove its right to them, by reason',
    labelNames: ['reason'],
    registers: [metrics],
  });
  // Prometheus sees the first rejection as an increase only if the series already exists.
  for (const reason of REASONS) counter.inc({ reason }, 0);
  return counter;
}
