import { RECALLS_SUBJECT, Recall } from '@brand-data/contracts';
import type { Clock, Nats } from '@brand-data/runtime';

const AT_MOST_EVERY_MS = 50;

/**
 * Broadcasts a recall at once. Further recalls of the same account and pool within 50 ms are combined into one broadcast at the
 * end of that time. Gateways therefore get at most 20 recalls a second for an account and pool. A request for permits waits up to
 * 200 ms, so a combined recall still reaches the gateways in time.
 */
export function createRecalls(clock: Clock, broadcast: (recall: Recall) => void): (recall: Recall) => void {
  /** The recall to broadcast next, by account and pool. undefined: none has arrived since the last broadcast. */
  const following = new Map<string, Recall | undefined>();

  const run = async (name: string, first: Recall): Promise<void> => {
    for (let next: Recall | undefined = first; next; next = following.get(name)) {
      following.set(name, undefined);
      broadcast(next);
      await clock.sleep(AT_MOST_EVERY_MS);
    }
    following.delete(name);
  };

  return (recall) => {
    const name = `${recall.accountId}/${recall.pool}`;
    if (!following.has(name)) {
      void run(name, recall);
      return;
    }
    const before = following.get(name);
    // Several holders' calls wait, and each holder may have permits that another one needs. Therefore the recall goes to all of
    // them.
    const isSame = !before || before.holder === recall.holder;
    following.set(name, isSame ? recall : { ...recall, holder: '' });
  };
}

/** Broadcasts a recall to all gateways. If NATS is down, the recall is lost, and calls only wait longer. */
export function publishRecall({ connection }: Pick<Nats, 'connection'>, recall: Recall): void {
  if (connection.isClosed() || connection.isDraining()) return;
  connection.publish(RECALLS_SUBJECT, Recall.encode(recall).finish());
}
