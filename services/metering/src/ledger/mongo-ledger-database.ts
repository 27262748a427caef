import type { UsageCell } from '@brand-data/contracts';
import type { Mongo } from '@brand-data/runtime';
import type { AnyBulkWriteOperation, Document, Filter, UpdateFilter, WriteError } from 'mongodb';
import {
  CHANGING_FIELDS,
  grantIdOf,
  type Ledger,
  type LedgerKey,
  ledgerIdOf,
  parseGrantId,
} from './ledger.ts';
import {
  asOfOneMoment,
  cellsFromCounts,
  countsAt,
  type DayDoc,
  expiryOf,
  type GrantCellsDoc,
  type InSnapshot,
  type LedgerDoc,
  ledgerCollections,
  unmetWrites,
  withLedgerDeadline,
} from './ledger-collections.ts';
import {
  type DayOfLedger,
  firstEndOf,
  type GrantCells,
  type LedgerChange,
  type LedgerDatabase,
  type OpenCursor,
  type OpenGrants,
  type OverdueGrant,
  openOf,
  overdueOf,
  type StoredLedger,
  type StoredMonth,
  type UseChange,
} from './ledger-database.ts';
import type { Breakdowns } from './ledger-usage.ts';

const LEDGERS_READ_AT_ONCE = 500;
const DUPLICATE_KEY = 11_000;
const PATH_NOT_VIABLE = 28;
const BAD_VALUE = 2;

/** Opens the ledgers in MongoDB, one document each, and creates the indexes. Every replica may do so at any time. */
export async function openMongoLedgerDatabase(mongo: Mongo): Promise<LedgerDatabase> {
  const database = new MongoLedgerDatabase(mongo);
  await database.createIndexes();
  return database;
}

