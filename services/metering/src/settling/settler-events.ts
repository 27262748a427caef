import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { SettlerEvents } from './settler.ts';

/** Reports settled grants to Prometheus and the log. */
export function settlerEvents({ log, metrics }: Service): SettlerEvents {
  const settledGrants = new Counter({
    name: 'metering_settled_grants_total',
    help: 'Grants of holders that went away, closed on their behalf',
    registers: [metrics],
  });
  return {
    settled: (grants) => {
      settledGrants.inc(grants);
      log.warn({ grants }, 'grants of holders that went away were settled');
    },
    failed: (err) => log.warn({ err }, 'overdue grants could not be settled: tried again'),
  };
}
