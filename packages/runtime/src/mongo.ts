import { type Db, MongoClient } from 'mongodb';
import { retryUntilStopped } from './retry.ts';
import type { Service } from './service.ts';

export interface Mongo {
  client: MongoClient;
  db: Db;
}

/**
 * One pool of connections for the life of the process; returns when the server answers. Writes are majority and
 * journaled, reads majority: what was answered survives a fail-over. Every stage of an operation has a bound: 3 s to
 * find the server and to get a connection, 5 s for the answer, and one retry. (The driver's timeoutMS does nothing.)
 */
export async function connectMongo(service: Service, uri: string, database: string): Promise<Mongo> {
  const client = new MongoClient(uri, {
    appName: `brand-data-${service.name}`,
    serverSelectionTimeoutMS: 3_000,
    connectTimeoutMS: 3_000,
    waitQueueTimeoutMS: 3_000,
    socketTimeoutMS: 5_000,
    maxPoolSize: 50,
    retryReads: true,
    retryWrites: true,
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true },
    ignoreUndefined: true,
  });
  service.onStop('mongodb', () => client.close());
  const db = client.db(database);
  await retryUntilStopped('MongoDB', () => db.command({ ping: 1 }), service);
  service.readiness.add('mongodb', async () => {
    await db.command({ ping: 1 }, { signal: AbortSignal.timeout(1_000) });
  });
  return { client, db };
}
