import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import { countDropped } from './dropped-usage.ts';
import { usedOf } from './ledger.ts';
import type { StoreEvents } from './ledger-store.ts';

/**
 * Reports billed and dropped calls to Prometheus and the log.
 *
 * @param changed is called after each change of a ledger, too
 */
export function storeEvents(service: Service, changed: StoreEvents['changed']): StoreEvents {
  const { log, metrics } = service;
  const billed = new Counter({
    name: 'metering_billed_calls_total',
    help: "Calls that metering added to accounts' bills",
    registers: [metrics],
  });
  const dropped = countDropped(service);
  return {
    changed: (before, after) => {
      billed.inc(Math.max(0, usedOf(after) - usedOf(before)));
      changed(before, after);
    },
    dropped: (calls, reason) => {
      dropped(calls, reason);
      log.warn({ calls, reason }, 'usage of closed grants was dropped');
    },
    failed: (err) => log.warn({ err }, 'usage was not stored, its sender repeats it'),
  };
}
