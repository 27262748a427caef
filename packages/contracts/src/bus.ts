/**
 * Names on NATS. Every subject begins with `brand_data.`, so that one permission rule covers the product.
 * Payloads are the protobuf messages named beside them.
 */

/** The subjects of usage in all usage streams. */
export const USAGE_SUBJECTS = 'brand_data.usage.>';
/** In each usage stream, the one durable consumer that all metering replicas share. */
export const USAGE_CONSUMER = 'metering';

/**
 * A stream of usage that gateways publish for metering: `UsageEvent`. A stream's leader syncs a few thousand messages a second.
 * If that is not enough, there are several streams, and each gateway process publishes to one of them (`usageStreamOf`).
 */
export interface UsageStream {
  name: string;
  subjects: string;
  /** Except in PARKED_USAGE, the last part of the subject is the holder. */
  subjectOf(holder: string): string;
}

/** The largest number of usage streams. The users of NATS have rights on so many. */
export const MOST_USAGE_STREAMS = 16;

/** @param number counted from 1 */
export function usageStream(number: number): UsageStream {
  const [name, prefix] =
    number === 1
      ? ['BRAND_DATA_USAGE', 'brand_data.usage']
      : [`BRAND_DATA_USAGE_${number}`, `brand_data.usage.${number}`];
  return { name, subjects: `${prefix}.*`, subjectOf: (holder) => `${prefix}.${holder}` };
}

/** Returns the streams from the first one on. */
export function usageStreams(count: number): UsageStream[] {
  return Array.from({ length: count }, (_, index) => usageStream(index + 1));
}

/**
 * Returns the number of the stream for a holder's usage, from 1 to `streams`: a hash (FNV-1a) of the holder's name selects it.
 */
export function usageStreamOf(holder: string, streams: number): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(holder)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return 1 + (hash % streams);
}

/**
 * Usage of grants that metering does not know yet, as copies that metering itself publishes and applies again. The usage streams
 * go on without these messages.
 */
export const PARKED_USAGE: UsageStream = {
  name: 'BRAND_DATA_PARKED_USAGE',
  subjects: 'brand_data.parked_usage',
  subjectOf: () => 'brand_data.parked_usage',
};

/** Holds copies of the usage messages that metering could not read or bill. */
export const DEAD_LETTER_STREAM = 'BRAND_DATA_DEAD_LETTERS';
export const DEAD_LETTER_SUBJECTS = 'brand_data.dead_letters.>';
export const USAGE_DEAD_LETTER_SUBJECT = 'brand_data.dead_letters.usage';

/**
 * Keeps the last message of each subject for an hour. Each change has a different subject, so no change replaces another. All
 * beats of a gateway have the same subject, so only the last one stays.
 */
export const ACCOUNT_CHANGES_STREAM = 'BRAND_DATA_ACCOUNT_CHANGES';
/** Changes of keys, accounts and plans, from accounts to every gateway: `AccountChanged`. */
export const ACCOUNT_CHANGES_SUBJECTS = 'brand_data.accounts.changes.*';
/** Each gateway publishes beats and gets them back, and those of the others. A beat arrives after every change stored before it. */
export const ACCOUNT_BEATS_SUBJECTS = 'brand_data.accounts.beats.*';

export function accountChangesSubject(revision: number): string {
  return `brand_data.accounts.changes.${revision}`;
}

/**
 * The durable consumer of the stream that accounts makes for all gateways. It delivers every message of the stream to the subject
 * below, each message once, and every gateway receives it there by core NATS. A gateway has no right to make a consumer: whoever
 * makes one may let NATS send messages to any subject.
 */
export const ACCOUNT_CHANGES_CONSUMER = 'gateways';
/** Nobody has the right to publish to it, and gateways alone may subscribe. */
export const ACCOUNT_CHANGES_DELIVERY_SUBJECT = '_INBOX.gateway.account_changes';

/** @param gateway a name that no other process has */
export function accountBeatsSubject(gateway: string): string {
  return `brand_data.accounts.beats.${gateway}`;
}

/** Holds each notice once, for a year: CloudEvents in JSON, for whoever the operators let read them. */
export const NOTICES_STREAM = 'BRAND_DATA_NOTICES';
export const NOTICES_SUBJECTS = 'brand_data.notices.>';

/** Each notice has a different subject: `brand_data.notices.<threshold>.<account>.<pool>.<month>.<allowance>`. */
export function noticeSubject(notice: {
  threshold: number;
  accountId: string;
  pool: string;
  month: string;
  allowance: number;
}): string {
  const { threshold, accountId, pool, month, allowance } = notice;
  return `brand_data.notices.${threshold}.${accountId}.${pool}.${month}.${allowance}`;
}

/** Changes of records, from catalog to every gateway: `CatalogChanged`. Core NATS, since gateways notice a lost message. */
export const CATALOG_CHANGES_SUBJECT = 'brand_data.catalog.changes';
/** The longest time between two messages of a series of `CatalogChanged`. */
export const SERIES_INTERVAL_MS = 1_000;

/** From metering to every gateway: `Recall`. Core NATS, since a lost message causes only a delay. */
export const RECALLS_SUBJECT = 'brand_data.metering.recalls';

/** From metering to every gateway: `UsageNews`. Core NATS, since gateways notice a lost message. */
export const USAGE_NEWS_SUBJECT = 'brand_data.metering.news';
/** How often each replica of metering sends `UsageNews`. */
export const USAGE_NEWS_EVERY_MS = 250;

/** Operators' changes at services other than accounts, as `AuditEvent`. Accounts stores each message and then removes it. */
export const AUDIT_STREAM = 'BRAND_DATA_AUDIT';
export const AUDIT_SUBJECTS = 'brand_data.audit.*';
/** The one durable consumer, which all replicas of accounts share. */
export const AUDIT_CONSUMER = 'accounts';

/** @param service "catalog", "metering" or "images": each may publish only to its own subject */
export function auditSubject(service: string): string {
  return `brand_data.audit.${service}`;
}

/** How long a service waits until the stream has stored a message. */
export const AUDIT_WITHIN_MS = 2_000;

/** From each gateway to all gateways: `GatewayDemand`. Core NATS, since without news a gateway keeps to an equal share. */
export const GATEWAY_DEMAND_SUBJECT = 'brand_data.gateway.demand';
