import { type Clock, elapsedMs, Fault } from '@brand-data/runtime';

const SEND_AGAIN_AFTER_MS = 300;

/**
 * Sends a request that may be sent any number of times, and while no answer comes, sends it again: the channel gives each
 * send to another replica, so that one which hangs keeps nobody waiting. The first answer counts, a refusal too. Rejects with
 * Fault `unavailable` when there is none in time, or nobody to send it to.
 *
 * @param send one attempt, which rejects when it is not answered in time
 */
export function askAgain<Answer>(
  clock: Clock,
  withinMs: number,
  send: (withinMs: number) => Promise<Answer>,
): Promise<Answer> {
  const began = clock.now();
  return new Promise((resolve, reject) => {
    let unanswered = 0;
    let isOver = false;
    const attempt = async (leftMs: number): Promise<void> => {
      unanswered += 1;
      try {
        resolve(await send(leftMs));
        isOver = true;
      } catch (error) {
        unanswered -= 1;
        const isAnswer = !(error instanceof Fault && error.kind === 'unavailable');
        if (!isAnswer && unanswered > 0) return;
        reject(error);
        isOver = true;
      }
    };
    const sendAll = async (): Promise<void> => {
      for (;;) {
        const leftMs = withinMs - elapsedMs(began, clock.now());
        if (isOver || leftMs <= 0) return;
        void attempt(leftMs);
        await clock.sleep(SEND_AGAIN_AFTER_MS);
      }
    };
    void sendAll();
  });
}
