import type { UsageCell } from '@brand-data/contracts';
import { DUPLICATE_KEY, type Mongo } from '@brand-data/runtime';
import type { AnyBulkWriteOperation, Document, WriteError } from 'mongodb';
import { CHANGING_FIELDS, grantIdOf, type LedgerKey, ledgerIdOf, parseGrantId } from './ledger.ts';
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
  opensGrant,
  opensUntilMs,
  overdueOf,
  type Stored,
  type StoredLedger,
  type StoredMonth,
  type UseChange,
} from './ledger-database.ts';
import type { Breakdowns } from './ledger-usage.ts';

const LEDGERS_READ_AT_ONCE = 500;
const PATH_NOT_VIABLE = 28;
const BAD_VALUE = 2;
const NO_NUMBER = 241;
const IMMUTABLE_FIELD = 66;

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

  async storeLedgers(changes: readonly LedgerChange[]): Promise<Stored[]> {
    const failed = await this.#writeEach(changes.map(ledgerWrite));
    return changes.map((_, index) => {
      const failure = failed.get(index);
      return failure?.code === IMMUTABLE_FIELD ? 'over' : failure === undefined;
    });
  }

  async replaceUse(changes: readonly UseChange[]): Promise<boolean[]> {
    const failed = await this.#writeEach(changes.map(useWrite));
    return changes.map((_, index) => !failed.has(index));
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

  /** Returns the time of the latest write that a majority has, so a new primary has it, too. An idle set writes every 10 s. */
  async nowMs(): Promise<number> {
    const { lastWrite } = await withLedgerDeadline(this.#mongo.db.command({ hello: 1 }));
    return lastWrite.majorityOpTime.ts.t * 1_000;
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

  /** Runs writes that fail if their condition does not hold. Returns those that failed, by their places. */
  async #writeEach(writes: AnyBulkWriteOperation<LedgerDoc>[]): Promise<Map<number, WriteError>> {
    try {
      await withLedgerDeadline(this.#stored.ledgers.bulkWrite(writes, { ordered: false }));
      return new Map();
    } catch (error) {
      return unmetWrites(error, isUnmet);
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

/**
 * Stores the changed fields if the stored version is still that of `before`, or if neither exists, and opens a grant only in time.
 * MongoDB tells which of several writes failed, but not which of them had no effect. Therefore a write whose condition does not
 * hold is made to fail: it would give the document another `_id`.
 */
function ledgerWrite({ before, after }: LedgerChange): AnyBulkWriteOperation<LedgerDoc> {
  const _id = ledgerIdOf(after);
  const version = before?.version ?? 0;
  const changed = CHANGING_FIELDS.filter((field) => after[field] !== before?.[field]);
  const fields = Object.fromEntries(changed.map((field) => [field, { $literal: after[field] }]));
  const { accountId, pool, month } = after;
  const isAsRead = { $eq: [{ $ifNull: ['$version', 0] }, version] };
  // The time of the set's latest write. Unlike the clock of one server, it does not go back when another becomes primary.
  const isInTime = { $lt: [{ $toDate: '$$CLUSTER_TIME' }, new Date(opensUntilMs(month))] };
  const sameId = opensGrant(before, after) ? { $cond: [isInTime, '$_id', ''] } : '$_id';
  const set = {
    ...(!before && { accountId, pool, month, expiresAt: expiryOf(after) }),
    ...fields,
    overdueAtMs: firstEndOf(after.grants) ?? '$$REMOVE',
    version: version + 1,
    _id: { $cond: [isAsRead, sameId, { $toInt: '$_id' }] },
  };
  return { updateOne: { filter: { _id }, update: [{ $set: set }], upsert: true } };
}

/**
 * Usage of other grants may be stored at the same moment. Only these grants have to be as in `before`. Otherwise the write is made to
 * fail: it would insert a document, but cannot, because it would give a field to `month`, which is a text.
 */
function useWrite({ ledger, grants }: UseChange): AnyBulkWriteOperation<LedgerDoc> {
  const asBefore = grants.map(({ before: { number, used, returned } }) => ({
    grants: { $elemMatch: { number, used, returned } },
  }));
  const use = grants.flatMap(({ after: { used, returned } }, index) => [
    [`grants.$[g${index}].used`, used],
    [`grants.$[g${index}].returned`, returned],
  ]);
  const fails: Document = { 'month.fails': true };
  return {
    updateOne: {
      filter: { _id: ledgerIdOf(ledger), month: ledger.month, $and: asBefore },
      update: { $set: Object.fromEntries(use), $inc: { version: 1 }, $setOnInsert: fails },
      upsert: true,
      arrayFilters: grants.map(({ before }, index) => ({ [`g${index}.number`]: before.number })),
    },
  };
}

/** Whether a write failed because its condition did not hold, or because another process created the ledger at the same moment. */
function isUnmet({ code, errmsg = '' }: WriteError): boolean {
  if (code === DUPLICATE_KEY || code === NO_NUMBER || code === IMMUTABLE_FIELD) return true;
  // An update of elements of an array fails in the document that it would insert, because that one has no array.
  return code === PATH_NOT_VIABLE || (code === BAD_VALUE && errmsg.includes('must exist in the document'));
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
