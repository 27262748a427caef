import {
  type Db,
  MongoClient,
  MongoError,
  MongoErrorLabel,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerSelectionError,
} from 'mongodb';
import { Fault } from './fault.ts';
import { observePool, traceCommands } from './mongo-observed.ts';
import { retryUntilStopped } from './retry.ts';
import type { Service } from './service.ts';

export interface Mongo {
  client: MongoClient;
  db: Db;
}

/**
 * One pool of connections for the life of the process; returns when the server answers. Writes are majority and
 * journaled, reads majority: what was answered survives a fail-over. The driver's limits are for one stage of an
 * operation each (its timeoutMS does nothing); the whole of it is limited by `answerWithin`.
 */
export async function connectMongo(service: Service, uri: string, database: string): Promise<Mongo> {
  const client = new MongoClient(uri, {
    appName: `brand-data-${service.name}`,
    serverSelectionTimeoutMS: 3_000,
    connectTimeoutMS: 3_000,
    waitQueueTimeoutMS: 3_000,
    socketTimeoutMS: 65_000,
    maxPoolSize: 50,
    retryReads: true,
    retryWrites: true,
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true },
    ignoreUndefined: true,
    monitorCommands: service.tracing !== undefined,
  });
  observePool(service, client);
  traceCommands(service, client);
  service.onStop('mongodb', () => client.close());
  const db = client.db(database);
  // After a first connection that fails the driver refuses every command: each try has to connect.
  const connect = async () => {
    await client.connect();
    await db.command({ ping: 1 });
  };
  await retryUntilStopped('MongoDB', connect, service);
  service.readiness.add('mongodb', async () => {
    await db.command({ ping: 1 }, { signal: AbortSignal.timeout(1_000) });
  });
  return { client, db };
}

/**
 * One deadline for all that a caller waits for, which the driver has not. Rejects with Fault `unavailable`, whose text is
 * `detail`, when it takes longer or the database is out of reach; what was begun may still be done.
 */
export function answerWithin<T>(
  answer: Promise<T>,
  { withinMs, detail }: { withinMs: number; detail: string },
): Promise<T> {
  const unavailable = (cause?: unknown) => new Fault('unavailable', detail, { cause });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(unavailable()), withinMs);
    answer
      .then(resolve, (error: unknown) => reject(isOutOfReach(error) ? unavailable(error) : error))
      .finally(() => clearTimeout(late));
  });
}

function isOutOfReach(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoOperationTimeoutError ||
    error.name === 'MongoWaitQueueTimeoutError' ||
    error.code === MAX_TIME_EXPIRED ||
    [
      MongoErrorLabel.TransientTransactionError,
      MongoErrorLabel.UnknownTransactionCommitResult,
      MongoErrorLabel.RetryableWriteError,
    ].some((label) => error.hasErrorLabel(label))
  );
}

const MAX_TIME_EXPIRED = 50;
