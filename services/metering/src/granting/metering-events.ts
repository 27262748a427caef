import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import { countDropped, countRejected } from '../ledger/ledger-counters.ts';
import type { MeteringEvents } from './metering.ts';

/** Prometheus' metrics of requests for grants. */
export function meteringEvents(service: Service): MeteringEvents {
  const registers = [service.metrics];
  const decisions = new Counter({
    name: 'metering_acquires_total',
    help: 'Requests for grants, by what metering decided',
    labelNames: ['decision'],
    registers,
  });
  for (const decision of ['grant', 'wait', 'exhausted', 'stale']) decisions.inc({ decision }, 0);
  const recalls = new Counter({
    name: 'metering_recalls_total',
    help: 'Recalls that metering broadcast: it asked gateways to return permits that they do not use',
    registers,
  });
  return {
    decided: (decision) => decisions.inc({ decision }),
    recalled: () => recalls.inc(),
    dropped: countDropped(service),
    rejected: countRejected(service),
  };
}
