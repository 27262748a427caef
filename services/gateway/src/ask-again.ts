import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';

const SEND_AGAIN_AFTER_MS = 300;
const PREFERRED_FOR_MS = 10_000;

/** Which replica is asked first about one thing: each thing has an order of its own, the same for all gateways. */
export interface Preference {
  readonly key: string;
  /** Since a replica before this one did not answer; it is tried again after a while. */
  instead?: { attempt: number; since: Instant };
}

/**
 * Sends a request that may be sent any number of times, and while no answer comes, sends it again, each time to the next
 * replica, so that one which hangs keeps nobody waiting. The first answer counts, a refusal too; whoever gave it is asked
 * first in the next seconds. Rejects with Fault `unavailable` when there is none in time, or nobody to send it to; then the
 * next request goes to another replica.
 *
 * @param send one attempt, which rejects when it is not answered in time
 */
export function askAgain<Answer>(
  clock: Clock,
  withinMs: number,
  preference: Preference,
  send: (withinMs: number, replica: ReplicaChoice) => Promise<Answer>,
): Promise<Answer> {
  const { key } = preference;
  const began = clock.now();
  const first = firstAttempt(preference, began);
  const prefer = (attempt: number) => {
    if (attempt !== first) preference.instead = { attempt, since: clock.now() };
  };
  return new Promise((resolve, reject) => {
    let unanswered = 0;
    let isOver = false;
    const attemptOn = async (attempt: number, leftMs: number): Promise<void> => {
      unanswered += 1;
      try {
        resolve(await send(leftMs, { key, attempt }));
        if (!isOver) prefer(attempt);
        isOver = true;
      } catch (error) {
        unanswered -= 1;
        const isAnswer = !(error instanceof Fault && error.kind === 'unavailable');
        if (isOver || (!isAnswer && unanswered > 0)) return;
        reject(error);
        prefer(isAnswer ? attempt : attempt + 1);
        isOver = true;
      }
    };
    const sendAll = async (): Promise<void> => {
      for (let attempt = first; ; attempt++) {
        const leftMs = withinMs - elapsedMs(began, clock.now());
        if (isOver || leftMs <= 0) return;
        void attemptOn(attempt, leftMs);
        await clock.sleep(SEND_AGAIN_AFTER_MS);
      }
    };
    void sendAll();
  });
}

function firstAttempt({ instead }: Preference, now: Instant): number {
  return instead && elapsedMs(instead.since, now) < PREFERRED_FOR_MS ? instead.attempt : 0;
}