class MongoLedgerDatabase implements LedgerDatabase {
  readonly #mongo: Mongo;
  readonly #stored: ReturnType<typeof ledgerCollections>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#stored = ledgerCollections(mongo.db);
  }

  async createIndexes(): Promise<void> {
    const { ledgers, grantCells, days } = this.#stored;
    await ledgers.createIndex({ accountId: 1, month: 1, _id: 1 });
    await ledgers.createIndex({ month: 1, accountId: 1, _id: 1 });
    await ledgers.createIndex(
      { overdueAtMs: 1, _id: 1 },
      { partialFilterExpression: { overdueAtMs: { $exists: true } } },
    );
    for (const collection of [grantCells, days]) await collection.createIndex({ ledgerId: 1 });
    for (const collection of [ledgers, grantCells, days])
      await collection.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  async readLedgers(ids: readonly string[]): Promise<StoredLedger[]> {
    const found = this.#stored.ledgers.find({ _id: { $in: [...ids] } }).toArray();
    return (await withLedgerDeadline(found)).map(ledgerFromDoc);
  }

  readWithBreakdowns(id: string): ReturnType<LedgerDatabase['readWithBreakdowns']> {
    return asOfOneMoment(this.#mongo, async (inSnapshot) => {
      const doc = await this.#stored.ledgers.findOne({ _id: id }, inSnapshot);
      if (!doc) return { ledger: undefined, breakdowns: new Map() };
      const breakdowns = await this.#breakdownsOf([doc], inSnapshot);
      return { ledger: ledgerFromDoc(doc), breakdowns: ofLedger(doc, breakdowns) };
    });
  }

  storeLedgers(changes: readonly LedgerChange[]): Promise<boolean[]> {
    return this.#writeEach(
      changes.map(({ before, after }) =>
        before ? failingUnlessMatched(changeUpdate(before, after)) : insertion(after),
      ),
    );
  }

  replaceUse(changes: readonly UseChange[]): Promise<boolean[]> {
    return this.#writeEach(changes.map((change) => failingUnlessMatched(useUpdate(change))));
  }

  async raiseCells(grants: readonly GrantCells[]): Promise<void> {
    await withLedgerDeadline(this.#stored.grantCells.bulkWrite(grants.map(cellsWrite), { ordered: false }));
  }

  dropCells(grantIds: readonly string[]): void {
    if (grantIds.length > 0)
      this.#stored.grantCells.deleteMany({ _id: { $in: [...grantIds] } }).catch(() => {});
  }

  async mergeIntoDays(
    key: LedgerKey,
    grants: readonly { number: number; cells: readonly UsageCell[] }[],
    mergedBelow: number,
  ): Promise<void> {
    const writes = dayWrites(ledgerIdOf(key), expiryOf(key), grants, mergedBelow);
    if (writes.length > 0) await withLedgerDeadline(this.#stored.days.bulkWrite(writes));
  }

  readMonth(accountId: string, month: string): Promise<StoredMonth[]> {
    return asOfOneMoment(this.#mongo, async (inSnapshot) => {
      const docs = await this.#stored.ledgers
        .find({ accountId, month }, inSnapshot)
        .sort({ _id: 1 })
        .toArray();
      const breakdowns = await this.#breakdownsOf(docs, inSnapshot);
      const ids = docs.map(({ _id }) => _id);
      const days = await this.#stored.days.find({ ledgerId: { $in: ids } }, inSnapshot).toArray();
      const daysOf = Map.groupBy(days.map(dayFromDoc), ({ ledgerId }) => ledgerId);
      return docs.map((doc) => ({
        ledger: ledgerFromDoc(doc),
        breakdowns: ofLedger(doc, breakdowns),
        days: daysOf.get(doc._id) ?? [],
      }));
    });
  }

  async listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]> {
    // The overdue grants that end first are in the ledgers whose first grants end first, so `limit` ledgers are enough.
    const docs = this.#stored.ledgers
      .find({ overdueAtMs: { $lt: nowMs } }, { projection: { accountId: 1, pool: 1, month: 1, grants: 1 } })
      .sort({ overdueAtMs: 1, _id: 1 })
      .limit(limit)
      .toArray();
    return overdueOf(await withLedgerDeadline(docs), nowMs, limit);
  }

  listOpen(after: OpenCursor | undefined, limit: number): Promise<OpenGrants> {
    const isBehind = after
      ? {
          overdueAtMs: { $gte: after.endMs },
          $or: [{ overdueAtMs: { $gt: after.endMs } }, { _id: { $gt: after.ledgerId } }],
        }
      : { overdueAtMs: { $gte: 0 } };
    const docs = this.#stored.ledgers
      .find(isBehind, { projection: OPEN_GRANTS })
      .sort({ overdueAtMs: 1, _id: 1 })
      .batchSize(LEDGERS_READ_AT_ONCE)
      .map((doc) => ({ ...doc, endMs: doc.overdueAtMs ?? 0 }));
    return withLedgerDeadline(openOf(docs, limit));
  }

  async #breakdownsOf(docs: readonly LedgerDoc[], inSnapshot: InSnapshot): Promise<Map<string, UsageCell[]>> {
    const ids = docs.flatMap((doc) => doc.grants.map((grant) => grantIdOf(doc, grant)));
    const stored = await this.#stored.grantCells.find({ _id: { $in: ids } }, inSnapshot).toArray();
    return new Map(stored.map(({ _id, cells }) => [_id, cellsFromCounts(cells)]));
  }

  /** Runs writes that fail if their condition does not hold. Returns for each whether it held. */
  async #writeEach(writes: AnyBulkWriteOperation<LedgerDoc>[]): Promise<boolean[]> {
    try {
      await withLedgerDeadline(this.#stored.ledgers.bulkWrite(writes, { ordered: false }));
      return writes.map(() => true);
    } catch (error) {
      const unmet = unmetWrites(error, isUnmet);
      return writes.map((_, index) => !unmet.has(index));
    }
  }
}

/** The fields of a ledger that a list of open grants reads. */
const OPEN_GRANTS = {
  accountId: 1,
  pool: 1,
  month: 1,
  overdueAtMs: 1,
  'grants.number': 1,
  'grants.secret': 1,
};

function ledgerFromDoc({ _id, overdueAtMs, expiresAt, ...ledger }: LedgerDoc): StoredLedger {
  return {
    ...ledger,
    closed: (ledger.closed ?? []).map(({ number, holder, used, cells }) => ({ number, holder, used, cells })),
  };
}

function dayFromDoc({ ledgerId, day, cells = {}, mergedBelow, merged }: DayDoc): DayOfLedger {
  return { ledgerId, day, cells: cellsFromCounts(cells), mergedBelow, merged };
}

function ofLedger(doc: LedgerDoc, breakdowns: ReadonlyMap<string, UsageCell[]>): Breakdowns {
  return new Map(doc.grants.map((grant) => [grant.number, breakdowns.get(grantIdOf(doc, grant)) ?? []]));
}

/** Fails if the ledger exists. */
function insertion(ledger: Ledger): AnyBulkWriteOperation<LedgerDoc> {
  const _id = ledgerIdOf(ledger);
  const overdueAtMs = firstEndOf(ledger.grants);
  return {
    insertOne: { document: { ...ledger, _id, version: 1, overdueAtMs, expiresAt: expiryOf(ledger) } },
  };
}

