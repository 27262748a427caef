import { Route } from '@brand-data/contracts';
import { GATEWAYS, type Plan, REPLICAS } from './plan.ts';
import { MOST_DRIFT } from './seed-plan.ts';

/** A gateway's clocks run slow, metering's fast: a call ends a while after the end of its ten minutes' grant. */
export function planOfDriftingClocks(lookUpMs: number): Plan {
  const clock = (drift: number) => ({ monotonicDrift: drift, wallDrift: drift });
  const call = {
    ...{ accountId: 'account', gateway: 0, keyId: 'key', route: Route.BRANDS, status: 200 },
    ...{ fails: false, answerLost: false },
  };
  return {
    ...{
      seed: 1,
      streams: 1,
      misdirected: 0,
      startWallMs: Date.UTC(2026, 10, 20, 12),
      healthyUntilMs: 0,
      healAtMs: 630_000,
    },
    clocks: Object.fromEntries([
      ...GATEWAYS.map((name) => [name, clock(-MOST_DRIFT)]),
      ...REPLICAS.map((name) => [name, clock(MOST_DRIFT)]),
    ]),
    accounts: [{ accountId: 'account', limit: 100 }],
    calls: [
      { ...call, atMs: 1_000, lookUpMs: 0 },
      { ...call, atMs: 599_000, lookUpMs },
    ],
    ...{ faults: [], planChanges: [], restarts: [] },
  };
}
