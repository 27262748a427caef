import type { ClientSession, Collection, MongoClient, Timestamp } from 'mongodb';

const TOLD_WITHIN_MS = 1_000;

/** Runs reads that show all that was acknowledged to anyone before they were asked for. */
export type InThePresent = <T>(read: (session: ClientSession) => Promise<T>) => Promise<T>;

/**
 * After an election majority reads show the past for up to a second, and a primary that does not know of its successor
 * goes on answering for some seconds. A linearizable read proves by a majority that its server leads and has all that was
 * acknowledged, but is of one document. So one of `document` comes first, begun after the question; what follows in the
 * session is answered by no server that knows less than it did. The questions of one moment share one.
 */
export function inThePresent(
  client: MongoClient,
  documents: Collection<{ _id: string; value: number }>,
  document: string,
): InThePresent {
  let asking: Promise<unknown> = Promise.resolve();
  let next: Promise<Timestamp | undefined> | undefined;

  const ask = () =>
    client.withSession(async (session) => {
      await documents.findOne(
        { _id: document },
        {
          ...{ session, readConcern: 'linearizable', maxTimeMS: TOLD_WITHIN_MS },
          // A server that is frozen does not see to maxTimeMS, and others wait.
          signal: AbortSignal.timeout(TOLD_WITHIN_MS + 100),
        },
      );
      return session.operationTime;
    });

  /** The one that is under way was begun before the question. */
  const now = () => {
    next ??= asking
      .catch(() => {})
      .then(() => {
        next = undefined;
        const asked = ask();
        asking = asked;
        return asked;
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
