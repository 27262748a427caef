import {
  ACCOUNT_BEATS_SUBJECTS,
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECTS,
} from '@brand-data/contracts';
import {
  checkTransactionLifetime,
  connectMongo,
  connectNats,
  ensureStream,
  type Nats,
  retryUntilStopped,
  type Service,
} from '@brand-data/runtime';
import { RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { openStore, type Store } from './store.ts';

const MINUTES_NS = 60_000_000_000;

/** Where accounts keeps what it knows: opened, and made or brought up to date when need be. */
export async function openState(
  service: Service,
  settings: { MONGODB_URL: string; MONGODB_DATABASE: string; NATS_URL: string; STREAM_REPLICAS: number },
): Promise<{ store: Store; nats: Nats }> {
  const mongo = await connectMongo(service, settings.MONGODB_URL, settings.MONGODB_DATABASE);
  await checkTransactionLifetime(service, mongo);
  const store = await retryUntilStopped('indexes', () => openStore(mongo), service);
  const nats = await connectNats(service, settings.NATS_URL);
  await ensureStream(service, nats, {
    name: ACCOUNT_CHANGES_STREAM,
    subjects: [ACCOUNT_CHANGES_SUBJECTS, ACCOUNT_BEATS_SUBJECTS],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // Longer than a gateway trusts a token: none can miss a change that was taken away.
    max_age: 60 * MINUTES_NS,
    max_msgs_per_subject: 1,
    duplicate_window: 2 * MINUTES_NS,
    num_replicas: settings.STREAM_REPLICAS,
  });
  return { store, nats };
}
