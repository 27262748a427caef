import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';

/** Counts requests to another service that had no answer in time: what an alert on that service's absence stands on. */
export function countUpstreamFailures({ metrics }: Service): (upstream: 'accounts' | 'catalog') => void {
  const failures = new Counter({
    name: 'gateway_upstream_failures_total',
    help: 'Requests to another service without an answer in time',
    labelNames: ['upstream'],
    registers: [metrics],
  });
  return (upstream) => failures.inc({ upstream });
}
