import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { StoreEvents } from './ledger-store.ts';

/** What is billed and what is not, as Prometheus and the log are told it. */
export function storeEvents({ log, metrics }: Service): StoreEvents {
  const registers = [metrics];
  const billed = new Counter({
    name: 'metering_billed_calls_total',
    help: "Calls that were added to accounts' bills",
    registers,
  });
  const dropped = new Counter({
    name: 'metering_usage_dropped_calls_total',
    help: 'Calls in usage that is never billed, by reason; an upper bound',
    labelNames: ['reason'],
    registers,
  });
  dropped.inc({ reason: 'closed_grant' }, 0);
  return {
    billed: (calls) => billed.inc(Math.max(0, calls)),
    dropped: (calls) => {
      dropped.inc({ reason: 'closed_grant' }, calls);
      log.warn({ calls }, 'usage of closed grants was dropped');
    },
    failed: (err) => log.warn({ err }, 'usage was not stored: it comes again'),
  };
}
