import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';

const HEDGE_AFTER_MS = 300;
const PREFERRED_FOR_MS = 10_000;

/** Which replica is asked first: by the key, in an order that is the same for all gateways. */
export interface ReplicaPreference {
  readonly key: string;
  /** Asked first in place of attempt 0, which did not answer then. After a while attempt 0 is first again. */
  instead?: { attempt: number; since: Instant };
}

/**
 * A hedged request: while no answer comes, the request is sent again, each time to the next replica, so that a replica that hangs
 * delays no caller. The request has to be idempotent. The first answer counts, even if it is a refusal, and the replica that gave
 * it is asked first for the next seconds. Rejects with Fault `unavailable` when no answer comes in time; at once when two
 * replicas cannot be reached or say that they are unavailable, and the next request then begins with the second of them.
 *
 * @param send one attempt; rejects when it is not answered in time
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
        // A connection that is being replaced fails too, though its replica works: another replica is tried first.
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
