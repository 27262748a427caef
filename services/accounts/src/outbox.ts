import { accountChangesSubject } from '@brand-data/contracts';
import type { Nats, Service } from '@brand-data/runtime';
import type { Store } from './store.ts';

const SENT_WITHIN_MS = 5_000;
const SWEEP_MS = 5_000;
const PUBLISH_WITHIN_MS = 2_000;
const BATCH = 100;
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export interface Outbox {
  /**
   * Resolves to true as soon as JetStream has acknowledged every notice that is in the outbox now. Resolves to false if that
   * takes longer than 5 s. The outbox then still tries to send the notices.
   */
  flushed(): Promise<boolean>;
}

/**
 * Sends the notices of committed changes to the gateways, in the order of their revisions, until the stop. It sends at once when
 * `flushed` is called. Every few seconds it also sends notices that crashed replicas left behind. Several replicas may send the
 * same notice. This is harmless: the message id is the revision, and a notice only says "verify again".
 */
export function startOutbox(service: Service, store: Store, { publish }: Nats): Outbox {
  const waiting = new Set<() => void>();
  let stopped = false;
  let wake = () => {};

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, stopped ? 0 : ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const sendAll = async () => {
    for (;;) {
      const notices = await store.listOutbox(BATCH);
      for (const { _id: revision, notice } of notices) {
        await publish('account changes', accountChangesSubject(revision), notice.value(), {
          msgID: String(revision),
          timeout: PUBLISH_WITHIN_MS,
        });
        await store.removeFromOutbox(revision);
      }
      if (notices.length < BATCH) return;
    }
  };

  const run = async () => {
    let pauseMs = SHORTEST_PAUSE_MS;
    while (!stopped) {
      // This round may miss the notices of callers that arrive during it. They wait for the next round.
      const served = [...waiting];
      try {
        await sendAll();
        for (const confirm of served) confirm();
        pauseMs = SHORTEST_PAUSE_MS;
        if (waiting.size === 0) await pause(SWEEP_MS);
      } catch (error) {
        service.log.warn(
          { err: { message: (error as Error).message }, pauseMs },
          'notices to the gateways could not be sent yet',
        );
        await pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  };

  const running = run();
  service.onStop('outbox', async () => {
    stopped = true;
    wake();
    await running;
  });
  return {
    flushed: () =>
      new Promise((resolve) => {
        const answer = (isFlushed: boolean) => {
          clearTimeout(late);
          waiting.delete(confirm);
          resolve(isFlushed);
        };
        const confirm = () => answer(true);
        const late = setTimeout(() => answer(false), SENT_WITHIN_MS);
        waiting.add(confirm);
        wake();
      }),
  };
}
