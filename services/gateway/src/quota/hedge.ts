import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';

const HEDGE_AFTER_MS = 300;
const PREFERRED_FOR_MS = 10_000;

/** Which replica is asked first about one thing: each thing has an order of its own, the same for all gateways. */
export interface ReplicaPreference {
  readonly key: string;
  /** Asked first in place of attempt 0, which did not answer then; after a while attempt 0 is asked first again. */
  instead?: { attempt: number; since: Instant };
}

/**
 * Sends a request that may be sent any number of times, and while no answer comes, sends it again, each time to the next
 * replica, so that one which hangs keeps nobody waiting. The first answer counts, a refusal too; whoever gave it is asked
 * first in the next seconds. Rejects with Fault `unavailable` when there is none in time, or at once when two replicas could
 * not be reached or said that they are not able to now; then the next request begins with the one behind the first.
 *
 * @param send one attempt, which rejects when it is not answered in time
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
    const end = (preferred: number, tell: () => void): void => {
      if (isOver) return;
      isOver = true;
      if (preferred !== first) preference.instead = { attempt: preferred, since: clock.now() };
      tell();
    };
    const attemptOn = async (attempt: number, leftMs: number): Promise<void> => {
      unanswered += 1;
      try {
        const answer = await send(leftMs, { key, attempt });
        end(attempt, () => resolve(answer));
      } catch (error) {
        unanswered -= 1;
        if (!(error instanceof Fault && error.kind === 'unavailable')) end(attempt, () => reject(error));
        // A connection that is just being replaced fails too, though its replica is well.
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
