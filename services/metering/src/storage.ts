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
import { openMongoLedgerDatabase } from './ledger/mongo-ledger-database.ts';
import { Senders } from './ledger/senders.ts';
import { UsageLists } from './ledger/usage-lists.ts';
import { type MongoNotices, openMongoNotices } from './notices/mongo-notices.ts';
import { ensureUsageStreams, natsUsageStreams } from './usage/nats-usage-streams.ts';

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
) {
  const openCollections = async (mongo: Mongo) => ({
    database: await openMongoLedgerDatabase(mongo),
    lists: new UsageLists(mongo),
    notices: await openMongoNotices(mongo),
  });
  const { database, lists, notices } = await openDatabase(service, settings, openCollections, { restored });
  const nats = await connectNats(service, settings);
  for (const [name, subjects, days] of [
    [DEAD_LETTER_STREAM, DEAD_LETTER_SUBJECTS, 30],
    [NOTICES_STREAM, NOTICES_SUBJECTS, 366],
  ] as const)
    await ensureStream(service, nats, {
      name,
      subjects: [subjects],
      max_age: days * 24 * HOURS_NS,
      max_bytes: 256 * 1024 ** 2,
      num_replicas: settings.STREAM_REPLICAS,
    });
  checkDeadLetters(service, nats);
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
