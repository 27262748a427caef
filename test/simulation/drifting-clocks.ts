import { Route } from '@brand-data/contracts';
import { GATEWAYS, type Plan, REPLICAS } from './plan.ts';
import { MOST_DRIFT } from './seed-plan.ts';

/** A gateway's clocks are slow and metering's are fast. A call ends some time after its grant of ten minutes has ended. */
export function planOfDriftingClocks(lookUpMs: number): Plan {
  const clock = (drift: number) => ({ monotonicDrift: drift, wallDrift: drift });
  const call = {
    accountId: 'account',
    gateway: 0,
    keyId: 'key',
    route: Route.BRANDS,
    status: 200,
    fails: false,
    answerLost: false,
  };
  return {
    seed: 1,
    streams: 1,
    misdirected: 0,
    startWallMs: Date.UTC(2026, 10, 20, 12),
    healthyUntilMs: 0,
    healAtMs: 630_000,
    clocks: Object.fromEntries([
      ...GATEWAYS.map((name) => [name, clock(-MOST_DRIFT)]),
      ...REPLICAS.map((name) => [name, clock(MOST_DRIFT)]),
    ]),
    accounts: [{ accountId: 'account', limit: 100 }],
    calls: [
      { ...call, atMs: 1_000, lookUpMs: 0 },
      { ...call, atMs: 599_000, lookUpMs },
    ],
    faults: [],
    planChanges: [],
    attacks: [],
    restarts: [],
  };
}
