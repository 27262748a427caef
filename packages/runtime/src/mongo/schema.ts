import { VERSION } from '../base/version.ts';
import { ConfigError } from '../config/config.ts';
import { retryUntilStopped, type Service } from '../service/service.ts';
import type { Mongo } from './connect.ts';

/**
 * A change of the stored documents of a database. It must be idempotent, because several replicas may run it at the same moment,
 * and because it starts again from the beginning if a process ended in the middle. Therefore each of its writes selects only
 * documents that still have the old form.
 *
 * Replicas of the earlier version run meanwhile. They must be able to read the documents that the migration writes, or
 * `readableFrom` refuses their start. A change that they cannot read takes two releases: the first reads both forms and still
 * writes the old one, and the second migrates.
 */
export interface Migration {
  /** A description of the migration, for the log. */
  what: string;
  /** The first schema version whose release can read documents of the new form. */
  readableFrom: number;
  run(mongo: Mongo): Promise<void>;
}

/** The only document of the collection `schema`. */
interface SchemaDoc {
  _id: 'schema';
  /** The number of the last migration that is done. */
  version: number;
  /** A release with an older schema version cannot use the database. It is raised before a migration writes its first document. */
  readableFrom: number;
  /** The release that last began or finished a migration. */
  release: string;
  at: Date;
}

/** The schema version of a database before its first migration. */
const FIRST = 1;

/**
 * Brings the database to this release's schema, before the service uses it. Its version is 1 and one more for each migration. Runs
 * the migrations that are missing, in their order, and notes each when it is done. Throws ConfigError if a newer release has begun a
 * migration and does not say that this release can read its documents.
 *
 * @param migrations of all releases so far. None may be changed, removed or moved once it is released
 */
export async function bringUpToDate(
  service: Pick<Service, 'log' | 'signal' | 'diagnosis'>,
  mongo: Mongo,
  migrations: readonly Migration[] = [],
): Promise<void> {
  const schemas = mongo.db.collection<SchemaDoc>('schema');
  const own = FIRST + migrations.length;
  const read = () => schemas.findOne({ _id: 'schema' });
  const noted = () => ({ release: VERSION, at: new Date() });

  // If another replica has noted the same, the document does not match.
  const raise = (field: 'readableFrom' | 'version', to: number) =>
    schemas.updateOne({ _id: 'schema', [field]: { $lt: to } }, { $set: { [field]: to, ...noted() } });

  const migrate = async (): Promise<string | undefined> => {
    const first = { version: FIRST, readableFrom: FIRST, ...noted() };
    await schemas.updateOne({ _id: 'schema' }, { $setOnInsert: first }, { upsert: true });
    const stored = await read();
    if (!stored) throw new Error('the schema document was deleted');
    if (own < stored.readableFrom) return problemOf(stored, own);
    for (const [index, migration] of migrations.entries()) {
      const version = FIRST + 1 + index;
      const { what, readableFrom } = migration;
      if (version <= stored.version) continue;
      service.log.info({ what, version }, 'a migration begins');
      await raise('readableFrom', readableFrom);
      await migration.run(mongo);
      await raise('version', version);
      service.log.info({ what, version }, 'a migration is done');
    }
    return undefined;
  };
  const problem = await retryUntilStopped('migrations', migrate, service);
  if (problem) throw new ConfigError(problem);

  service.diagnosis?.add('schema', async () => {
    const stored = await read();
    const detail = `version ${stored?.version ?? 'unknown'}, and this release has ${own}`;
    if (stored?.version === own) return { state: 'ok', detail };
    const advice = 'finish the upgrade or the rollback, so that all replicas have the same release';
    return { state: 'warning', detail, advice };
  });
}

function problemOf({ readableFrom, release }: SchemaDoc, own: number): string {
  return `release ${release} has changed the database so that a release needs schema version ${readableFrom}; this release (${VERSION}) has ${own} and cannot use it: run release ${release} or a newer one, or restore a copy from before that upgrade`;
}
