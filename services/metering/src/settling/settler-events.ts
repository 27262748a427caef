import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { SettlerEvents } from './settler.ts';

/** Reports settled grants to Prometheus and the log. */
export function settlerEvents({ log, metrics }: Service): SettlerEvents {
  const settledGrants = new Counter({
    name: 'metering_settled_grants_total',
    help: 'Grants that metering settled: it closed them because their holder had disappeared',
    registers: [metrics],
  });
  return {
    settled: (grants) => {
      settledGrants.inc(grants);
      log.warn({ grants }, 'settled grants of holders that have disappeared');
    },
    failed: (err) => log.warn({ err }, 'could not settle overdue grants, trying again'),
  };
}
