import { type Db, MongoClient } from 'mongodb';
import { ConfigError } from '../config/config.ts';
import { KEPT, problemOfClient, problemOfMongoUrl } from '../config/mongo-url.ts';
import { foundFill } from '../observe/diagnosis.ts';
import { retryUntilStopped, type Service } from '../service/service.ts';
import { poolObserver, traceCommands } from './observed.ts';
import { replaceableClient } from './replaceable-client.ts';

/** Longer than any operation takes. After it, no connection of the URL before is open any more. */
const OLD_CLIENT_KEPT_MS = 300_000;

/**
 * Connects to MongoDB for the life of the process. Resolves when the server answers. Writes and reads survive a fail-over (`KEPT`).
 * Throws ConfigError if the server cannot guarantee this.
 *
 * Each of the driver's timeouts limits one stage of an operation (`timeoutMS` has no effect). `answerWithin` limits the whole
 * operation. If a server freezes, the driver aborts all operations on it after a heartbeat plus the connect timeout.
 *
 * When the file of MONGODB_URL changes, new operations use connections of the new URL as soon as it works. Operations and sessions
 * that have begun end on their old connections.
 *
 * @param isNeededAlways makes the service not ready while the database does not answer
 */
export async function connectMongo(
  service: Service,
  { MONGODB_URL, MONGODB_CA }: { MONGODB_URL: string; MONGODB_CA?: string | undefined },
  database: string,
  isNeededAlways = true,
): Promise<Mongo> {
  const observe = poolObserver(service);
  const open = (url: string): MongoClient => {
    const opened = new MongoClient(url, {
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
      ...(MONGODB_CA === undefined ? {} : { ca: MONGODB_CA }),
    });
    observe(opened);
    traceCommands(service, opened);
    service.onStop('mongodb', () => opened.close());
    return opened;
  };
  // If the first connection fails, the driver refuses every command. Therefore each attempt has to connect.
  const problemOf = async (opened: MongoClient) => {
    await opened.connect();
    return problemOfClient(opened, await opened.db(database).command({ hello: 1 }));
  };
  const first = open(MONGODB_URL);
  const problem = await retryUntilStopped('MongoDB', () => problemOf(first), service);
  if (problem) throw new ConfigError(`wrong settings:\n  MONGODB_URL: ${problem}`);

  const { client, replace } = replaceableClient(first);
  const db = client.db(database);
  let newest = MONGODB_URL;
  service.onSettingChange('MONGODB_URL', (url) => {
    const wrong = problemOfMongoUrl(url);
    if (wrong) throw new Error(wrong);
    newest = url;
    const next = open(url);
    const change = async () => {
      if (newest !== url) return next.close();
      const unfit = await problemOf(next);
      if (unfit) {
        service.log.error({ what: 'MONGODB_URL', reason: unfit }, 'the new value is refused');
        return next.close();
      }
      const old = replace(next);
      service.log.info('connections to MongoDB now use the new MONGODB_URL');
      setTimeout(() => void old.close(), OLD_CLIENT_KEPT_MS).unref();
    };
    // It rejects only because of the stop.
    retryUntilStopped('the new MONGODB_URL', change, service).catch(() => {});
  });
  checkDatabase(service, db);
  if (isNeededAlways)
    service.readiness.add('mongodb', async () => {
      await db.command({ ping: 1 }, { signal: AbortSignal.timeout(1_000) });
    });
  return { client, db };
}

/** Much longer than any transaction of the services takes. */
const LONGEST_TRANSACTION_S = 10;

/** Warns if MongoDB would keep the locks of a dead process for long. They slow the services, but make no answer wrong. */
export async function checkTransactionLifetime({ log }: Service, { client }: Mongo): Promise<void> {
  const advice =
    'set transactionLifetimeLimitSeconds to 5 on every member: a transaction of a process that died holds its locks until it ends';
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

/** A database and the client that is connected to its servers. */
export interface Mongo {
  client: MongoClient;
  db: Db;
}

const ANSWER_MS = 2_500;
const DISK = { warning: 0.8, wrong: 0.9 };
const GIB = 1024 ** 3;

/** Adds the checks of the database's server: whether it answers, and how full the disk of its data is. */
function checkDatabase({ diagnosis }: Pick<Service, 'diagnosis'>, db: Db): void {
  diagnosis?.add('MongoDB', async () => {
    const began = performance.now();
    await db.command({ ping: 1 }, { signal: AbortSignal.timeout(ANSWER_MS) });
    return { state: 'ok', detail: `answers in ${Math.ceil(performance.now() - began)} ms` };
  });
  diagnosis?.add('disk of MongoDB', async () => {
    const { fsUsedSize, fsTotalSize } = await db.command(
      { dbStats: 1 },
      { signal: AbortSignal.timeout(ANSWER_MS) },
    );
    if (!(fsTotalSize > 0)) return { state: 'ok', detail: 'the server does not say how full it is' };
    const share = fsUsedSize / fsTotalSize;
    return foundFill(share, DISK, {
      detail: `${Math.round(share * 100)} % of ${Math.round(fsTotalSize / GIB)} GiB are used`,
      advice: 'give the volume more space: a full disk stops every write',
    });
  });
}
