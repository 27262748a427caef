import type { Db } from 'mongodb';
import type { ConfigOf, databaseSpec } from '../config/config.ts';
import { retryUntilStopped, type Service } from '../service/service.ts';
import { checkTransactionLifetime, connectMongo, type Mongo } from './connect.ts';
import { bringUpToDate } from './schema.ts';

/**
 * Connects to a service's database, brings it up to date, and returns what `open` returns. `open` creates the indexes, and runs
 * again until it succeeds.
 *
 * @param options.restored resolves when the service may use the database, which may be being restored; by default it may at once
 * @param options.isNeededAlways whether the service is not ready while the database does not answer
 * @param options.hasTransactions whether the service uses transactions, which a crash may leave open
 */
export async function openDatabase<Opened>(
  service: Service,
  config: ConfigOf<ReturnType<typeof databaseSpec>>,
  open: (mongo: Mongo) => Promise<Opened>,
  options: {
    restored?: (mongo: Mongo) => Promise<void>;
    isNeededAlways?: boolean;
    hasTransactions?: boolean;
  } = {},
): Promise<Opened> {
  const mongo = await connectMongo(service, config, config.MONGODB_DATABASE, options.isNeededAlways);
  await options.restored?.(mongo);
  if (options.hasTransactions) await checkTransactionLifetime(service, mongo);
  await bringUpToDate(service, mongo);
  const opened = await retryUntilStopped('indexes', () => open(mongo), service);
  await checkIndexes(service, mongo);
  return opened;
}

/**
 * Adds the check that no index is missing that the service has created. Without one of them queries may take too long, or two
 * documents may be equal that must not be.
 */
async function checkIndexes(service: Service, { db }: Mongo): Promise<void> {
  const { diagnosis } = service;
  if (diagnosis === undefined) return;
  const wanted = await retryUntilStopped('indexes', () => indexesOf(db), service);
  diagnosis.add('indexes', async () => {
    const now = await indexesOf(db);
    const missing = [...wanted].filter((name) => !now.has(name));
    if (missing.length === 0) return { state: 'ok', detail: `all ${wanted.size} are there` };
    return {
      state: 'wrong',
      detail: `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
      advice: 'restart one replica of the service, which creates them again; find out who has removed them',
    };
  });
}

/** Returns the names of all indexes: "ledgers.accountId_1_month_1__id_1". */
async function indexesOf(db: Db): Promise<Set<string>> {
  const options = { maxTimeMS: 2_500 };
  const collections = await db
    .listCollections({ type: 'collection' }, { nameOnly: true, ...options })
    .toArray();
  const names = collections.map(async ({ name }) => {
    const indexes = await db.collection(name).listIndexes(options).toArray();
    return indexes.map((index) => `${name}.${index.name}`);
  });
  return new Set((await Promise.all(names)).flat());
}
