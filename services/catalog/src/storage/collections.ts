import type { Mongo } from '@brand-data/runtime';
import type { Collection, Filter } from 'mongodb';
import type { CatalogDoc } from '../records/catalog-doc.ts';

/** A source that has ever put a record. */
export interface SourceDoc {
  /** Its name. */
  _id: string;
  /** The newest import that has ended. */
  newestImport?: string;
}

/** The companies, and all sources that ever put a record. */
export interface Collections {
  companies: Collection<CatalogDoc>;
  sources: Collection<SourceDoc>;
}

/** Creates missing indexes. Any number of replicas may use one database. */
export async function openCollections({ db }: Mongo): Promise<Collections> {
  const companies = db.collection<CatalogDoc>('brands', { promoteBuffers: true });
  await companies.createIndexes([
    { key: { keys: 1, rank: -1, _id: 1 }, name: 'keys' },
    { key: { 'contributions.source': 1, 'contributions.id': 1 }, name: 'contributions', unique: true },
    { key: { 'contributions.source': 1, 'contributions.importId': 1 }, name: 'imports' },
  ]);
  return { companies, sources: db.collection('sources') };
}

/** Returns the filter that finds the documents with a source record that has these fields. */
export function holdersOf(fields: Filter<CatalogDoc['contributions'][number]>): Filter<CatalogDoc> {
  return { contributions: { $elemMatch: fields } } as Filter<CatalogDoc>;
}
