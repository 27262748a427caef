import { type Nats, type Service, systemClock } from '@brand-data/runtime';
import type { Messages } from '../upstream/messages.ts';
import type { CallsLimiter } from './limits/call-limits.ts';
import { connectCallLimits } from './limits/connect-limits.ts';
import { createPacing, type Pacing } from './pacing.ts';
import { Turns } from './turns.ts';

/** For each account and, if a call has no valid token, for each client address. */
const UNCOUNTED_ANSWERS = { perSecond: 200, burst: 400 };

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
 * All other answers, such as errors and pages, are not counted. They pass the pacing (pacing.ts) before they are sent. It closes the
 * connection if too many answers wait.
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
