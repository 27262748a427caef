import { OPERATOR } from '@brand-data/records';
import { Fault, isDuplicateKey } from '@brand-data/runtime';
import { type CatalogDoc, hasSameContent } from '../records/catalog-doc.ts';
import { changeKeysOf } from '../records/index-keys.ts';
import type { Announce } from './announcer.ts';
import type { Collections } from './collections.ts';

const READ_MS = 10_000;

interface RestoreOptions {
  /** The documents are all of the export whose ids come after this one. */
  after: string;
  /** Whether the documents are also the last of the export. */
  isLast: boolean;
  /** By source. */
  newestImports: ReadonlyMap<string, string>;
  dryRun: boolean;
}

export type Restore = ReturnType<typeof restorer>;

/**
 * Returns a function that stores documents of an export, which are in the order of their ids. No plan links them with other
 * documents. The function therefore rejects with Fault `failed_precondition` if the catalogue has any other document in the range
 * of ids from `after` to the last of them. Idempotent: documents that are stored already are left as they are.
 */
export function restorer({ companies, sources }: Collections, announce: Announce) {
  return async (
    docs: readonly CatalogDoc[],
    { after, isLast, newestImports, dryRun }: RestoreOptions,
  ): Promise<{ restored: number; unchanged: number }> => {
    const last = docs.at(-1)?._id;
    if (last === undefined && !isLast) return { restored: 0, unchanged: 0 };
    const range = { $gt: after, ...(!isLast && last !== undefined && { $lte: last }) };
    const limit = docs.length + 1;
    const options = { sort: { _id: 1 }, limit, maxTimeMS: READ_MS } as const;
    const found = await companies.find({ _id: range }, options).toArray();
    const given = new Map(docs.map((doc) => [doc._id, doc]));
    for (const stored of found) {
      const doc = given.get(stored._id);
      if (doc === undefined || !hasSameContent(stored, doc)) throw hasOther(stored, doc);
      given.delete(stored._id);
    }
    const missing = [...given.values()];
    const outcome = { restored: missing.length, unchanged: found.length };
    if (dryRun) return outcome;
    const names = new Set(docs.flatMap(({ contributions }) => contributions.map(({ source }) => source)));
    for (const source of names) {
      const newestImport = source === OPERATOR ? undefined : newestImports.get(source);
      const update = { $setOnInsert: { _id: source }, ...(newestImport && { $max: { newestImport } }) };
      await sources.updateOne({ _id: source }, update, { upsert: true });
    }
    if (missing.length > 0) {
      const keys = changeKeysOf(new Set(missing.flatMap((doc) => doc.keys)));
      await announce(keys, () => insert(missing));
    }
    return outcome;
  };

  async function insert(docs: readonly CatalogDoc[]): Promise<void> {
    try {
      await companies.insertMany(docs, { ordered: false });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      throw new Fault(
        'failed_precondition',
        'a source record of the export is already in another company of the catalogue: restore into an empty catalogue, while no import runs',
      );
    }
  }
}

function hasOther({ _id }: CatalogDoc, doc: CatalogDoc | undefined): Fault {
  const what = doc === undefined ? 'is not in the export' : 'differs from the one in the export';
  return new Fault(
    'failed_precondition',
    `the catalogue has the record "${_id}", which ${what}: restore into an empty catalogue`,
  );
}
