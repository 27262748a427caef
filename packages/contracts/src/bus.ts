/**
 * Names on NATS. Every subject begins with `brand_data.`, so that one permission rule covers the product.
 * Payloads are the protobuf messages named beside them.
 */

/** Gateways' usage, to metering: `UsageEvent`. The last token is the holder. */
export const USAGE_STREAM = 'BRAND_DATA_USAGE';
export const USAGE_SUBJECTS = 'brand_data.usage.*';
export const usageSubject = (holder: string): string => `brand_data.usage.${holder}`;
/** The one durable consumer that all metering replicas share. */
export const USAGE_CONSUMER = 'metering';

/** Usage messages that could not be read, as they came. */
export const DEAD_LETTER_STREAM = 'BRAND_DATA_DEAD_LETTERS';
export const DEAD_LETTER_SUBJECTS = 'brand_data.dead_letters.>';
export const USAGE_DEAD_LETTER_SUBJECT = 'brand_data.dead_letters.usage';

/** Changes of keys, accounts and plans, from accounts to every gateway: `AccountChanged`. */
export const ACCOUNT_CHANGES_STREAM = 'BRAND_DATA_ACCOUNT_CHANGES';
export const ACCOUNT_CHANGES_SUBJECT = 'brand_data.accounts.changes';

/** Changes of records, from catalog to every gateway: `CatalogChanged`. Core NATS: a lost one only delays. */
export const CATALOG_CHANGES_SUBJECT = 'brand_data.catalog.changes';

/** From metering to every gateway: `Recall`. Core NATS: a lost one only delays. */
export const RECALLS_SUBJECT = 'brand_data.metering.recalls';
