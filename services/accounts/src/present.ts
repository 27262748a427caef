import { answerWithin } from '@brand-data/runtime';
import type { ClientSession, Collection, MongoClient, Timestamp } from 'mongodb';

const PROVED_WITHIN_MS = 1_000;

/** Runs reads that show all that was acknowledged to anyone before they were asked for. */
export type InThePresent = <T>(read: (session: ClientSession) => Promise<T>) => Promise<T>;

/**
 * After an election majority reads show the past for up to a second, and a primary that does not know of its successor
 * goes on answering for some seconds. A linearizable read proves by a majority that its server leads and has all that was
 * acknowledged, but is of one document. So one of `document` comes first, begun after the question; what follows in the
 * session is answered by no server that knows less than it did. The questions of one moment share one. Where it cannot be
 * proved in a second the read rejects with Fault `unavailable`.
 */
export function inThePresent(
  client: MongoClient,
  documents: Collection<{ _id: string; value: number }>,
  document: string,
): InThePresent {
  let asking: Promise<unknown> = Promise.resolve();
  let next: Promise<Timestamp> | undefined;

  /** A command as it is: the driver's own reads are repeated with a time that linearizable ones may not have. */
  const prove = async (): Promise<Timestamp> => {
    const { operationTime } = await documents.db.command({
      find: documents.collectionName,
      filter: { _id: document },
      limit: 1,
      singleBatch: true,
      readConcern: { level: 'linearizable' },
      maxTimeMS: PROVED_WITHIN_MS,
    });
    return operationTime;
  };

  /** The one that is under way was begun before the question. */
  const now = (): Promise<Timestamp> => {
    next ??= asking
      .catch(() => {})
      .then(() => {
        next = undefined;
        // A server that is frozen does not see to maxTimeMS.
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
      session.advanceOperationTime(operationTime);
      return read(session);
    });
  };
}
