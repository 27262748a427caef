import {
  type Db,
  MongoClient,
  MongoError,
  MongoErrorLabel,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerSelectionError,
} from 'mongodb';
import { ConfigError } from './config.ts';
import { Fault } from './fault.ts';
import { observePool, traceCommands } from './mongo-observed.ts';
import { KEPT, problemOfClient } from './mongo-url.ts';
import { retryUntilStopped } from './retry.ts';
import type { Service } from './service.ts';

export interface Mongo {
  client: MongoClient;
  db: Db;
}

/**
 * One pool of connections for the life of the process; returns when the server answers. Writes are majority and
 * journaled, reads majority and of the primary: what was answered survives a fail-over. The driver's limits are for one
 * stage of an operation each (its timeoutMS does nothing); the whole of it is limited by `answerWithin`. Throws
 * ConfigError when the URL leads to what cannot keep that.
 *
 * A server that is frozen is given up, with all operations on it, after a heartbeat and the time to connect.
 */
export async function connectMongo(service: Service, uri: string, database: string): Promise<Mongo> {
  const client = new MongoClient(uri, {
    appName: `brand-data-${service.name}`,
    serverSelectionTimeoutMS: 3_000,
    connectTimeoutMS: 3_000,
    waitQueueTimeoutMS: 3_000,
    socketTimeoutMS: 65_000,
    heartbeatFrequencyMS: 2_000,
    serverMonitoringMode: 'stream',
    maxPoolSize: 50,
    ...KEPT,
    ignoreUndefined: true,
    monitorCommands: service.tracer !== undefined,
  });
  observePool(service, client);
  traceCommands(service, client);
  service.onStop('mongodb', () => client.close());
  const db = client.db(database);
  // After a first connection that fails the driver refuses every command: each try has to connect.
  const connect = async () => {
    await client.connect();
    return db.command({ hello: 1 });
  };
  const hello = await retryUntilStopped('MongoDB', connect, service);
  const problem = problemOfClient(client, hello);
  if (problem) throw new ConfigError(`wrong settings:\n  MONGODB_URL: ${problem}`);
  service.readiness.add('mongodb', async () => {
    await db.command({ ping: 1 }, { signal: AbortSignal.timeout(1_000) });
  });
  return { client, db };
}

/** Far more than any transaction of the services takes. */
const LONGEST_TRANSACTION_S = 10;

/**
 * Warns where the server keeps what a dead process has locked for long. That slows the services down after a crash, and
 * makes nothing wrong, so it stops none of them.
 */
export async function checkTransactionLifetime({ log }: Service, { client }: Mongo): Promise<void> {
  const advice =
    'set transactionLifetimeLimitSeconds to 5 on every member: until a transaction of a process that died ends, others cannot change what it has locked';
  try {
    const answer = await client.db('admin').command({ getParameter: 1, transactionLifetimeLimitSeconds: 1 });
    const seconds = answer.transactionLifetimeLimitSeconds;
    if (seconds > LONGEST_TRANSACTION_S) log.warn({ seconds }, `MongoDB: ${advice}`);
  } catch (err) {
    const { message } = err as Error;
    log.warn(
      { err: { message } },
      `MongoDB does not tell this user how long transactions may last: see that it is a few seconds, or ${advice}`,
    );
  }
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
    OUT_OF_REACH.has(Number(error.code)) ||
    [
      MongoErrorLabel.TransientTransactionError,
      MongoErrorLabel.UnknownTransactionCommitResult,
      MongoErrorLabel.RetryableWriteError,
    ].some((label) => error.hasErrorLabel(label))
  );
}

/** What servers say that are too slow, that are stopping, or whose set is between two primaries. */
const OUT_OF_REACH: ReadonlySet<number> = new Set([
  ...[50, 262], // MaxTimeMSExpired, ExceededTimeLimit
  ...[6, 7, 89, 9001], // HostUnreachable, HostNotFound, NetworkTimeout, SocketException
  ...[91, 11_600], // ShutdownInProgress, InterruptedAtShutdown
  ...[189, 10_107, 11_602, 13_435, 13_436], // PrimarySteppedDown, NotWritablePrimary and their like
  ...[64, 134, 187, 246], // WriteConcernFailed, ReadConcernMajorityNotAvailableYet and their like
]);
