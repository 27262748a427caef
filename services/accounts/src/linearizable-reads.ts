import { answerWithin } from '@brand-data/runtime';
import type { ClientSession, Collection, MongoClient, Timestamp } from 'mongodb';

const PROVED_WITHIN_MS = 1_000;

/** Runs reads that show every write that was acknowledged to anyone before the read was asked for. */
export type LinearizableReads = <T>(read: (session: ClientSession) => Promise<T>) => Promise<T>;

/**
 * After an election majority reads show the past for up to a second, and a primary that does not know of its successor
 * goes on answering for some seconds. A write that a majority has taken proves that its server leads and has all that was
 * acknowledged. So one, of `document` and of no meaning, comes first, begun after the question; what follows in the
 * session is answered by no server that knows less than it did. The questions of one moment share one. (A linearizable
 * read proves the same, but waits for the server's next regular sync, 0.1 s.) Where it cannot be proved in a second the
 * read rejects with Fault `unavailable`.
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

  /** The one that is under way was begun before the question. */
  const now = (): Promise<Timestamp | undefined> => {
    next ??= asking
      .catch(() => {})
      .then(() => {
        next = undefined;
        // A server that is frozen does not see to wtimeoutMS.
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
