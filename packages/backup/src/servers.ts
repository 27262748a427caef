import type { DatabaseService } from '@brand-data/contracts';
import {
  connectionOptions,
  credentialsOf,
  Fault,
  KEPT,
  problemOfClient,
  problemOfMongoUrl,
  tlsOptions,
} from '@brand-data/runtime';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';

/** The servers, as the settings of the services name them. */
export interface ServerSettings {
  MONGODB_URL: string;
  MONGODB_CA?: string | undefined;
  /** Absent: the copy or the restore does not include metering. */
  NATS_URL?: string | undefined;
  NATS_CA?: string | undefined;
}

/** What a copy and a restore have in common. */
export interface CopyOptions {
  servers: ServerSettings;
  /** The folder of the copy. */
  folder: string;
  /** The services whose data is copied or restored. */
  services: readonly DatabaseService[];
  /** The name of a service's database. */
  databaseOf(service: DatabaseService): string;
  signal: AbortSignal;
}

/** How long one request to NATS may take. */
const NATS_WITHIN_MS = 5_000;

/** Opens a client for as long as the caller needs it. Every command has a deadline of about a minute. */
export async function openMongo({ MONGODB_URL, MONGODB_CA }: ServerSettings): Promise<MongoClient> {
  const wrong = problemOfMongoUrl(MONGODB_URL);
  if (wrong) throw new Fault('invalid_argument', `MONGODB_URL: ${wrong}`);
  const client = new MongoClient(MONGODB_URL, {
    appName: 'brand-data-backup',
    serverSelectionTimeoutMS: 10_000,
    connectTimeoutMS: 10_000,
    waitQueueTimeoutMS: 10_000,
    socketTimeoutMS: 65_000,
    maxPoolSize: 40,
    ...KEPT,
    ignoreUndefined: true,
    ...(MONGODB_CA === undefined ? {} : { ca: MONGODB_CA }),
  });
  try {
    await client.connect();
    const problem = problemOfClient(client, await client.db('admin').command({ hello: 1 }));
    if (problem) throw new Fault('invalid_argument', `MONGODB_URL: ${problem}`);
    return client;
  } catch (error) {
    await client.close();
    throw error instanceof Fault ? error : unanswered('MONGODB_URL', 'MONGODB_CA', error);
  }
}

/** Returns the error of a server to which there is no connection, with what to do. */
function unanswered(setting: string, authority: string, error: unknown): Fault {
  const text = String(error);
  const found = PROBLEMS.find(([pattern]) => pattern.test(text))?.[1] ?? 'it does not answer as it should';
  return new Fault(
    'unavailable',
    `${setting} names a server that cannot be used: ${found}. Start it, or put ${setting} right, or ${authority} if it has one`,
    { cause: error },
  );
}

const PROBLEMS: [RegExp, string][] = [
  [/ECONNREFUSED|refused/i, 'nothing listens there'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name has no address'],
  [/auth/i, 'it refuses the user or the password'],
  [/certificate|SSL|TLS/i, 'one side does not accept the certificate of the other'],
  [/timeout|timed out|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i, 'it does not answer in time'],
];

/** JetStream, with the connection that the caller has to close. */
export interface OpenNats {
  connection: NatsConnection;
  manager: JetStreamManager;
}

export async function openNats({ NATS_URL, NATS_CA }: ServerSettings): Promise<OpenNats> {
  if (NATS_URL === undefined) throw new Fault('invalid_argument', 'NATS_URL is missing');
  const { servers, tls } = connectionOptions(NATS_URL);
  const credentials = credentialsOf(NATS_URL);
  const connection = await connect({
    servers,
    authenticator: () => credentials,
    ...(tls || NATS_CA !== undefined ? { tls: tlsOptions(NATS_URL, NATS_CA) } : {}),
    name: 'brand-data-backup',
    timeout: NATS_WITHIN_MS,
    maxReconnectAttempts: 10,
    reconnectTimeWait: 500,
  }).catch((error: unknown) => {
    throw unanswered('NATS_URL', 'NATS_CA', error);
  });
  try {
    return { connection, manager: await jetstreamManager(connection, { timeout: NATS_WITHIN_MS }) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
