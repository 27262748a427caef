import { RECALLS_SUBJECT, Recall } from '@brand-data/contracts';
import type { Clock, Nats } from '@brand-data/runtime';

const AT_MOST_EVERY_MS = 50;

/**
 * Broadcasts a recall at once. Recalls of the same account and pool in the 50 ms after it are broadcast as one, at the end of
 * that time. A request waits four times as long, and gateways are disturbed 20 times a second at most.
 */
export function createRecalls(clock: Clock, broadcast: (recall: Recall) => void): (recall: Recall) => void {
  /** The recall that follows, by account and pool; undefined: none so far. */
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
