import type { Mongo } from '@brand-data/runtime';
import {
  type AnyBulkWriteOperation,
  type Collection,
  MongoBulkWriteError,
  MongoErrorLabel,
  MongoServerError,
} from 'mongodb';
import type { CatalogDoc } from './catalog-doc.ts';
import type { Write } from './plan.ts';

const DUPLICATE_KEY = 11_000;
const WRITE_CONFLICT = 112;
const TRANSACTIONS_AT_ONCE = 8;
const COMMIT_MS = 5_000;

/**
 * Makes the writes, those of an inner list together or not at all. Whether all met the documents that they were planned
 * for; if not, some may be made and some not.
 */
export async function writeGroups(
  { client }: Mongo,
  companies: Collection<CatalogDoc>,
  groups: readonly (readonly Write[])[],
): Promise<boolean> {
  const alone = groups.flatMap((writes) => (writes.length === 1 ? writes : []));
  const together = groups.filter((writes) => writes.length > 1).values();
  const settled = await Promise.all([
    writeEach(companies, alone),
    ...Array.from({ length: TRANSACTIONS_AT_ONCE }, async () => {
      let all = true;
      for (const writes of together) all = (await writeTogether(client, companies, writes)) && all;
      return all;
    }),
  ]);
  return settled.every(Boolean);
}

async function writeEach(companies: Collection<CatalogDoc>, writes: readonly Write[]): Promise<boolean> {
  if (writes.length === 0) return true;
  try {
    const { insertedCount, matchedCount, deletedCount } = await companies.bulkWrite(writes.map(operationOf), {
      ordered: false,
    });
    return insertedCount + matchedCount + deletedCount === writes.length;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    if ([error.writeErrors].flat().every(({ code }) => code === DUPLICATE_KEY)) return false;
    throw error;
  }
}

function operationOf(write: Write): AnyBulkWriteOperation<CatalogDoc> {
  if (write.kind === 'insert') return { insertOne: { document: write.doc } };
  const filter = { _id: write.before._id, revision: write.before.revision };
  if (write.kind === 'delete') return { deleteOne: { filter } };
  if (write.kind === 'replace') return { replaceOne: { filter, replacement: write.doc } };
  const { contributions, revision } = write.doc;
  return { updateOne: { filter, update: { $set: { contributions, revision } } } };
}

/** All old documents go before any new one comes: a contribution is never in two at once. */
async function writeTogether(
  client: Mongo['client'],
  companies: Collection<CatalogDoc>,
  writes: readonly Write[],
): Promise<boolean> {
  const old = writes.flatMap((write) => ('before' in write ? write.before : []));
  const documents = writes.flatMap((write) => ('doc' in write ? write.doc : []));
  const session = client.startSession();
  try {
    session.startTransaction({ maxCommitTimeMS: COMMIT_MS });
    if (old.length > 0) {
      const { deletedCount } = await companies.bulkWrite(
        old.map(({ _id, revision }) => ({ deleteOne: { filter: { _id, revision } } })),
        { session },
      );
      if (deletedCount !== old.length) return false;
    }
    if (documents.length > 0) await companies.insertMany(documents, { session });
    await session.commitTransaction();
    return true;
  } catch (error) {
    if (isLostRace(error)) return false;
    throw error;
  } finally {
    if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
    await session.endSession();
  }
}

/** Others wrote the same documents, or it is not known whether the commit was done: reading again tells. */
function isLostRace(error: unknown): boolean {
  return (
    error instanceof MongoServerError &&
    (error.code === DUPLICATE_KEY ||
      error.code === WRITE_CONFLICT ||
      error.hasErrorLabel(MongoErrorLabel.TransientTransactionError) ||
      error.hasErrorLabel(MongoErrorLabel.UnknownTransactionCommitResult))
  );
}
