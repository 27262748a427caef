import { setTimeout as delay } from 'node:timers/promises';
import {
  type DatabaseService,
  endsWithinMs,
  type FinishRestoreRequest,
  type FinishRestoreResponse,
  LONGEST_TTL_MS,
  type ReplayUsageRequest,
  type ReplayUsageResponse,
  type ReportedUsage,
} from '@brand-data/contracts';
import { Fault, inBatches, markRestoring, RESTORING } from '@brand-data/runtime';
import type { MongoClient } from 'mongodb';
import { readAccountNotices } from './account-notices.ts';
import { verifyCopied } from './copied-file.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { restoreDatabase } from './restore-database.ts';
import { type OpenNats, openMongo, openNats, type ServerSettings } from './servers.ts';
import { copiedMessages, meteringRuns, streamMessages, usagePositions } from './usage-messages.ts';

/** The admin ports of the services that end a restore. They reject with Fault `unavailable` while the service does not run. */
export interface RestoredServices {
  finishRestore(request: FinishRestoreRequest): Promise<FinishRestoreResponse>;
  replayUsage(requests: AsyncIterable<ReplayUsageRequest>): Promise<ReplayUsageResponse>;
}

export interface RestoreOptions {
  servers: ServerSettings;
  restored: RestoredServices;
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
  /** Called when the databases are restored and the services have to be started. */
  onRestored(): void;
}

/** Messages of a usage stream that were deleted before they could be read. */
interface LostMessages {
  stream: string;
  messages: number;
}

/** The facts that a restore knows about usage that it could not read. */
interface UnreadUsage {
  /** The streams that NATS has lost since the copy. Usage after the end of the copy was only there. */
  gone: string[];
  lost: LostMessages[];
}

export interface RestoreResult {
  manifest: Manifest;
  documents: number;
  /** Absent: metering was not restored. */
  usage?: ReplayUsageResponse & UnreadUsage;
  /** Absent: accounts was not restored. */
  changes?: FinishRestoreResponse & {
    /** Whether these are all changes since the copy. */
    complete: boolean;
    revoked: boolean;
  };
}

const METERING_ENDS_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 500;
/** How much usage one request carries. A message of a stream is much smaller than this. */
const BATCH = { items: 500, bytes: 1024 ** 2, bytesOf: ({ data }: ReportedUsage) => data.length };
/** Grants that metering gave out longer ago than this have ended. */
const GRANTS_END_WITHIN_MS = endsWithinMs(LONGEST_TTL_MS);

/** Accounts comes last. If the restore breaks off, no token is valid, so no call is answered from half a restore. */
const ORDER: readonly DatabaseService[] = ['images', 'catalog', 'metering', 'accounts'];

/**
 * Restores a copy in three steps. First verifies all of the copy. Then writes the databases while the services are stopped. Then
 * waits until accounts and metering run, and lets them decide what is revoked and billed. Until they have decided, they answer
 * nothing else. If a restore fails or is stopped after the check of the copy, it has to be run again with `replace`, with the
 * services stopped. Gateways may run: their grants end before metering bills what they have reported.
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

  let documents = 0;
  const restoreIds = new Map<DatabaseService, string>();
  for (const copied of databases) {
    const { service } = copied;
    const db = client.db(options.databaseOf(service));
    if (service === 'metering' || service === 'accounts') restoreIds.set(service, await markRestoring(db));
    const onDocument = (collection: string) => onProgress(`restoring ${service}/${collection}`, ++documents);
    await restoreDatabase(db, folder, copied, { signal, onDocument });
    if (service === 'metering') await untilGrantsEnd(options);
  }
  if (restoreIds.size > 0) options.onRestored();
  const [accountsId, meteringId] = [restoreIds.get('accounts'), restoreIds.get('metering')];
  // Metering comes last: until it has billed all usage, gateways get no grant and so answer no counted call.
  const changes = nats && accountsId && (await finishAccounts(nats, accountsId, manifest, options));
  const usage = nats && meteringId && (await replayUsage(nats, meteringId, manifest, options));
  return { manifest, documents, ...(usage && { usage }), ...(changes && { changes }) };
}

async function finishAccounts(
  nats: OpenNats,
  restoreId: string,
  { databases, endedAt }: Manifest,
  { restored, services, revokeChangedKeys, signal, onProgress }: RestoreOptions,
): Promise<NonNullable<RestoreResult['changes']>> {
  const copiedAt = new Date(databases.find(({ service }) => service === 'accounts')?.at ?? endedAt);
  const { complete, notices } = await readAccountNotices(nats, copiedAt, signal);
  const request = {
    restoreId,
    changes: notices,
    revokeChangedKeys,
    services: [...services],
    copyEndedAt: endedAt,
  };
  const { keys, accounts, plans, validKeys } = await untilRuns(
    'accounts',
    () => restored.finishRestore(request),
    { signal, onProgress },
  );
  return { complete, keys, accounts, plans, validKeys, revoked: revokeChangedKeys };
}

async function replayUsage(
  nats: OpenNats,
  restoreId: string,
  manifest: Manifest,
  options: RestoreOptions,
): Promise<NonNullable<RestoreResult['usage']>> {
  return untilRuns(
    'metering',
    async () => {
      const unread: UnreadUsage = { gone: [], lost: [] };
      const messages = allMessages(nats, manifest, options, unread);
      return { ...(await options.restored.replayUsage(requestsOf(restoreId, messages))), ...unread };
    },
    options,
  );
}

/** Repeats the call until the service answers. */
async function untilRuns<Answer>(
  service: DatabaseService,
  call: () => Promise<Answer>,
  { signal, onProgress }: Pick<RestoreOptions, 'signal' | 'onProgress'>,
): Promise<Answer> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error;
      onProgress(`waiting for ${service}: ${error.message}`);
    }
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

async function* requestsOf(
  restoreId: string,
  messages: AsyncIterable<ReportedUsage>,
): AsyncGenerator<ReplayUsageRequest> {
  for await (const batch of inBatches(messages, BATCH)) yield { restoreId, messages: batch, complete: false };
  yield { restoreId, messages: [], complete: true };
}

/** Yields the copied messages, then those of the streams that the copied ledgers do not contain for sure. */
async function* allMessages(
  nats: OpenNats,
  { streams: copied }: Manifest,
  { folder, signal, onProgress }: RestoreOptions,
  { gone, lost }: UnreadUsage,
): AsyncGenerator<ReportedUsage> {
  let count = 0;
  const counted = (message: ReportedUsage) => {
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
  for (const service of services) {
    const db = client.db(databaseOf(service));
    const collections = await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
    // A service that waits for the end of an earlier restore goes on waiting.
    for (const { name } of collections) if (name !== RESTORING) await db.dropCollection(name);
  }
}
