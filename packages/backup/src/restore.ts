import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import {
  lastRevision,
  noteRestore,
  renewRevisions,
  revokeKeys,
  validKeys,
} from '@brand-data/accounts/restoring';
import type { DatabaseService } from '@brand-data/contracts';
import {
  type BilledUsage,
  billReportedUsage,
  GRANTS_END_WITHIN_MS,
  type UsageMessage,
} from '@brand-data/metering/restoring';
import { Fault } from '@brand-data/runtime';
import type { MongoClient } from 'mongodb';
import { type ChangesSince, changesSince } from './changes-since.ts';
import { verifyCopied } from './copied-file.ts';
import { type CopiedDatabase, type Manifest, readManifest } from './manifest.ts';
import { restoreDatabase } from './restore-database.ts';
import { type OpenNats, openMongo, openNats, type ServerSettings } from './servers.ts';
import { copiedMessages, meteringRuns, streamMessages, usagePositions } from './usage-messages.ts';

export interface RestoreOptions {
  servers: ServerSettings;
  /** The folder of the copy. */
  folder: string;
  services: readonly DatabaseService[];
  databaseOf(service: DatabaseService): string;
  /** Whether to remove what the databases hold. */
  replace: boolean;
  /** When the last replica of metering ended. Since then gateways have got no grants. */
  meteringStoppedAt: Date;
  /** Whether all gateways have ended, so that no grant can be used any more. */
  gatewaysStopped: boolean;
  /** Whether to revoke the keys that were changed after the copy. Some of them may have been revoked. */
  revokeChangedKeys: boolean;
  signal: AbortSignal;
  onProgress(what: string, count?: number): void;
}

/** Messages of a usage stream that were deleted before they could be read. */
interface LostMessages {
  stream: string;
  messages: number;
}

export interface RestoreResult {
  manifest: Manifest;
  documents: number;
  /** Absent: metering was not restored. */
  usage?: BilledUsage & {
    /** The streams that NATS has lost since the copy. Usage after the end of the copy was only there. */
    gone: string[];
    lost: LostMessages[];
  };
  /** Absent: accounts was not restored. */
  changes?: ChangesSince & { validKeys: { id: string; accountId: string }[]; revoked: boolean };
}

const METERING_ENDS_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 500;

/** Accounts comes last. Until then no token is valid, so no call is answered from half a restore. */
const ORDER: readonly DatabaseService[] = ['images', 'catalog', 'metering', 'accounts'];

/**
 * Restores a copy while the services are stopped. First verifies the whole copy. If it fails or is stopped later, it has to be run
 * again with `replace`. Gateways may run: their grants end before the restore bills what they have reported.
 */
export async function restore(options: RestoreOptions): Promise<RestoreResult> {
  const { servers, folder, services, signal, onProgress } = options;
  const manifest = await readManifest(folder);
  const databases = ORDER.filter((service) => services.includes(service)).map((service) => {
    const copied = manifest.databases.find((database) => database.service === service);
    if (!copied) throw new Fault('failed_precondition', `the copy does not include ${service}`);
    return copied;
  });
  for (const { collections } of databases)
    for (const file of collections) {
      onProgress(`checking ${file.file}`);
      await verifyCopied(folder, file, signal);
    }
  for (const stream of manifest.streams) await verifyCopied(folder, stream, signal);

  await using stack = new AsyncDisposableStack();
  const client = stack.adopt(await openMongo(servers), (open) => open.close());
  const nats = services.some((service) => service === 'metering' || service === 'accounts')
    ? stack.adopt(await openNats(servers), ({ connection }) => connection.close())
    : undefined;
  if (nats && services.includes('metering')) await untilMeteringEnds(nats, signal);
  await emptyDatabases(client, options);

  const result: RestoreResult = { manifest, documents: 0 };
  for (const copied of databases) {
    const db = client.db(options.databaseOf(copied.service));
    const onDocument = (collection: string) =>
      onProgress(`restoring ${copied.service}/${collection}`, ++result.documents);
    await restoreDatabase(db, folder, copied, { signal, onDocument });
    if (copied.service === 'metering' && nats) {
      await untilGrantsEnd(options);
      const incomplete = { gone: [], lost: [] };
      const messages = allMessages(nats, manifest, options, incomplete);
      result.usage = { ...(await billReportedUsage({ client, db }, messages)), ...incomplete };
    }
    if (copied.service === 'accounts' && nats)
      result.changes = await renewAccounts(client, nats, copied, manifest.endedAt, options);
  }
  return result;
}

