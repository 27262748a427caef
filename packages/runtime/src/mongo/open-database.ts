import type { ConfigOf } from '../config/config.ts';
import type { databaseSpec } from '../config/shared-specs.ts';
import { retryUntilStopped } from '../service/retry.ts';
import type { Service } from '../service/service.ts';
import { checkIndexes } from './checks.ts';
import { checkTransactionLifetime, connectMongo } from './connect.ts';
import type { Mongo } from './mongo.ts';
import { bringUpToDate } from './schema.ts';

/**
 * Connects to a service's database, brings it up to date, and returns what `open` returns. `open` creates the indexes, and runs again
 * until it succeeds.
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
  const { isNeededAlways = true } = options;
  const mongo = await connectMongo(service, config, config.MONGODB_DATABASE, { isNeededAlways });
  await options.restored?.(mongo);
  if (options.hasTransactions) await checkTransactionLifetime(service, mongo);
  await bringUpToDate(service, mongo);
  const opened = await retryUntilStopped('indexes', () => open(mongo), service);
  await checkIndexes(service, mongo);
  return opened;
}
