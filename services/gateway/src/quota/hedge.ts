import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';

const HEDGE_AFTER_MS = 300;
const PREFERRED_FOR_MS = 10_000;

/** Decides which replica is asked first. */
export interface ReplicaPreference {
  /** Puts the replicas in an order, which is the same at all gateways. */
  readonly key: string;
  /** This attempt's replica is asked first for some seconds, because the replica of attempt 0 did not answer. */
  instead?: { attempt: number; since: Instant };
}

/**
 * Sends a hedged request: while no answer comes, the request also goes to the next replica, so that no caller waits long for a
 * replica that hangs. The request has to be idempotent.
 *
 * The first answer is used, even if it is a refusal. For the next seconds the replica that gave this answer is asked first.
 * Rejects with Fault `unavailable` if no answer comes in time. If two replicas cannot be reached or report that they are
 * unavailable, it rejects at once, and the next request goes to the second of them first.
 *
 * @param send sends one attempt; rejects if no answer comes in time
 */
export function hedge<Answer>(
  clock: Clock,
  withinMs: number,
  preference: ReplicaPreference,
  send: (withinMs: number, replica: ReplicaChoice) => Promise<Answer>,
): Promise<Answer> {
  const { key } = preference;
  const began = clock.now();
  const first = firstAttempt(preference, began);
  return new Promise((resolve, reject) => {
    let next = first;
    let unanswered = 0;
    let isOver = false;
    const end = (preferred: number, settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      if (preferred !== first) preference.instead = { attempt: preferred, since: clock.now() };
      settle();
    };
    const attemptOn = async (attempt: number, leftMs: number): Promise<void> => {
      unanswered += 1;
      try {
        const answer = await send(leftMs, { key, attempt });
        end(attempt, () => resolve(answer));
      } catch (error) {
        unanswered -= 1;
        if (!(error instanceof Fault && error.kind === 'unavailable')) end(attempt, () => reject(error));
        // A connection may fail because it is being replaced, although its replica works. So one other replica is tried.
        else if (unanswered === 0 && !(attempt === first && sendNext())) end(first + 1, () => reject(error));
      }
    };
    const sendNext = (): boolean => {
      const leftMs = withinMs - elapsedMs(began, clock.now());
      if (isOver || leftMs <= 0) return false;
      void attemptOn(next++, leftMs);
      return true;
    };
    const sendAll = async (): Promise<void> => {
      while (sendNext()) await clock.sleep(HEDGE_AFTER_MS);
    };
    void sendAll();
  });
}

function firstAttempt({ instead }: ReplicaPreference, now: Instant): number {
  return instead && elapsedMs(instead.since, now) < PREFERRED_FOR_MS ? instead.attempt : 0;
}
