import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { DATABASE_SERVICES, type DatabaseService } from '@brand-data/contracts';
import { auditPublisher, Fault, RESTORING, VERSION } from '@brand-data/runtime';
import { jetstream } from '@nats-io/jetstream';
import { type ClientSession, type Db, type MongoClient, MongoServerError, type Timestamp } from 'mongodb';
import {
  type CopiedCollection,
  type CopiedDatabase,
  type Manifest,
  writeCopied,
  writeManifest,
} from './copied-files.ts';
import { copyStream, usagePositions } from './nats-messages.ts';
import { type CopyOptions, type OpenNats, openMongo, openNats } from './servers.ts';

interface BackupOptions extends CopyOptions {
  /** A folder that does not exist yet, or is empty. */
  folder: string;
  onProgress(what: string, count: number): void;
}

/**
 * The databases that are copied as of one moment. Accounts and metering belong together, because ledgers name revisions of plans.
 * Records and images refer to nothing that changes: an image's path is the hash of its content.
 */
const AS_OF_ONE_MOMENT: readonly (readonly DatabaseService[])[] = [
  ['accounts', 'metering'],
  ['catalog'],
  ['images'],
];

const DOCUMENTS_AT_ONCE = 1_000;
const SNAPSHOT_TOO_OLD = 239;
const SNAPSHOT_UNAVAILABLE = 246;
/** Just after an election, MongoDB may show the state of up to a second ago. */
const LONGEST_STALE_MS = 2_000;

/**
 * Copies the databases, and the usage that metering has not applied, into a folder while the services run. Uses little memory,
 * however large the databases are. If it fails or is stopped, it removes what it has written. `isInTrail`: accounts
 * learns of the copy. Absent: the copy lacks metering, so there is no message of it.
 */
export async function backup(
  options: BackupOptions,
): Promise<{ manifest: Manifest; isInTrail: boolean | undefined }> {
  const { servers, folder, services, signal } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new Fault('failed_precondition', `${folder} is not empty: name another folder`);
  const startedAt = new Date().toISOString();
  try {
    await using stack = new AsyncDisposableStack();
    const client = stack.adopt(await openMongo(servers), (open) => open.close());
    const nats = services.includes('metering')
      ? stack.adopt(await openNats(servers), ({ connection }) => connection.close())
      : undefined;
    // Everything up to these positions is in the databases, because they are copied later.
    const positions = nats === undefined ? [] : await usagePositions(nats);
    if (positions.length > 0) await delay(LONGEST_STALE_MS, undefined, { signal });
    const databases = await copyAll(client, options);
    const streams = [];
    for (const position of positions)
      streams.push(await copyStream(nats as OpenNats, position, { folder, signal }));
    const { version: mongodbVersion } = await client.db('admin').command({ buildInfo: 1 });
    const times = { startedAt, endedAt: new Date().toISOString() };
    const manifest: Manifest = { format: 1, version: VERSION, mongodbVersion, ...times, databases, streams };
    await writeManifest(folder, manifest);
    return { manifest, isInTrail: nats && (await tellTrail(nats, services)) };
  } catch (error) {
    for (const name of await readdir(folder)) await rm(`${folder}/${name}`, { recursive: true, force: true });
    throw error;
  }
}

/** Leaves a message for the trail of changes, from which accounts knows how old the newest copy is. Resolves to whether NATS took it. */
async function tellTrail({ connection }: OpenNats, services: readonly DatabaseService[]): Promise<boolean> {
  const js = jetstream(connection);
  const id = randomUUID();
  // The message stands for those who have the databases' users, like that of a restore.
  const call = { operator: { name: 'backup', role: 'databases', credentialId: '' }, from: '', requestId: id };
  const details = { services: services.join(' ') };
  return auditPublisher('metering', (_, ...message) => js.publish(...message))({
    entry: id,
    part: id,
    atMs: Date.now(),
    method: 'Backup',
    call,
    about: services,
    details,
    counts: { calls: 1, done: 1 },
  }).then(
    () => true,
    () => false,
  );
}

