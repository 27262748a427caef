import { ConfigError } from './config.ts';
import type { Mongo } from './mongo.ts';
import { retryUntilStopped } from './retry.ts';
import type { Service } from './service.ts';
import { VERSION } from './version.ts';

/**
 * A change of the documents that a database has. It must be idempotent, as several replicas may run it at the same moment, and as it
 * runs again from its beginning if a process ended in the middle. So each of its writes selects only documents that still have the
 * old form.
 *
 * Replicas of the version before run meanwhile. They must be able to read what the migration writes, or `readableFrom` refuses their
 * start. A change that they cannot read takes two releases: the first reads both forms and still writes the old one, and the second
 * migrates.
 */
export interface Migration {
  /** What it does, for the log. */
  what: string;
  /** The first schema version whose release can read documents of the new form. */
  readableFrom: number;
  run(mongo: Mongo): Promise<void>;
}

/** The only document of the collection `schema`. */
interface SchemaDoc {
  _id: 'schema';
  version: number;
  /** A release with an older schema version cannot use the database. */
  readableFrom: number;
  /** The release that brought the database to `version`. */
  release: string;
  at: Date;
}

/** The schema version of a database before its first migration. */
const FIRST = 1;

/**
 * Brings the database to this release's schema, before the service uses it. Its version is 1 and one more for each migration. Runs the
 * migrations that are missing, in their order, and notes each when it is done. If the database is newer, this release may use it if
 * the newer release says that it can. Otherwise throws ConfigError.
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

  const note = async (version: number): Promise<void> => {
    const done = migrations.slice(0, version - FIRST);
    const readableFrom = Math.max(FIRST, ...done.map((each) => each.readableFrom));
    const set = { version, readableFrom, release: VERSION, at: new Date() };
    // If another replica has noted it, the document does not match, and inserting a second one fails.
    await schemas
      .updateOne({ _id: 'schema', version: { $lt: version } }, { $set: set }, { upsert: true })
      .catch((error: { code?: number }) => {
        if (error.code !== DUPLICATE_KEY) throw error;
      });
  };

  const migrate = async (): Promise<string | undefined> => {
    const stored = await read();
    if (stored && stored.version > own) return problemOfNewer(stored, own);
    if (!stored) await note(FIRST);
    for (const [index, { what, run }] of migrations.entries()) {
      const version = FIRST + 1 + index;
      if (version <= (stored?.version ?? FIRST)) continue;
      service.log.info({ what, version }, 'a migration begins');
      await run(mongo);
      await note(version);
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
    return {
      state: 'warning',
      detail,
      advice: 'finish the upgrade or the rollback, so that all replicas have the same release',
    };
  });
}

const DUPLICATE_KEY = 11_000;

function problemOfNewer({ version, readableFrom, release }: SchemaDoc, own: number): string | undefined {
  if (own >= readableFrom) return undefined;
  return `the database has schema version ${version}, which release ${release} has made; this release (${VERSION}) has ${own} and cannot use it: run release ${release} or a newer one, or restore a copy from before that upgrade`;
}
