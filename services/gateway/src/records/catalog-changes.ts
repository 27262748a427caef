import { CATALOG_CHANGES_SUBJECT } from '@brand-data/contracts';
import type { Nats } from '@brand-data/runtime';
import type { Records } from './records.ts';

/** Catalog broadcasts that records changed: cached ones are fetched again before they are next answered. */
export function followCatalogChanges(nats: Nats, { expireAll }: Pick<Records, 'expireAll'>): void {
  nats.connection.subscribe(CATALOG_CHANGES_SUBJECT, { callback: () => expireAll() });
}
