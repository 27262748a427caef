import { CATALOG_CHANGES_SUBJECT } from '@brand-data/contracts';
import type { Nats } from '@brand-data/runtime';
import type { Records } from './records.ts';

/** Subscribes to catalog's broadcasts of changed records. After a broadcast all cached records have to be fetched again. */
export function followCatalogChanges(nats: Nats, { expireAll }: Pick<Records, 'expireAll'>): void {
  nats.connection.subscribe(CATALOG_CHANGES_SUBJECT, { callback: () => expireAll() });
}
