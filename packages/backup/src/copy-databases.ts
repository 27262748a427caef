import type { DatabaseService } from '@brand-data/contracts';
import { Fault, RESTORING } from '@brand-data/runtime';
import { type ClientSession, type Db, type MongoClient, MongoServerError, type Timestamp } from 'mongodb';
import { writeCopied } from './copied-file.ts';
import type { CopiedCollection, CopiedDatabase } from './manifest.ts';

/** A database and where its copy goes. */
export interface SourceDatabase {
  service: DatabaseService;
  /** The name in MongoDB. */
  name: string;
}

/** Called for each copied document. */
export type OnDocument = (collection: string) => void;

const DOCUMENTS_AT_ONCE = 1_000;
const SNAPSHOT_TOO_OLD = 239;
const SNAPSHOT_UNAVAILABLE = 246;

/**
 * Copies databases as of one moment, while they are in use. MongoDB keeps a moment for minSnapshotHistoryWindowInSeconds, by
 * default five minutes. Throws Fault `failed_precondition` if the copy takes longer.
 */
export async function copyDatabases(
  client: MongoClient,
  sources: readonly SourceDatabase[],
  { folder, signal, onDocument }: { folder: string; signal: AbortSignal; onDocument: OnDocument },
): Promise<CopiedDatabase[]> {
  const session = client.startSession({ snapshot: true });
  try {
    const copied = [];
    for (const source of sources)
      copied.push({ ...source, collections: await copyCollections(client.db(source.name), source, session) });
    const moment = momentOf(session);
    return copied.map(({ service, collections }) => ({ service, ...moment, collections }));
  } catch (error) {
    throw tooOld(error) ?? error;
  } finally {
    await session.endSession();
  }

  async function copyCollections(
    db: Db,
    { service }: SourceDatabase,
    session: ClientSession,
  ): Promise<CopiedCollection[]> {
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
  if (!(error instanceof MongoServerError)) return undefined;
  if (error.code === SNAPSHOT_UNAVAILABLE)
    return new Fault('unavailable', 'MongoDB has no common moment of all collections yet: try again', {
      cause: error,
    });
  if (error.code !== SNAPSHOT_TOO_OLD) return undefined;
  return new Fault(
    'failed_precondition',
    'MongoDB does not keep the moment of the copy for as long as the copy takes: raise minSnapshotHistoryWindowInSeconds on every member',
    { cause: error },
  );
}
