import { type ConfigOf, openDatabase, type Service } from '@brand-data/runtime';
import type { storageSpec } from './config.ts';
import { type ImageStore, openImageStore } from './store/store.ts';

/** Connects to the database, and creates its indexes or brings them up to date. */
export async function openStorage(
  service: Service,
  config: ConfigOf<typeof storageSpec>,
): Promise<ImageStore> {
  // Without the database, the service still answers with cached pictures and monograms. The service stays ready, because a load
  // balancer would otherwise stop sending those requests.
  return openDatabase(service, config, openImageStore, { isNeededAlways: false });
}
