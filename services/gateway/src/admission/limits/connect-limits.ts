import { randomUUID } from 'node:crypto';
import { GATEWAY_DEMAND_SUBJECT, GatewayDemand } from '@brand-data/contracts';
import type { Nats, Service } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import { countBy } from '../../metrics/series.ts';
import type { Messages } from '../../upstream/messages.ts';
import { CallsLimiter, type LimitName, TICK_MS } from './call-limits.ts';

/** How often the log names an account or key that is held to its limits. */
const LOGGED_EVERY_MS = 60_000;
const LOGGED_KEPT = 1_000;

/** Connects the limits of calls with the other gateways by core NATS, and counts and logs what they refuse. */
export function connectCallLimits(
  service: Pick<Service, 'log' | 'metrics' | 'onStop'>,
  { connection }: Pick<Nats, 'connection'>,
  messages: Messages,
): Pick<CallsLimiter, 'admit'> {
  const limiter = new CallsLimiter({
    gateway: randomUUID(),
    nowMs: () => performance.now(),
    publish: (message) => {
      if (!connection.isClosed() && !connection.isDraining())
        connection.publish(GATEWAY_DEMAND_SUBJECT, GatewayDemand.encode(message).finish());
    },
  });
  messages.follow('gateway_demand', GATEWAY_DEMAND_SUBJECT, GatewayDemand.decode, (demand) =>
    limiter.heard(demand),
  );
  limiter.hello();
  const ticking = setInterval(() => limiter.tick(), TICK_MS);
  service.onStop('limits of calls', () => {
    clearInterval(ticking);
    limiter.leave();
  });

  const countRefusal = countBy<LimitName>(service.metrics, {
    name: 'gateway_rate_limited_calls_total',
    help: 'Calls that were refused because an account or a key made too many a second or at once',
    label: 'limit',
    values: ['account_rate', 'account_concurrency', 'key_rate', 'key_concurrency'],
  });
  const logged = new LRUCache<string, { atMs: number; refused: number }>({ max: LOGGED_KEPT });
  const logRefusal = (limit: LimitName, ids: { accountId: string; keyId: string }): void => {
    const name = `${limit} ${limit.startsWith('key') ? ids.keyId : ids.accountId}`;
    const atMs = performance.now();
    const last = logged.get(name);
    if (last && atMs - last.atMs < LOGGED_EVERY_MS) {
      last.refused += 1;
      return;
    }
    logged.set(name, { atMs, refused: 0 });
    const { accountId, keyId } = ids;
    service.log.warn(
      { accountId, keyId, limit, refused: (last?.refused ?? 0) + 1 },
      'calls are refused to keep an account or key to its limits',
    );
  };

  return {
    admit: (credential) => {
      const decision = limiter.admit(credential);
      if (decision && 'refusedBy' in decision) {
        countRefusal(decision.refusedBy);
        logRefusal(decision.refusedBy, credential);
      }
      return decision;
    },
  };
}
