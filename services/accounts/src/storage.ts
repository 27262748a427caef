import {
  ACCOUNT_BEATS_SUBJECTS,
  ACCOUNT_CHANGES_CONSUMER,
  ACCOUNT_CHANGES_DELIVERY_SUBJECT,
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECTS,
} from '@brand-data/contracts';
import {
  type ConfigOf,
  checkConsumer,
  connectNats,
  ensureStream,
  type Mongo,
  openDatabase,
  retryUntilStopped,
  type Service,
  untilRestored,
} from '@brand-data/runtime';
import { AckPolicy, DeliverPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { storageSpec } from './config.ts';
import { openStore } from './storage/store.ts';
import { ensureAuditStream } from './trail/audit-events.ts';

const MINUTES_NS = 60_000_000_000;
const LOOK_FOR_CONSUMER_EVERY_MS = 10_000;

/**
 * Connects to the database and the streams, and creates them or brings them up to date.
 *
 * @param restored resolves when the database is not being restored
 */
export async function openStorage(
  service: Service,
  config: ConfigOf<typeof storageSpec>,
  restored: (mongo: Mongo) => Promise<void> = (mongo) => untilRestored(service, mongo),
) {
  const store = await openDatabase(
    service,
    config,
    (mongo) => openStore(service, mongo, { auditDays: config.AUDIT_DAYS }),
    { restored, hasTransactions: true },
  );
  const nats = await connectNats(service, config);
  await ensureStream(service, nats, {
    name: ACCOUNT_CHANGES_STREAM,
    subjects: [ACCOUNT_CHANGES_SUBJECTS, ACCOUNT_BEATS_SUBJECTS],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // Longer than a gateway trusts a cached token. When the stream drops a change, no gateway therefore still trusts a token that
    // it cached before that change.
    max_age: 60 * MINUTES_NS,
    // Only notices of deleted accounts have a time of their own: for ever.
    allow_msg_ttl: true,
    max_msgs_per_subject: 1,
    duplicate_window: 2 * MINUTES_NS,
    num_replicas: config.STREAM_REPLICAS,
    deny_purge: true,
  });
  const { consumers } = nats.manager;
  const deliver = () =>
    consumers.info(ACCOUNT_CHANGES_STREAM, ACCOUNT_CHANGES_CONSUMER).catch(() =>
      consumers.add(ACCOUNT_CHANGES_STREAM, {
        durable_name: ACCOUNT_CHANGES_CONSUMER,
        deliver_subject: ACCOUNT_CHANGES_DELIVERY_SUBJECT,
        deliver_policy: DeliverPolicy.New,
        ack_policy: AckPolicy.None,
      }),
    );
  await retryUntilStopped(`the consumer ${ACCOUNT_CHANGES_CONSUMER}`, deliver, service);
  // Somebody may remove it, and gateways have no right to make it again. While NATS cannot make it, an alert of theirs fires.
  const looking = setInterval(() => deliver().catch(() => {}), LOOK_FOR_CONSUMER_EVERY_MS);
  service.onStop(`the consumer ${ACCOUNT_CHANGES_CONSUMER}`, () => clearInterval(looking));
  // However many wait: without a gateway all do.
  const consumer = { stream: ACCOUNT_CHANGES_STREAM, consumer: ACCOUNT_CHANGES_CONSUMER, most: Infinity };
  checkConsumer(service, nats.manager, consumer);
  await ensureAuditStream(service, nats, config.STREAM_REPLICAS);
  return { store, nats };
}
