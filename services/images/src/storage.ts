import { type ConfigOf, openDatabase, type Service } from '@brand-data/runtime';
import type { storageSpec } from './config.ts';
import { type ImageStore, openImageStore } from './store/store.ts';

/** Connects to the database, and creates its indexes or brings them up to date. */
export async function openStorage(
  service: Service,
  config: ConfigOf<typeof storageSpec>,
): Promise<ImageStore> {
  // Without the database, cached pictures and monograms are answered. No load balancer may take these away.
  return openDatabase(service, config, openImageStore, { isNeededAlways: false });
}
