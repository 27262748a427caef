import { isDuplicateKey, type Mongo, namesOnlyDuplicates } from '@brand-data/runtime';
import {
  type AnyBulkWriteOperation,
  type ClientSession,
  type Collection,
  MongoErrorLabel,
  MongoServerError,
  type Timestamp,
} from 'mongodb';
import pLimit from 'p-limit';
import type { Plan, Write } from '../linkage/plan.ts';
import type { CatalogDoc } from '../records/catalog-doc.ts';
import { type ChangeDoc, enterChanges, type RunName } from './journal.ts';

const WRITE_CONFLICT = 112;
const CONCURRENT_TRANSACTIONS = 8;
const COMMIT_MS = 5_000;

/** Where an import run enters what it does to source records. */
export interface RunJournal {
  readonly changes: Collection<ChangeDoc>;
  readonly run: RunName;
  readonly isUndo: boolean;
}

export interface Written {
  /** False if a write was not made, because another writer had changed its document, or if it is not known whether it was. */
  readonly isDone: boolean;
  /** The operation times of the writes: a session that is advanced to these times sees them. */
  readonly times: readonly Timestamp[];
}

/**
 * Makes the writes, those of one inner list in one transaction. A run's entries come before a single write, because one that tells
 * of nothing does no harm, and into the transaction of several, because only these move records between companies.
 * If another writer has changed some documents, possibly only some of the writes are made.
 */
export async function writeGroups(
  { client }: Mongo,
  companies: Collection<CatalogDoc>,
  { writes: groups, changes }: Pick<Plan, 'writes' | 'changes'>,
  journal?: RunJournal,
): Promise<Written> {
  const { single = [], several = [] } = Object.groupBy(groups, ({ length }) =>
    length === 1 ? 'single' : 'several',
  );
  const enter = async (of: readonly (readonly Write[])[], session?: ClientSession) => {
    if (journal === undefined) return;
    const told = of.flatMap((writes) => changes.get(writes) ?? []);
    await enterChanges(journal.changes, journal.run, told, { isUndo: journal.isUndo, session });
  };
  const inSession = (write: (session: ClientSession) => Promise<boolean>) =>
    client.withSession(async (session) => ({ isDone: await write(session), session }));
  const limit = pLimit(CONCURRENT_TRANSACTIONS);
  await enter(single);
  const settled = await Promise.all([
    inSession((session) => writeEach(companies, single.flat(), session)),
    ...several.map((writes) =>
      limit(() =>
        inSession((session) =>
          writeInTransaction(companies, writes, session, () => enter([writes], session)),
        ),
      ),
    ),
  ]);
  return {
    isDone: settled.every(({ isDone }) => isDone),
    times: settled.flatMap(({ session }) => session.operationTime ?? []),
  };
}

async function writeEach(
  companies: Collection<CatalogDoc>,
  writes: readonly Write[],
  session: ClientSession,
): Promise<boolean> {
  if (writes.length === 0) return true;
  try {
    const { insertedCount, matchedCount, deletedCount } = await companies.bulkWrite(writes.map(operationOf), {
      ordered: false,
      session,
    });
    return insertedCount + matchedCount + deletedCount === writes.length;
  } catch (error) {
    if (namesOnlyDuplicates(error)) return false;
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

/** Deletes the old documents before it inserts the new ones, because no two documents may have the same source record. */
async function writeInTransaction(
  companies: Collection<CatalogDoc>,
  writes: readonly Write[],
  session: ClientSession,
  enter: () => Promise<void>,
): Promise<boolean> {
  const old = writes.flatMap((write) => ('before' in write ? write.before : []));
  const documents = writes.flatMap((write) => ('doc' in write ? write.doc : []));
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
    await enter();
    await session.commitTransaction();
    return true;
  } catch (error) {
    if (isLostRace(error)) return false;
    throw error;
  } finally {
    if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
  }
}

/** Checks whether another writer changed the documents, or the commit's outcome is unknown. Then the catalogue plans again. */
function isLostRace(error: unknown): boolean {
  return (
    isDuplicateKey(error) ||
    (error instanceof MongoServerError &&
      (error.code === WRITE_CONFLICT ||
        error.hasErrorLabel(MongoErrorLabel.TransientTransactionError) ||
        error.hasErrorLabel(MongoErrorLabel.UnknownTransactionCommitResult)))
  );
}