/** Stores the changed fields if the stored version is still that of `before`. */
function changeUpdate(before: StoredLedger, after: Ledger): ConditionalUpdate {
  const _id = ledgerIdOf(before);
  const { version } = before;
  const changed = Object.fromEntries(
    CHANGING_FIELDS.filter((field) => after[field] !== before[field]).map((field) => [field, after[field]]),
  );
  const overdueAtMs = firstEndOf(after.grants);
  const set = { ...changed, version: version + 1 };
  return {
    ledger: before,
    filter: { _id, version },
    update:
      overdueAtMs === undefined
        ? { $set: set, $unset: { overdueAtMs: '' } }
        : { $set: { ...set, overdueAtMs } },
  };
}

/** Usage of other grants may be stored at the same moment. Only these grants have to be as in `before`. */
function useUpdate({ ledger, grants }: UseChange): ConditionalUpdate {
  const asBefore = grants.map(({ before: { number, used, returned } }) => ({
    grants: { $elemMatch: { number, used, returned } },
  }));
  const use = grants.flatMap(({ after: { used, returned } }, index) => [
    [`grants.$[g${index}].used`, used],
    [`grants.$[g${index}].returned`, returned],
  ]);
  return {
    ledger,
    filter: { _id: ledgerIdOf(ledger), $and: asBefore },
    update: { $set: Object.fromEntries(use), $inc: { version: 1 } },
    arrayFilters: grants.map(({ before }, index) => ({ [`g${index}.number`]: before.number })),
  };
}

/** Whether a write failed because the ledger exists already or, in `failingUnlessMatched`, because it matched no document. */
function isUnmet({ code, errmsg = '' }: WriteError): boolean {
  if (code === DUPLICATE_KEY) return true;
  // An update of elements of an array fails in the document that it would insert, because that one has no array.
  return code === PATH_NOT_VIABLE || (code === BAD_VALUE && errmsg.includes('must exist in the document'));
}

/** An update of a ledger that takes effect only if the filter matches. */
interface ConditionalUpdate {
  ledger: LedgerKey;
  filter: Filter<LedgerDoc>;
  update: UpdateFilter<LedgerDoc>;
  arrayFilters?: Document[];
}

/**
 * MongoDB tells how many of several updates matched a document, but not which ones. It tells which ones failed. Therefore each
 * update that matches nothing is made to fail: it would insert a document, but cannot, because it would give a field to `month`,
 * which is a text.
 */
function failingUnlessMatched({
  ledger,
  filter,
  update,
  arrayFilters,
}: ConditionalUpdate): AnyBulkWriteOperation<LedgerDoc> {
  return {
    updateOne: {
      filter: { ...filter, month: ledger.month },
      update: { ...update, $setOnInsert: { 'month.fails': true } } as UpdateFilter<LedgerDoc>,
      upsert: true,
      ...(arrayFilters && { arrayFilters }),
    },
  };
}

function cellsWrite({ grantId, cells }: GrantCells): AnyBulkWriteOperation<GrantCellsDoc> {
  const key = parseGrantId(grantId)?.key;
  if (!key) throw new Error('not a grant id');
  return {
    updateOne: {
      filter: { _id: grantId },
      update: {
        $max: countsAt('cells', cells),
        $setOnInsert: { ledgerId: ledgerIdOf(key), expiresAt: expiryOf(key) },
      },
      upsert: true,
    },
  };
}

/**
 * For each day, in this order: creates the day's document, drops the numbers below `mergedBelow` from its list, and adds each
 * grant that it does not contain.
 */
function dayWrites(
  ledgerId: string,
  expiresAt: Date,
  grants: readonly { number: number; cells: readonly UsageCell[] }[],
  mergedBelow: number,
): AnyBulkWriteOperation<DayDoc>[] {
  const parts = grants.flatMap(({ number, cells }) =>
    [...Map.groupBy(cells, (cell) => cell.day)].map(([day, ofDay]) => ({ day, number, cells: ofDay })),
  );
  return [...Map.groupBy(parts, ({ day }) => day)].flatMap(
    ([day, ofDay]): AnyBulkWriteOperation<DayDoc>[] => {
      const _id = `${ledgerId}/${day}`;
      const empty = { ledgerId, day, mergedBelow: 0, merged: [], expiresAt };
      return [
        { updateOne: { filter: { _id }, update: { $setOnInsert: empty }, upsert: true } },
        {
          updateOne: {
            filter: { _id, mergedBelow: { $lt: mergedBelow } },
            update: { $set: { mergedBelow }, $pull: { merged: { $lt: mergedBelow } } },
          },
        },
        ...ofDay.map(({ number, cells }) => ({
          updateOne: {
            filter: { _id, mergedBelow: { $lte: number }, merged: { $ne: number } },
            update: { $inc: countsAt('cells', cells), $push: { merged: number } },
          },
        })),
      ];
    },
  );
}
