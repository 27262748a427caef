import { randomUUID } from 'node:crypto';
import { type CallLimits, GATEWAY_DEMAND_SUBJECT, GatewayDemand } from '@brand-data/contracts';
import { countBy, type Nats, type Service, systemClock } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import type { Messages } from '../upstream/messages.ts';
import { CallsLimiter, type LimitName, TICK_MS } from './limits/call-limits.ts';
import { createPacing, type Pacing } from './pacing.ts';
import { Turns } from './turns.ts';

/** For each account and, if a call has no valid token, for each client address. */
const UNCOUNTED_ANSWERS = { perSecond: 200, burst: 400 };
/** The searches of each key, beside its calls. Often many people type in the page that has the key. */
export const SEARCH_LIMITS: CallLimits = { rate: { perSecond: 100, burst: 200 } };
/** How often the log names an account or key that is held to its limits. */
const LOGGED_EVERY_MS = 60_000;
const LOGGED_KEPT = 1_000;

/**
 * Decides who may enter. Each part admits a call at once, makes it wait in a bounded queue, or refuses it (`admit`), and makes room
 * for the next one when the call is over (`release`). A call passes the parts in this order:
 *
 * 1. Unknown tokens (unknown-tokens.ts), only if accounts has to be asked about a token that may be made up. Refuses with 429
 *    `rate_limited`.
 * 2. Limits (limits/): the calls a second and at once that the plan and the key allow, at all gateways together. Refuses with 429
 *    `rate_limited`.
 * 3. Turns (turns.ts): the account's part of the process's time while the event loop is late. Refuses with 503 `overloaded`.
 * 4. Permits (calls/answer-call.ts): one of the month's calls, which quota gives. Refuses with 429 `quota_exceeded`, or with 503
 *    `upstream_unavailable` if metering gives no permit in time.
 *
 * A search passes 1 to 3 under names of its own, and is not counted. Its answer and all others that are not counted, such as errors
 * and pages, pass the pacing (pacing.ts) before they are sent. It closes the connection if too many answers wait.
 */
export interface AdmissionParts {
  limits: Pick<CallsLimiter, 'admit'>;
  turns: Pick<Turns, 'admit' | 'release'>;
  pacing: Pacing;
}

/** Connects the parts that need no question to another service. The limits hear from the other gateways from now on. */
export function connectAdmission(
  service: Service,
  nats: Nats,
  messages: Messages,
): AdmissionParts & { turns: Turns } {
  return {
    limits: connectCallLimits(service, nats, messages),
    turns: new Turns(() => performance.now()),
    pacing: createPacing(systemClock, UNCOUNTED_ANSWERS),
  };
}

/** Connects the limits of calls with the other gateways by core NATS, and counts and logs what they refuse. */
function connectCallLimits(
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
