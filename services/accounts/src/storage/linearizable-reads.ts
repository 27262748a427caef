import { answerWithin } from '@brand-data/runtime';
import type { ClientSession, Collection, MongoClient, Timestamp } from 'mongodb';

const PROVED_WITHIN_MS = 1_000;

/** Runs a read that shows every write that was acknowledged, to anyone, before the read was requested. */
export type LinearizableReads = <T>(read: (session: ClientSession) => Promise<T>) => Promise<T>;

/**
 * After an election, majority reads may show an old state for up to a second, and an old primary that does not know of its
 * successor may still answer for some seconds. A write that a majority has acknowledged proves that its server is the primary and
 * has every acknowledged write. Therefore, when a read is requested, this class first writes to `document`, which has no other
 * use. The session then reads only from servers that have this write. Reads that are requested at the same time share one write.
 * If no majority acknowledges the write within a second, the read rejects with Fault `unavailable`. MongoDB's own linearizable
 * reads prove the same, but each waits for the server's next regular sync, up to 0.1 s.
 */
export function linearizableReads(
  client: MongoClient,
  documents: Collection<{ _id: string; value: number }>,
  document: string,
): LinearizableReads {
  let asking: Promise<unknown> = Promise.resolve();
  let next: Promise<Timestamp | undefined> | undefined;

  const prove = () =>
    client.withSession(async (session) => {
      await documents.updateOne(
        { _id: document },
        { $inc: { value: 1 } },
        { session, writeConcern: { w: 'majority', journal: true, wtimeoutMS: PROVED_WITHIN_MS } },
      );
      return session.operationTime;
    });

  /** Resolves after the next write. A write that is already under way proves nothing, because it began before the request. */
  const now = (): Promise<Timestamp | undefined> => {
    next ??= asking
      .catch(() => {})
      .then(() => {
        next = undefined;
        // A frozen server does not answer when wtimeoutMS is over, so the client needs a deadline too.
        const proof = answerWithin(prove(), {
          withinMs: PROVED_WITHIN_MS + 100,
          detail: 'no majority of the accounts database confirmed in time that it has a primary: try again',
        });
        asking = proof;
        return proof;
      });
    return next;
  };

  return async (read) => {
    const operationTime = await now();
    return client.withSession((session) => {
      if (operationTime) session.advanceOperationTime(operationTime);
      return read(session);
    });
  };
}
