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
import { type Manifest, readManifest, verifyCopied } from './copied-files.ts';
import {
  copiedMessages,
  isRunning,
  readAccountNotices,
  streamUsage,
  usagePositions,
} from './nats-messages.ts';
import { restoreDatabase } from './restore-database.ts';
import { type CopyOptions, type OpenNats, openMongo, openNats } from './servers.ts';

export interface RestoreOptions extends CopyOptions {
  /** The admin ports of the services that end a restore. They reject with Fault `unavailable` while the service does not run. */
  restored: {
    finishRestore(request: FinishRestoreRequest): Promise<FinishRestoreResponse>;
    replayUsage(requests: AsyncIterable<ReplayUsageRequest>): Promise<ReplayUsageResponse>;
  };
  /** Whether to remove what the databases hold. */
  replace: boolean;
  /** When the last replica of metering ended. Since then gateways have got no grants. */
  meteringStoppedAt: Date;
  /** Whether all gateways have ended, so that no grant can be used any more. */
  gatewaysStopped: boolean;
  /** Whether to revoke the keys that were changed after the copy. Some of them may have been revoked. */
  revokeChangedKeys: boolean;
  onProgress(what: string, count?: number): void;
  /** Called before the first change of a database. */
  onWriting(): void;
  /** Called when the databases are restored and the services have to be started. */
  onRestored(): void;
}

/** The facts that a restore knows about usage that it could not read. */
interface UnreadUsage {
  /** The streams that NATS has lost since the copy. Usage after the end of the copy was only there. */
  gone: string[];
  /** Messages of a usage stream that were deleted before they could be read. */
  lost: { stream: string; messages: number }[];
}

export interface RestoreResult {
  manifest: Manifest;
  documents: number;
  /** Absent: metering was not restored. */
  usage?: ReplayUsageResponse & UnreadUsage;
  /** Absent: accounts was not restored. `complete`: these are all changes since the copy. */
  changes?: FinishRestoreResponse & { complete: boolean; revoked: boolean };
}

const SERVICE_ENDS_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 500;
/** How much usage one request carries. A message of a stream is much smaller than this. */
const BATCH = { items: 500, bytes: 1024 ** 2, bytesOf: ({ data }: ReportedUsage) => data.length };
/** Grants that metering gave out longer ago than this have ended. */
const GRANTS_END_WITHIN_MS = endsWithinMs(LONGEST_TTL_MS);

/** Accounts comes last. If the restore breaks off, no token is valid, so no call is answered from half a restore. */
const ORDER: readonly DatabaseService[] = ['images', 'catalog', 'metering', 'accounts'];
/** The services that wait for the end of a restore while their database has a mark. */
const MARKED = ['metering', 'accounts'] as const;

/**
 * Restores a copy in three steps. First verifies all of the copy. Then writes the databases while the services are stopped. Then
 * waits until accounts and metering run, and lets them decide what is revoked and billed. Until they have decided, they answer
 * nothing else. If a restore fails or is stopped after the check of the copy, it has to be run again with `replace`, with the
 * services stopped. Gateways may run: their grants end before metering bills what they have reported.
 */
export async function restore(options: RestoreOptions): Promise<RestoreResult> {
  const { servers, folder, services, signal, onProgress, databaseOf } = options;
  const manifest = await readManifest(folder);
  const databases = ORDER.filter((service) => services.includes(service)).map((service) => {
    const copied = manifest.databases.find((database) => database.service === service);
    if (!copied) throw new Fault('failed_precondition', `the copy does not include ${service}`);
    return copied;
  });
  for (const file of databases.flatMap(({ collections }) => collections)) {
    onProgress(`checking ${file.file}`);
    await verifyCopied(folder, file, signal);
  }
  for (const stream of manifest.streams) await verifyCopied(folder, stream, signal);

  await using stack = new AsyncDisposableStack();
  const client = stack.adopt(await openMongo(servers), (open) => open.close());
  const marked = MARKED.filter((service) => services.includes(service));
  const nats =
    marked.length > 0
      ? stack.adopt(await openNats(servers), ({ connection }) => connection.close())
      : undefined;
  for (const service of nats ? marked : []) await untilEnded(nats as OpenNats, service, signal);
  const filled = await collectionsOf(client, options);
  options.onWriting();
  const restoreIds = new Map<DatabaseService, string>();
  for (const service of marked) restoreIds.set(service, await markRestoring(client.db(databaseOf(service))));
  // A service that waits for the end of an earlier restore goes on waiting.
  for (const { db, name } of filled) if (name !== RESTORING) await db.dropCollection(name);

  let documents = 0;
  for (const copied of databases) {
    const { service } = copied;
    const onDocument = (collection: string) => onProgress(`restoring ${service}/${collection}`, ++documents);
    await restoreDatabase(client.db(databaseOf(service)), folder, copied, { signal, onDocument });
    if (service === 'metering') await untilGrantsEnd(options);
  }
  if (marked.length > 0) options.onRestored();
  const [accountsId, meteringId] = [restoreIds.get('accounts'), restoreIds.get('metering')];
  // Metering comes last: until it has billed all usage, gateways get no grant and so answer no counted call.
  const changes =
    nats &&
    accountsId &&
    (await untilRuns('accounts', () => finishAccounts(nats, accountsId, manifest, options), options));
  const usage =
    nats &&
    meteringId &&
    (await untilRuns('metering', () => replayUsage(nats, meteringId, manifest, options), options));
  return { manifest, documents, ...(usage && { usage }), ...(changes && { changes }) };
}

