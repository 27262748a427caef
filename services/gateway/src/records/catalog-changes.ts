import { CATALOG_CHANGES_SUBJECT, CatalogChanged } from '@brand-data/contracts';
import type { Messages } from '../messages.ts';
import type { Records } from './records.ts';

/** Subscribes to catalog's broadcasts of changed records. After a broadcast all cached records have to be fetched again. */
export function followCatalogChanges(messages: Messages, { expireAll }: Pick<Records, 'expireAll'>): void {
  messages.follow('catalog_changes', CATALOG_CHANGES_SUBJECT, CatalogChanged.decode, () => expireAll());
}
