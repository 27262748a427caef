import {
  DEAD_LETTER_STREAM,
  DEAD_LETTER_SUBJECTS,
  NOTICES_STREAM,
  NOTICES_SUBJECTS,
} from '@brand-data/contracts';
import {
  type ConfigOf,
  connectNats,
  ensureStream,
  type Mongo,
  type Nats,
  openDatabase,
  type Service,
  systemClock,
  untilRestored,
} from '@brand-data/runtime';
import type { storageSpec } from './config.ts';
import type { LedgerDatabase } from './ledger/ledger-database.ts';
import { openMongoLedgerDatabase } from './ledger/mongo-ledger-database.ts';
import { Senders } from './ledger/senders.ts';
import { openUsageLists, type UsageLists } from './ledger/usage-lists.ts';
import { type MongoNotices, openMongoNotices } from './notices/mongo-notices.ts';
import { ensureUsageStreams, natsUsageStreams } from './usage/nats-usage-streams.ts';
import type { UsageStreams } from './usage/usage-streams.ts';

const HOURS_NS = 3_600_000_000_000;

/**
 * Opens the ledgers, the notices and the streams. Creates them, or updates their settings.
 *
 * @param restored resolves when the database is not being restored
 */
export async function openStorage(
  service: Service,
  settings: ConfigOf<typeof storageSpec>,
  restored: (mongo: Mongo) => Promise<void> = (mongo) => untilRestored(service, mongo),
): Promise<{
  database: LedgerDatabase;
  notices: MongoNotices;
  lists: UsageLists;
  nats: Nats;
  streams: UsageStreams;
  senders: Senders;
}> {
  const { database, lists, notices } = await openDatabase(service, settings, openCollections, { restored });
  const nats = await connectNats(service, settings);
  await ensureStream(service, nats, {
    name: DEAD_LETTER_STREAM,
    subjects: [DEAD_LETTER_SUBJECTS],
    max_age: 30 * 24 * HOURS_NS,
    max_bytes: 256 * 1024 ** 2,
    num_replicas: settings.STREAM_REPLICAS,
  });
  checkDeadLetters(service, nats);
  await ensureStream(service, nats, {
    name: NOTICES_STREAM,
    subjects: [NOTICES_SUBJECTS],
    max_age: 366 * 24 * HOURS_NS,
    max_bytes: 256 * 1024 ** 2,
    num_replicas: settings.STREAM_REPLICAS,
  });
  checkNotices(service, notices);
  const usageStreams = {
    streams: settings.USAGE_STREAMS,
    maxBytes: settings.USAGE_STREAM_MAX_BYTES,
    replicas: settings.STREAM_REPLICAS,
  };
  await ensureUsageStreams(service, nats, usageStreams);
  const senders = new Senders(systemClock);
  const streams = natsUsageStreams(service, nats, usageStreams, senders);
  return { database, notices, lists, nats, senders, streams };
}

async function openCollections(mongo: Mongo) {
  const database = await openMongoLedgerDatabase(mongo);
  const lists = await openUsageLists(mongo);
  const notices = await openMongoNotices(mongo);
  return { database, lists, notices };
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

function checkNotices({ diagnosis }: Service, notices: MongoNotices): void {
  diagnosis?.add('notices', async () => {
    const { pending, failed } = await notices.count();
    if (pending + failed === 0) return { state: 'ok', detail: 'none waits for the webhook' };
    const detail = `the webhook has not accepted ${pending + failed}; metering has given up ${failed} of them`;
    if (failed === 0) return { state: 'ok', detail };
    return {
      state: 'warning',
      detail,
      advice: 'bds notice list --state failed shows why; bds notice redeliver sends them again',
    };
  });
}