async function finishAccounts(
  nats: OpenNats,
  restoreId: string,
  { databases, endedAt: copyEndedAt }: Manifest,
  options: RestoreOptions,
): Promise<NonNullable<RestoreResult['changes']>> {
  const { revokeChangedKeys, services } = options;
  const copiedAt = new Date(databases.find(({ service }) => service === 'accounts')?.at ?? copyEndedAt);
  const { complete, notices: changes } = await readAccountNotices(nats, copiedAt, options.signal);
  const request = { restoreId, changes, revokeChangedKeys, services: [...services], copyEndedAt };
  return { complete, ...(await options.restored.finishRestore(request)), revoked: revokeChangedKeys };
}

async function replayUsage(
  nats: OpenNats,
  restoreId: string,
  manifest: Manifest,
  options: RestoreOptions,
): Promise<NonNullable<RestoreResult['usage']>> {
  const unread: UnreadUsage = { gone: [], lost: [] };
  const messages = allMessages(nats, manifest, options, unread);
  return { ...(await options.restored.replayUsage(requestsOf(restoreId, messages))), ...unread };
}

/** Repeats the call until the service answers. */
async function untilRuns<Answer>(
  service: DatabaseService,
  call: () => Promise<Answer>,
  { signal, onProgress }: RestoreOptions,
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
    const { appliedUpTo = 0, count: copiedCount = 0 } = same ?? {};
    // The messages of a copy follow each other without a gap.
    const missing = Math.min(firstSequence - 1, lastSequence) - (appliedUpTo + copiedCount);
    if (missing > 0) lost.push({ stream: name, messages: missing });
    if (firstSequence > lastSequence) continue;
    const range = { fromSequence: appliedUpTo + 1, toSequence: lastSequence };
    for await (const message of streamUsage(nats, name, range, signal)) yield counted(message);
  }
}

/** Throws Fault `failed_precondition` if a replica goes on. Looks twice, because a replica pauses between two requests to NATS. */
async function untilEnded(
  nats: OpenNats,
  service: (typeof MARKED)[number],
  signal: AbortSignal,
): Promise<void> {
  const began = performance.now();
  for (let idle = 0; ; ) {
    idle = (await isRunning(nats, service)) ? 0 : idle + 1;
    if (idle === 2) return;
    if (idle === 0 && performance.now() - began > SERVICE_ENDS_WITHIN_MS)
      throw new Fault(
        'failed_precondition',
        `${service} runs: stop accounts, catalog, metering and images first`,
      );
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** Until then, a gateway may answer calls with a grant that the restored ledgers do not know. */
async function untilGrantsEnd(options: RestoreOptions): Promise<void> {
  const { gatewaysStopped, meteringStoppedAt, signal, onProgress } = options;
  if (gatewaysStopped) return;
  const endMs = meteringStoppedAt.getTime() + GRANTS_END_WITHIN_MS;
  for (let leftMs = endMs - Date.now(); leftMs > 0; leftMs = endMs - Date.now()) {
    onProgress(`waiting ${Math.ceil(leftMs / 1_000)} s for the grants of gateways to end`);
    await delay(Math.min(leftMs, LOOK_EVERY_MS), undefined, { signal });
  }
}

/** Returns what the databases hold. Throws Fault `failed_precondition` if they hold anything that may not be replaced. */
async function collectionsOf(client: MongoClient, { services, databaseOf, replace }: RestoreOptions) {
  const found = [];
  for (const service of services) {
    const db = client.db(databaseOf(service));
    const collections = await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
    if (collections.length > 0 && !replace)
      throw new Fault(
        'failed_precondition',
        `the database ${db.databaseName} is not empty: --replace removes what it holds`,
      );
    found.push(...collections.map(({ name }) => ({ db, name })));
  }
  return found;
}
