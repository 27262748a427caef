import { answerWithin } from '@brand-data/runtime';
import type { ClientSession, Collection, MongoClient, Timestamp } from 'mongodb';

const PROVED_WITHIN_MS = 1_000;

/** Runs reads that show every write that was acknowledged to anyone before the read was asked for. */
export type LinearizableReads = <T>(read: (session: ClientSession) => Promise<T>) => Promise<T>;

/**
 * After an election majority reads may show the past for up to a second, and a primary that does not know of its successor
 * goes on answering for some seconds. A write that a majority has acknowledged proves that its server is the primary and
 * has every acknowledged write. So each read is preceded by a write to `document`, which has no other meaning and begins
 * after the read was asked for. The session then reads from no server that lacks this write. Reads that are asked for at
 * the same time share one write. When no majority acknowledges it within a second, the read rejects with Fault
 * `unavailable`. (MongoDB's own linearizable reads prove the same, but wait for the server's next regular sync, 0.1 s.)
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

  /** Not the write that is under way: it may have begun before the read was asked for. */
  const now = (): Promise<Timestamp | undefined> => {
    next ??= asking
      .catch(() => {})
      .then(() => {
        next = undefined;
        // A frozen server does not keep wtimeoutMS.
        const proof = answerWithin(prove(), {
          withinMs: PROVED_WITHIN_MS + 100,
          detail: 'the accounts database is between two primaries: try again',
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
