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
   * Whether every notice that was in the outbox at the call has been acknowledged by JetStream: true as soon as that is
   * so, false after 5 s; the outbox goes on.
   */
  sent(): Promise<boolean>;
}

/**
 * Sends the notices of committed changes to the gateways, in the order of their revisions, until the stop: at once when
 * asked, and every few seconds what crashed replicas have left. Replicas may do so at the same time and twice: a notice's
 * message id is its revision, and a notice says no more than "verify again".
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
      // Those who ask while this round is on have notices that it may have missed.
      const served = [...waiting];
      try {
        await sendAll();
        for (const confirm of served) confirm();
        pauseMs = SHORTEST_PAUSE_MS;
        if (waiting.size === 0) await pause(SWEEP_MS);
      } catch (error) {
        service.log.warn({ err: { message: (error as Error).message }, pauseMs }, 'notices are not sent yet');
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
    sent: () =>
      new Promise((resolve) => {
        const answer = (sent: boolean) => {
          clearTimeout(late);
          waiting.delete(confirm);
          resolve(sent);
        };
        const confirm = () => answer(true);
        const late = setTimeout(() => answer(false), SENT_WITHIN_MS);
        waiting.add(confirm);
        wake();
      }),
  };
}
