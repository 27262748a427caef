import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import type { ApiClient, CallOutcome } from './api-call.ts';
import { type CallLedger, enter } from './ledger.ts';
import type { FaultStack } from './stack.ts';

const CALLS_PER_S = 20;

/** A call of the load and how it ended. */
interface Seen {
  gateway: string;
  beganMs: number;
  endedMs: number;
  outcome: CallOutcome;
}

/** Starts a steady load of one account for a cached record, with the same number of calls a second on each gateway. */
export function startLoad(stack: FaultStack, client: ApiClient, ledger: CallLedger, token: string) {
  let seen: Seen[] = [];
  let isGoing = true;
  const drivers = stack.gateways.map(async (gateway) => {
    const calls = new Set<Promise<void>>();
    while (isGoing) {
      const beganMs = performance.now();
      const call = client.get(`${gateway.url}/v1/brands/ZPHX?token=${token}`).then((outcome) => {
        const endedMs = performance.now();
        enter(ledger, { route: Route.BRANDS, beganMs, endedMs, outcome });
        seen.push({ gateway: gateway.name, beganMs, endedMs, outcome });
        calls.delete(call);
      });
      calls.add(call);
      await delay(1_000 / CALLS_PER_S);
    }
    await Promise.all(calls);
  });
  return {
    /** The calls that have ended since the last call of this function. */
    take: () => {
      const taken = seen;
      seen = [];
      return taken;
    },
    stop: async () => {
      isGoing = false;
      await Promise.all(drivers);
    },
  };
}
