import { randomBytes } from 'node:crypto';
import { RECALLS_SUBJECT, Recall } from '@brand-data/contracts';
import { type Nats, type Service, systemClock } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { startSettler } from '../settling/settler.ts';
import { usageBarrier } from '../settling/usage-barrier.ts';
import { countDropped } from '../usage/dropped-usage.ts';
import type { UsageStreams } from '../usage/usage-streams.ts';
import { createMetering, type Metering } from './metering.ts';

/** Metering and its settling on the real clock and NATS, with their metrics. */
export function connectMetering(
  service: Service,
  nats: Nats,
  { store, streams }: { store: LedgerStore; streams: UsageStreams },
): Metering {
  const { log, metrics } = service;
  const registers = [metrics];
  const decisions = new Counter({
    name: 'metering_acquires_total',
    help: 'Requests for grants, by decision',
    labelNames: ['decision'],
    registers,
  });
  for (const decision of ['grant', 'wait', 'exhausted', 'stale']) decisions.inc({ decision }, 0);
  const recalls = new Counter({
    name: 'metering_recalls_total',
    help: 'Recalls of unused permits that were broadcast',
    registers,
  });
  const settledGrants = new Counter({
    name: 'metering_settled_grants_total',
    help: 'Grants of holders that went away, closed on their behalf',
    registers,
  });
  const clock = systemClock;
  const holder = `metering-${randomBytes(6).toString('hex')}`;
  const settler = startSettler(
    { store, clock, barrier: usageBarrier({ streams, clock, holder }) },
    {
      settled: (grants) => {
        settledGrants.inc(grants);
        log.warn({ grants }, 'grants of holders that went away were settled');
      },
      failed: (err) => log.warn({ err }, 'overdue grants could not be settled: tried again'),
    },
  );
  service.onStop('settler', () => settler.stop());
  return createMetering(
    {
      store,
      clock,
      recall: (recall) => {
        if (nats.connection.isClosed() || nats.connection.isDraining()) return;
        nats.connection.publish(RECALLS_SUBJECT, Recall.encode(recall).finish());
      },
    },
    {
      decided: (decision) => decisions.inc({ decision }),
      recalled: () => recalls.inc(),
      dropped: countDropped(service),
    },
  );
}
