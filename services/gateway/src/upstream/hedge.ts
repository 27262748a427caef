import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';

const HEDGE_AFTER_MS = 300;
const PREFERRED_FOR_MS = 10_000;

/** Decides which replica a request goes to first. */
export interface ReplicaPreference {
  /** Puts the replicas in an order, which is the same at all gateways. Attempt 0 goes to the first replica, 1 to the second. */
  readonly key: string;
  /** For 10 s after `since`, requests begin with this attempt, because an earlier replica in the order did not answer first. */
  instead?: { attempt: number; since: Instant };
}

/**
 * Sends a hedged request, which has to be idempotent: every 300 ms without an answer, it also goes to the next replica, so that no
 * caller waits long for a replica that hangs.
 *
 * The first answer is used, even a refusal, and for 10 s requests go first to the replica that gave it. Rejects with Fault
 * `unavailable` if no answer comes in time, and at once if at least two replicas were asked and none of those can be reached or is
 * available. The next request then goes first to the second of them.
 *
 * @param send sends one attempt; rejects if no answer comes in time, or if all connected replicas have the request already
 * @param attempts the most attempts that reach a replica. Without this bound, expensive requests could overload a service that is
 *   late. A replica that connects again is asked, although an attempt found no other replica before
 */
export function hedge<Answer>(
  clock: Clock,
  withinMs: number,
  preference: ReplicaPreference,
  send: (withinMs: number, replica: ReplicaChoice) => Promise<Answer>,
  attempts = Number.POSITIVE_INFINITY,
): Promise<Answer> {
  const { key } = preference;
  const began = clock.now();
  const first = firstAttempt(preference, began);
  return new Promise((resolve, reject) => {
    let next = first;
    let notSent = 0;
    const unanswered = new Set<ReplicaChoice>();
    let isOver = false;
    const end = (preferred: number, settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      if (preferred !== first) preference.instead = { attempt: preferred, since: clock.now() };
      settle();
    };
    const attemptOn = async (attempt: number, leftMs: number): Promise<void> => {
      const choice: ReplicaChoice = { key, attempt, others: [...unanswered] };
      unanswered.add(choice);
      try {
        const answer = await send(leftMs, choice);
        end(choice.attempt, () => resolve(answer));
      } catch (error) {
        unanswered.delete(choice);
        if (choice.address === undefined) notSent += 1;
        if (!(error instanceof Fault && error.kind === 'unavailable'))
          end(choice.attempt, () => reject(error));
        // A connection may fail although its replica works, because gRPC is replacing it: ask one other replica.
        else if (unanswered.size === 0 && !(attempt === first && sendNext()))
          end(first + 1, () => reject(error));
      }
    };
    const sendNext = (): boolean => {
      const leftMs = withinMs - elapsedMs(began, clock.now());
      if (isOver || leftMs <= 0 || next - first - notSent >= attempts) return false;
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