async function copyAll(client: MongoClient, options: BackupOptions): Promise<CopiedDatabase[]> {
  let documents = 0;
  const onDocument = (collection: string) => options.onProgress(collection, ++documents);
  const copied: CopiedDatabase[] = [];
  for (const group of AS_OF_ONE_MOMENT) {
    const services = group.filter((service) => options.services.includes(service));
    if (services.length > 0) copied.push(...(await copyDatabases(client, services, options, onDocument)));
  }
  return DATABASE_SERVICES.flatMap((service) => copied.filter((database) => database.service === service));
}

/**
 * Copies databases as of one moment, while they are in use. MongoDB keeps a moment for minSnapshotHistoryWindowInSeconds, by
 * default five minutes. Throws Fault `failed_precondition` if the copy takes longer.
 */
async function copyDatabases(
  client: MongoClient,
  services: readonly DatabaseService[],
  { databaseOf, folder, signal }: BackupOptions,
  onDocument: (collection: string) => void,
): Promise<CopiedDatabase[]> {
  const session = client.startSession({ snapshot: true });
  try {
    const copied = [];
    for (const service of services)
      copied.push({ service, collections: await copyCollections(client.db(databaseOf(service)), service) });
    const moment = momentOf(session);
    return copied.map(({ service, collections }) => ({ service, ...moment, collections }));
  } catch (error) {
    throw tooOld(error) ?? error;
  } finally {
    await session.endSession();
  }

  async function copyCollections(db: Db, service: DatabaseService): Promise<CopiedCollection[]> {
    const copied: CopiedCollection[] = [];
    const names = (await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray())
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('system.'))
      .toSorted();
    if (names.includes(RESTORING))
      throw new Fault('failed_precondition', `the database ${db.databaseName} is being restored`);
    for (const name of names) {
      // A snapshot begins with the session's first read, and lists of indexes are not part of it.
      const documents = db
        .collection(name)
        .find({}, { session, raw: true, readConcern: 'snapshot', batchSize: DOCUMENTS_AT_ONCE });
      const parts = async function* () {
        for await (const document of documents) {
          yield document as unknown as Buffer;
          onDocument(`${service}/${name}`);
        }
      };
      const file = await writeCopied(folder, `${service}/${name}.bson.gz`, parts(), signal);
      copied.push({ name, ...file, indexes: await indexesOf(db, name) });
    }
    return copied;
  }
}

async function indexesOf(db: Db, collection: string): Promise<Record<string, unknown>[]> {
  const indexes = await db.collection(collection).listIndexes().toArray();
  return indexes.filter(({ name }) => name !== '_id_').map(({ v, ns, ...index }) => index);
}

function momentOf(session: ClientSession): Pick<CopiedDatabase, 'at' | 'clusterTime'> {
  // The driver keeps the moment of a snapshot's first read here.
  const time = (session as unknown as { snapshotTime?: Timestamp }).snapshotTime;
  if (time === undefined)
    throw new Fault('failed_precondition', 'there is nothing to copy: the databases are empty');
  const seconds = time.getHighBitsUnsigned();
  return {
    at: new Date(seconds * 1_000).toISOString(),
    clusterTime: `${seconds}.${time.getLowBitsUnsigned()}`,
  };
}

function tooOld(error: unknown): Fault | undefined {
  const code = error instanceof MongoServerError ? error.code : undefined;
  if (code === SNAPSHOT_UNAVAILABLE) {
    const detail = 'MongoDB has no common moment of all collections yet: try again';
    return new Fault('unavailable', detail, { cause: error });
  }
  if (code !== SNAPSHOT_TOO_OLD) return undefined;
  const detail =
    'MongoDB does not keep the moment of the copy for as long as the copy takes: raise minSnapshotHistoryWindowInSeconds on every member';
  return new Fault('failed_precondition', detail, { cause: error });
}
