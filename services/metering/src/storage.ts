import { DEAD_LETTER_STREAM, DEAD_LETTER_SUBJECTS } from '@brand-data/contracts';
import {
  type ConfigOf,
  checkIndexes,
  connectMongo,
  connectNats,
  ensureStream,
  type Nats,
  retryUntilStopped,
  type Service,
  systemClock,
} from '@brand-data/runtime';
import type { storageSpec } from './config.ts';
import { createLedgerStore, type LedgerStore } from './ledger/ledger-store.ts';
import { openMongoLedgerDatabase } from './ledger/mongo-ledger-database.ts';
import { storeEvents } from './ledger/store-events.ts';
import { openUsageLists, type UsageLists } from './ledger/usage-lists.ts';
import { createSenders, type Senders } from './senders.ts';
import { ensureUsageStreams, natsUsageStreams } from './usage/nats-usage-streams.ts';
import type { UsageStreams } from './usage/usage-streams.ts';

const HOURS_NS = 3_600_000_000_000;

/** Opens the ledgers and the streams. Creates them, or updates their settings. */
export async function openStorage(
  service: Service,
  settings: ConfigOf<typeof storageSpec>,
): Promise<{
  store: LedgerStore;
  lists: UsageLists;
  nats: Nats;
  streams: UsageStreams;
  senders: Senders;
}> {
  const mongo = await connectMongo(service, settings, settings.MONGODB_DATABASE);
  const database = await retryUntilStopped('indexes', () => openMongoLedgerDatabase(mongo), service);
  const lists = await retryUntilStopped('indexes of lists', () => openUsageLists(mongo), service);
  await checkIndexes(service, mongo);
  const store = createLedgerStore({ database, clock: systemClock, events: storeEvents(service) });
  const nats = await connectNats(service, settings);
  await ensureStream(service, nats, {
    name: DEAD_LETTER_STREAM,
    subjects: [DEAD_LETTER_SUBJECTS],
    max_age: 30 * 24 * HOURS_NS,
    max_bytes: 256 * 1024 ** 2,
    num_replicas: settings.STREAM_REPLICAS,
  });
  checkDeadLetters(service, nats);
  const usageStreams = {
    streams: settings.USAGE_STREAMS,
    maxBytes: settings.USAGE_STREAM_MAX_BYTES,
    replicas: settings.STREAM_REPLICAS,
  };
  await ensureUsageStreams(service, nats, usageStreams);
  const senders = createSenders(systemClock);
  return { store, lists, nats, senders, streams: natsUsageStreams(service, nats, usageStreams, senders) };
}

function checkDeadLetters({ diagnosis }: Service, { manager }: Nats): void {
  diagnosis?.add('dead letters', async () => {
    const { messages } = (await manager.streams.info(DEAD_LETTER_STREAM)).state;
    if (messages === 0) return { state: 'ok', detail: 'there are none' };
    return {
      state: 'warning',
      detail: `metering could not read or bill ${messages} messages of the last 30 days`,
      advice: 'deploy/runbook.md says how to read them and what to do',
    };
  });
}
