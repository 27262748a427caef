import type { Mongo } from '@brand-data/runtime';
import type { ClientSession, Collection, Filter } from 'mongodb';
import type { CatalogDoc } from '../records/catalog-doc.ts';
import type { SourceAges } from '../records/fact-ages.ts';
import { statesListings } from '../records/precedence.ts';
import type { RunDoc } from './import-runs.ts';
import type { ChangeDoc } from './journal.ts';

const READ_MS = 10_000;

/** A source that has ever put a record. */
export interface SourceDoc {
  _id: string;
  /** The newest import that has ended. */
  newestImport?: string;
  /** How old its facts were at `measuredAt`. Absent until a replica has measured that. */
  ages?: SourceAges;
  measuredAt?: Date;
}

/** The companies, all sources that ever put a record, import runs, and what each run has done to source records. */
export interface Collections {
  companies: Collection<CatalogDoc>;
  sources: Collection<SourceDoc>;
  imports: Collection<RunDoc>;
  changes: Collection<ChangeDoc>;
}

/**
 * Creates missing indexes. Any number of replicas may use one database. The index `keys` of 0.1.0 stays, because its replicas still run
 * during the upgrade, and after a rollback. The version after this one can remove it.
 */
export async function openCollections({ db }: Mongo): Promise<Collections> {
  const companies = db.collection<CatalogDoc>('brands', { promoteBuffers: true });
  await companies.createIndexes([
    { key: { keys: 1, rank: -1 }, name: 'ranked_keys' },
    { key: { search: 1, _id: 1 }, name: 'search' },
    { key: { 'contributions.source': 1, 'contributions.id': 1 }, name: 'contributions', unique: true },
    { key: { 'contributions.source': 1, 'contributions.importId': 1 }, name: 'imports' },
  ]);
  return {
    companies,
    sources: db.collection('sources'),
    imports: db.collection('imports'),
    changes: db.collection('import_changes', { promoteBuffers: true }),
  };
}

/** Returns the filter that finds the documents with a source record that has these fields. */
export function holdersOf(fields: Filter<CatalogDoc['contributions'][number]>): Filter<CatalogDoc> {
  return { contributions: { $elemMatch: fields } } as Filter<CatalogDoc>;
}

/** The sources that the catalogue knows. A process remembers them, because sources are never deleted. */
export class KnownSources {
  readonly #sources: Collection<SourceDoc>;
  readonly #known = new Set<string>();

  constructor(sources: Collection<SourceDoc>) {
    this.#sources = sources;
  }

  /** Stores a source's name before its first record. */
  async register(source: string): Promise<void> {
    if (this.#known.has(source)) return;
    await this.#sources.updateOne({ _id: source }, { $setOnInsert: { _id: source } }, { upsert: true });
    this.#known.add(source);
  }

  /**
   * Checks whether the catalogue knows no source but this one, and its records are never linked with one another. Returns false if
   * `source` is undefined.
   */
  async isOnly(source: string | undefined, session?: ClientSession): Promise<boolean> {
    if (source === undefined || statesListings(source)) return false;
    if ([...this.#known].some((other) => other !== source)) return false;
    const other = await this.#sources.findOne(
      { _id: { $ne: source } },
      { maxTimeMS: READ_MS, ...(session && { session }) },
    );
    if (other !== null) this.#known.add(other._id);
    return other === null;
  }
}
