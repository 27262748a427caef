import { RECALLS_SUBJECT, Recall } from '@brand-data/contracts';
import type { Clock, Nats } from '@brand-data/runtime';

const AT_MOST_EVERY_MS = 50;

/**
 * Broadcasts a recall at once, and those of the same account and pool that come within 50 ms after it as one, at the end of
 * that time: a request waits for four times as long, and however many wait, gateways are disturbed 20 times a second at most.
 */
export function createRecalls(clock: Clock, broadcast: (recall: Recall) => void): (recall: Recall) => void {
  /** What is to follow, by account and pool; undefined: nothing so far. */
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
    // When several ask, each may have what another lacks.
    const isSame = !before || before.holder === recall.holder;
    following.set(name, isSame ? recall : { ...recall, holder: '' });
  };
}

/** Tells all gateways of a recall. Without NATS it is lost, which only delays. */
export function publishRecall({ connection }: Pick<Nats, 'connection'>, recall: Recall): void {
  if (connection.isClosed() || connection.isDraining()) return;
  connection.publish(RECALLS_SUBJECT, Recall.encode(recall).finish());
}