async function renewAccounts(
  client: MongoClient,
  nats: OpenNats,
  copied: CopiedDatabase,
  copyEndedAt: string,
  { databaseOf, services, revokeChangedKeys, signal }: RestoreOptions,
): Promise<NonNullable<RestoreResult['changes']>> {
  const db = client.db(databaseOf('accounts'));
  const moment = { revision: await lastRevision(db), at: new Date(copied.at) };
  const changes = await changesSince(nats, moment, signal);
  const valid = await validKeys(db, changes.keys);
  if (revokeChangedKeys)
    await revokeKeys(
      db,
      valid.map(({ id }) => id),
    );
  await renewRevisions(db);
  const revoked = revokeChangedKeys ? valid : [];
  await noteRestore(db, { from: hostname(), services, copyEndedAt, revoked });
  return { ...changes, validKeys: valid, revoked: revokeChangedKeys };
}

/** The copied messages, then those of the streams that the copied ledgers do not contain for sure. */
async function* allMessages(
  nats: OpenNats,
  { streams: copied }: Manifest,
  { folder, signal, onProgress }: RestoreOptions,
  { gone, lost }: Pick<NonNullable<RestoreResult['usage']>, 'gone' | 'lost'>,
): AsyncGenerator<UsageMessage> {
  let count = 0;
  const counted = (message: UsageMessage) => {
    onProgress('reading usage', ++count);
    return message;
  };
  for (const stream of copied)
    for await (const message of copiedMessages(folder, stream)) yield counted(message);
  const positions = await usagePositions(nats);
  for (const { name, created } of copied)
    if (!positions.some((position) => position.name === name && position.created === created))
      gone.push(name);
  for (const { name, created, firstSequence, lastSequence } of positions) {
    const same = copied.find((stream) => stream.name === name && stream.created === created);
    const range = { fromSequence: (same?.appliedUpTo ?? 0) + 1, toSequence: lastSequence };
    const missing = Math.min(firstSequence - 1, lastSequence) - (same === undefined ? 0 : lastCopied(same));
    if (missing > 0) lost.push({ stream: name, messages: missing });
    if (firstSequence > lastSequence) continue;
    for await (const message of streamMessages(nats, name, range, signal)) yield counted(message);
  }
}

/** The messages of a copy follow each other without a gap. */
function lastCopied({ appliedUpTo, count }: Manifest['streams'][number]): number {
  return appliedUpTo + count;
}

/** Throws Fault `failed_precondition` if a replica of metering goes on. */
async function untilMeteringEnds(nats: OpenNats, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  while (await meteringRuns(nats)) {
    if (performance.now() - began > METERING_ENDS_WITHIN_MS)
      throw new Fault(
        'failed_precondition',
        'metering runs: stop accounts, catalog, metering and images first',
      );
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** Until then, a gateway may answer calls with a grant that the restored ledgers do not know. */
async function untilGrantsEnd({
  gatewaysStopped,
  meteringStoppedAt,
  signal,
  onProgress,
}: RestoreOptions): Promise<void> {
  if (gatewaysStopped) return;
  const endMs = meteringStoppedAt.getTime() + GRANTS_END_WITHIN_MS;
  for (let leftMs = endMs - Date.now(); leftMs > 0; leftMs = endMs - Date.now()) {
    onProgress(`waiting ${Math.ceil(leftMs / 1_000)} s for the grants of gateways to end`);
    await delay(Math.min(leftMs, LOOK_EVERY_MS), undefined, { signal });
  }
}

async function emptyDatabases(
  client: MongoClient,
  { services, databaseOf, replace }: RestoreOptions,
): Promise<void> {
  for (const service of services) {
    const db = client.db(databaseOf(service));
    const filled = await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
    if (filled.length > 0 && !replace)
      throw new Fault(
        'failed_precondition',
        `the database ${db.databaseName} is not empty: --replace removes what it holds`,
      );
  }
  for (const service of services) await client.db(databaseOf(service)).dropDatabase();
}
