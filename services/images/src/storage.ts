import {
  bringUpToDate,
  type ConfigOf,
  checkIndexes,
  connectMongo,
  retryUntilStopped,
  type Service,
} from '@brand-data/runtime';
import type { storageSpec } from './config.ts';
import { type ImageStore, openImageStore } from './store/store.ts';

/** Connects to the database, and creates its indexes or brings them up to date. */
export async function openStorage(
  service: Service,
  config: ConfigOf<typeof storageSpec>,
): Promise<ImageStore> {
  const mongo = await connectMongo(service, config, config.MONGODB_DATABASE, {
    // Without the database, cached pictures and monograms are answered. No load balancer may take these away.
    isNeededAlways: false,
  });
  await bringUpToDate(service, mongo);
  const store = await retryUntilStopped('indexes', () => openImageStore(mongo), service);
  await checkIndexes(service, mongo);
  return store;
}
