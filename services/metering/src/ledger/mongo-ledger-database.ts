import { addMonths, boundsOfMonth, MONTHS_KEPT, type UsageCell } from '@brand-data/contracts';
import type { Mongo } from '@brand-data/runtime';
import {
  type AnyBulkWriteOperation,
  type ClientSession,
  type Collection,
  type Document,
  type Filter,
  type MongoClient,
  ReadConcern,
  ReadPreference,
  type UpdateFilter,
  WriteConcern,
  type WriteError,
} from 'mongodb';
import { grantIdOf, type Ledger, type LedgerKey, ledgerIdOf, parseGrantId } from './ledger.ts';
import {
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
import { withLedgerDeadline } from './ledger-deadline.ts';
import type { Breakdowns } from './ledger-usage.ts';
import { unmetWrites } from './unmet-writes.ts';
import { cellFromName, cellName } from './usage-merge.ts';

export interface LedgerDoc extends StoredLedger {
  _id: string;
  /** When the ledger's first open grant ends, by the wall clock. Absent: no grant is open. */
  overdueAtMs?: number | undefined;
  expiresAt: Date;
}

/** Counts by the names of their cells. The names contain neither dots nor dollar signs. */
type Counts = Record<string, number>;

/** An open grant's breakdown. It is not part of the ledger, so that the ledger stays small. */
export interface GrantCellsDoc {
  _id: string;
  ledgerId: string;
  cells: Counts;
  /** A crash or a concurrent close may leave a document that no ledger refers to. This document expires at this time. */
  expiresAt: Date;
}

/** The merged breakdowns of a ledger's closed grants on one day. */
export interface DayDoc {
  _id: string;
  ledgerId: string;
  day: string;
  cells?: Counts;
  mergedBelow: number;
  merged: number[];
  expiresAt: Date;
}

const LEDGERS_READ_AT_ONCE = 500;
const DUPLICATE_KEY = 11_000;
const PATH_NOT_VIABLE = 28;
const BAD_VALUE = 2;

/** The concerns of every read and write of ledgers. They override the connection's own settings. */
export const CONCERNS = {
  readConcern: new ReadConcern('majority'),
  writeConcern: new WriteConcern('majority', undefined, true),
  readPreference: ReadPreference.primary,
};

/** Returns the collections of the ledgers and of their breakdowns. */
export function ledgerCollections(db: Mongo['db']) {
  return {
    ledgers: db.collection<LedgerDoc>('ledgers', CONCERNS),
    grantCells: db.collection<GrantCellsDoc>('grant_breakdowns', CONCERNS),
    days: db.collection<DayDoc>('daily_breakdowns', CONCERNS),
  };
}

/** Opens the ledgers in MongoDB, one document each, and creates the indexes. Every replica may do so at any time. */
export async function openMongoLedgerDatabase(mongo: Mongo): Promise<LedgerDatabase> {
  const database = new MongoLedgerDatabase(mongo);
  await database.createIndexes();
  return database;
}

class MongoLedgerDatabase implements LedgerDatabase {
  readonly #client: MongoClient;
  readonly #ledgers: Collection<LedgerDoc>;
  readonly #grantCells: Collection<GrantCellsDoc>;
  readonly #days: Collection<DayDoc>;

  constructor({ client, db }: Mongo) {
    this.#client = client;
    const { ledgers, grantCells, days } = ledgerCollections(db);
    this.#ledgers = ledgers;
    this.#grantCells = grantCells;
    this.#days = days;
  }

  async createIndexes(): Promise<void> {
    await this.#ledgers.createIndex({ accountId: 1, month: 1, _id: 1 });
    await this.#ledgers.createIndex(
      { overdueAtMs: 1, _id: 1 },
      { partialFilterExpression: { overdueAtMs: { $exists: true } } },
    );
    for (const collection of [this.#grantCells, this.#days]) await collection.createIndex({ ledgerId: 1 });
    for (const collection of [this.#ledgers, this.#grantCells, this.#days])
      await collection.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  async readLedgers(ids: readonly string[]): Promise<StoredLedger[]> {
    const found = this.#ledgers.find({ _id: { $in: [...ids] } }).toArray();
    return (await withLedgerDeadline(found)).map(ledgerFromDoc);
  }

  readWithBreakdowns(id: string): ReturnType<LedgerDatabase['readWithBreakdowns']> {
    return this.#asOfOneMoment(async (session) => {
      const doc = await this.#ledgers.findOne({ _id: id }, inSnapshot(session));
      if (!doc) return { ledger: undefined, breakdowns: new Map() };
      const breakdowns = await this.#breakdownsOf([doc], session);
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
    await withLedgerDeadline(this.#grantCells.bulkWrite(grants.map(cellsWrite), { ordered: false }));
  }

  dropCells(grantIds: readonly string[]): void {
    if (grantIds.length > 0) this.#grantCells.deleteMany({ _id: { $in: [...grantIds] } }).catch(() => {});
  }

  async mergeIntoDays(
    key: LedgerKey,
    grants: readonly { number: number; cells: readonly UsageCell[] }[],
    mergedBelow: number,
  ): Promise<void> {
    const writes = dayWrites(ledgerIdOf(key), expiryOf(key), grants, mergedBelow);
    if (writes.length > 0) await withLedgerDeadline(this.#days.bulkWrite(writes));
  }

  readMonth(accountId: string, month: string): Promise<StoredMonth[]> {
    return this.#asOfOneMoment(async (session) => {
      const docs = await this.#ledgers
        .find({ accountId, month }, inSnapshot(session))
        .sort({ _id: 1 })
        .toArray();
      const breakdowns = await this.#breakdownsOf(docs, session);
      const ids = docs.map(({ _id }) => _id);
      const days = await this.#days.find({ ledgerId: { $in: ids } }, inSnapshot(session)).toArray();
      return docs.map((doc) => ({
        ledger: ledgerFromDoc(doc),
        breakdowns: ofLedger(doc, breakdowns),
        days: days.filter(({ ledgerId }) => ledgerId === doc._id).map(dayFromDoc),
      }));
    });
  }

  async listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]> {
    // The overdue grants that end first are in the ledgers whose first grants end first, so `limit` ledgers are enough.
    const docs = this.#ledgers
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
    const docs = this.#ledgers
      .find(isBehind, { projection: OPEN_GRANTS })
      .sort({ overdueAtMs: 1, _id: 1 })
      .batchSize(LEDGERS_READ_AT_ONCE)
      .map((doc) => ({ ...doc, endMs: doc.overdueAtMs ?? 0 }));
    return withLedgerDeadline(openOf(docs, limit));
  }

  /** Runs all reads on one snapshot that a majority has stored. */
  #asOfOneMoment<T>(read: (session: ClientSession) => Promise<T>): Promise<T> {
    return withLedgerDeadline(this.#client.withSession({ snapshot: true }, read));
  }

  async #breakdownsOf(docs: readonly LedgerDoc[], session: ClientSession): Promise<Map<string, UsageCell[]>> {
    const ids = docs.flatMap((doc) => doc.grants.map((grant) => grantIdOf(doc, grant)));
    const stored = await this.#grantCells.find({ _id: { $in: ids } }, inSnapshot(session)).toArray();
    return new Map(stored.map(({ _id, cells }) => [_id, cellsFromCounts(cells)]));
  }

  /** Runs writes that fail if their condition does not hold. Returns for each whether it held. */
  async #writeEach(writes: AnyBulkWriteOperation<LedgerDoc>[]): Promise<boolean[]> {
    try {
      await withLedgerDeadline(this.#ledgers.bulkWrite(writes, { ordered: false }));
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

/** Options of a read in the session's snapshot. */
export function inSnapshot(session: ClientSession) {
  return { session, readConcern: 'snapshot' } as const;
}

function ledgerFromDoc({ _id, overdueAtMs, expiresAt, ...ledger }: LedgerDoc): StoredLedger {
  return {
    ...ledger,
    closed: (ledger.closed ?? []).map(({ number, holder, used, cells }) => ({ number, holder, used, cells })),
  };
}

function dayFromDoc({ ledgerId, day, cells = {}, mergedBelow, merged }: DayDoc) {
  return { ledgerId, day, cells: cellsFromCounts(cells), mergedBelow, merged };
}

function ofLedger(doc: LedgerDoc, breakdowns: ReadonlyMap<string, UsageCell[]>): Breakdowns {
  return new Map(doc.grants.map((grant) => [grant.number, breakdowns.get(grantIdOf(doc, grant)) ?? []]));
}

function cellsFromCounts(counts: Counts): UsageCell[] {
  return Object.entries(counts).map(([name, count]) => cellFromName(name, count));
}

/** When MongoDB removes what belongs to a month. */
export function expiryOf({ month }: { month: string }): Date {
  return new Date(boundsOfMonth(addMonths(month, MONTHS_KEPT)).startMs);
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
  const fields = [
    'limit',
    'limitRevision',
    'closedUsed',
    'nextGrant',
    'grants',
    'closed',
    'holders',
  ] as const;
  const changed = Object.fromEntries(
    fields.filter((field) => after[field] !== before[field]).map((field) => [field, after[field]]),
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
  arrayFilters = [],
}: ConditionalUpdate): AnyBulkWriteOperation<LedgerDoc> {
  return {
    updateOne: {
      filter: { ...filter, month: ledger.month },
      update: { ...update, $setOnInsert: { 'month.fails': true } } as UpdateFilter<LedgerDoc>,
      upsert: true,
      ...(arrayFilters.length > 0 && { arrayFilters }),
    },
  };
}

function cellsWrite({
  grantId,
  cells,
}: {
  grantId: string;
  cells: readonly UsageCell[];
}): AnyBulkWriteOperation<GrantCellsDoc> {
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
  const byDay = new Map<string, { number: number; cells: UsageCell[] }[]>();
  for (const { number, cells } of grants) {
    for (const [day, ofDay] of Map.groupBy(cells, (cell) => cell.day))
      byDay.set(day, [...(byDay.get(day) ?? []), { number, cells: ofDay }]);
  }
  return [...byDay].flatMap(([day, ofDay]): AnyBulkWriteOperation<DayDoc>[] => {
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
  });
}

function countsAt(field: string, cells: readonly UsageCell[]): Record<string, number> {
  return Object.fromEntries(cells.map((cell) => [`${field}.${cellName(cell)}`, cell.count]));
}
