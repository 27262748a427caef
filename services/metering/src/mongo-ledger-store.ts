import { setTimeout as delay } from 'node:timers/promises';
import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { Fault, type Mongo } from '@brand-data/runtime';
import { type AnyBulkWriteOperation, type ClientSession, MongoServerError } from 'mongodb';
import {
  grantIdOf,
  type Ledger,
  type LedgerKey,
  ledgerIdOf,
  newLedger,
  type OpenGrant,
  parseGrantId,
} from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import { cellName, mergeByGrant, sumCells } from './usage-merge.ts';

interface LedgerDoc extends Ledger {
  _id: string;
  /** Grows with each write, so that a decision on an older state is not stored. */
  version: number;
  /** When the first of its open grants is over, by the wall clock; absent: none is open. */
  overdueAtMs?: number | undefined;
  expiresAt: Date;
}

/** An open grant's breakdown, beside the ledger so that the ledger stays small. */
interface GrantCellsDoc {
  _id: string;
  ledgerId: string;
  used: number;
  cells: UsageCell[];
}

/** Closed grants' use, merged. */
interface DailyUsageDoc extends UsageCell {
  _id: string;
  ledgerId: string;
  expiresAt: Date;
}

const ATTEMPTS = 50;
const LONGEST_PAUSE_MS = 20;
/** The month, and 24 more. */
const MONTHS_KEPT = 25;

/** Ledgers on MongoDB: one document each, whose `version` guards it. */
export async function openMongoLedgerStore({ client, db }: Mongo): Promise<LedgerStore> {
  const ledgers = db.collection<LedgerDoc>('ledgers');
  const grantCells = db.collection<GrantCellsDoc>('grant_cells');
  const dailyUsage = db.collection<DailyUsageDoc>('daily_usage');
  await ledgers.createIndex({ accountId: 1, month: 1 });
  await grantCells.createIndex({ ledgerId: 1 });
  await ledgers.createIndex({ overdueAtMs: 1 }, { sparse: true });
  await dailyUsage.createIndex({ ledgerId: 1 });
  for (const collection of [ledgers, dailyUsage])
    await collection.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });

  const readLedger = (key: LedgerKey, session?: ClientSession) =>
    ledgers.findOne({ _id: ledgerIdOf(key) }, session ? { session } : {});

  const update: LedgerStore['update'] = async (key, decide) => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const doc = await readLedger(key);
      const before = doc ? ledgerFromDoc(doc) : newLedger(key);
      const { ledger, result } = decide(before);
      if (ledger === before || (await replaceLedger(ledger, doc?.version))) return result;
      await delay(Math.random() * Math.min(attempt, LONGEST_PAUSE_MS));
    }
    throw new Fault('unavailable', 'too many changes of this ledger at once: try again');
  };

  /** false: somebody else stored a change first. */
  const replaceLedger = async (ledger: Ledger, version: number | undefined): Promise<boolean> => {
    const _id = ledgerIdOf(ledger);
    const doc = {
      ...ledger,
      version: (version ?? 0) + 1,
      overdueAtMs: overdueAtMsOf(ledger.grants),
      expiresAt: expiryOf(_id),
    };
    if (version !== undefined) {
      const { matchedCount } = await ledgers.replaceOne({ _id, version }, doc);
      return matchedCount === 1;
    }
    try {
      await ledgers.insertOne({ _id, ...doc });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  };

  const applyUsage: LedgerStore['applyUsage'] = async (usage) => {
    const merged = mergeByGrant(usage);
    const running = merged.filter(({ closed }) => !closed);
    const closing = Map.groupBy(
      merged.filter(({ closed }) => closed),
      ({ grantId }) => ledgerIdOf(keyOfGrant(grantId)),
    );
    const refused = await applyToOpenGrants(running);
    for (const grants of closing.values()) refused.push(...(await closeGrants(grants)));
    return { refused };
  };

  const readOpenGrants = async (usage: readonly GrantUsage[]): Promise<Map<string, OpenGrant>> => {
    const ids = [...new Set(usage.map(({ grantId }) => ledgerIdOf(keyOfGrant(grantId))))];
    const docs = await ledgers.find({ _id: { $in: ids } }).toArray();
    return new Map(docs.flatMap((doc) => doc.grants.map((grant) => [grantIdOf(doc, grant.number), grant])));
  };

  /**
   * The breakdown is written first: a crash between the two writes leaves more in it than in the ledger, and closing
   * takes the larger. A grant that is still open afterwards, with this use or more, has had it applied, since a closed
   * grant never opens again.
   */
  const applyToOpenGrants = async (usage: readonly GrantUsage[]): Promise<string[]> => {
    if (usage.length === 0) return [];
    const before = await readOpenGrants(usage);
    const known = usage.filter(({ grantId }) => before.has(grantId));
    if (known.length > 0) {
      await grantCells.bulkWrite(known.map(cellsWrite), { ordered: false });
      await ledgers.bulkWrite(known.map(usageWrite), { ordered: false });
    }
    const after = await readOpenGrants(known);
    const refused = usage.filter(({ grantId, used }) => {
      const grant = after.get(grantId);
      return grant === undefined || grant.used < used;
    });
    const orphaned = refused.filter(({ grantId }) => before.has(grantId)).map(({ grantId }) => grantId);
    if (orphaned.length > 0) await grantCells.deleteMany({ _id: { $in: orphaned } });
    return refused.map(({ grantId }) => grantId);
  };

  /** Closes grants of one ledger: their use goes to the account's sum and to the days, all at once or not at all. */
  const closeGrants = async (usage: readonly GrantUsage[]): Promise<string[]> => {
    const [first] = usage;
    if (!first) return [];
    const key = keyOfGrant(first.grantId);
    return client.withSession((session) =>
      session.withTransaction(async () => {
        const doc = await readLedger(key, session);
        const isOpen = ({ grantId }: GrantUsage) =>
          doc?.grants.some((grant) => grantIdOf(key, grant.number) === grantId) ?? false;
        const open = usage.filter(isOpen);
        if (!doc || open.length === 0) return usage.map(({ grantId }) => grantId);
        const ids = open.map(({ grantId }) => grantId);
        const known = new Map(
          (await grantCells.find({ _id: { $in: ids } }, { session }).toArray()).map((cells) => [
            cells._id,
            cells,
          ]),
        );
        const final = open.map((given) => {
          const stored = known.get(given.grantId);
          return stored && stored.used > given.used ? stored : given;
        });
        const closedUsed = doc.closedUsed + final.reduce((sum, { used }) => sum + used, 0);
        const grants = doc.grants.filter((grant) => !ids.includes(grantIdOf(key, grant.number)));
        await ledgers.updateOne(
          { _id: doc._id, version: doc.version },
          { $set: { closedUsed, grants, overdueAtMs: overdueAtMsOf(grants) }, $inc: { version: 1 } },
          { session },
        );
        const cells = final.flatMap((grant) => grant.cells);
        if (cells.length > 0) {
          await dailyUsage.bulkWrite(
            cells.map((cell) => dailyWrite(doc._id, cell)),
            { session },
          );
        }
        await grantCells.deleteMany({ _id: { $in: ids } }, { session });
        return usage.filter((grant) => !isOpen(grant)).map(({ grantId }) => grantId);
      }),
    );
  };

  const readUsage: LedgerStore['readUsage'] = (accountId, month) =>
    client.withSession((session) =>
      session.withTransaction(
        async () => {
          const docs = await ledgers.find({ accountId, month }, { session }).sort({ _id: 1 }).toArray();
          const ledgerIds = docs.map(({ _id }) => _id);
          const open = await grantCells.find({ ledgerId: { $in: ledgerIds } }, { session }).toArray();
          const closed = await dailyUsage.find({ ledgerId: { $in: ledgerIds } }, { session }).toArray();
          return docs.map((doc) => {
            const openNumbers = new Set(doc.grants.map((grant) => grantIdOf(doc, grant.number)));
            const cells = [
              ...closed.filter(({ ledgerId }) => ledgerId === doc._id),
              ...open.filter(({ _id }) => openNumbers.has(_id)).flatMap((grant) => grant.cells),
            ];
            return { ledger: ledgerFromDoc(doc), cells: sumCells(cells) };
          });
        },
        { readConcern: { level: 'snapshot' } },
      ),
    );

  const listOverdue: LedgerStore['listOverdue'] = async (nowMs, limit) => {
    const docs = await ledgers
      .find({ overdueAtMs: { $lt: nowMs } }, { projection: { accountId: 1, pool: 1, month: 1, grants: 1 } })
      .sort({ overdueAtMs: 1 })
      .limit(limit)
      .toArray();
    const overdue = docs.flatMap((doc) =>
      doc.grants
        .filter(({ openedAtMs, ttlMs }) => openedAtMs + ttlMs < nowMs)
        .map(({ number, ttlMs }) => ({ grantId: grantIdOf(doc, number), ttlMs })),
    );
    return overdue.slice(0, limit);
  };

  return { update, applyUsage, listOverdue, readUsage };
}

function ledgerFromDoc({ _id, version, overdueAtMs, expiresAt, ...ledger }: LedgerDoc): Ledger {
  return ledger;
}

function overdueAtMsOf(grants: readonly OpenGrant[]): number | undefined {
  return grants.length === 0
    ? undefined
    : Math.min(...grants.map(({ openedAtMs, ttlMs }) => openedAtMs + ttlMs));
}

function expiryOf(ledgerId: string): Date {
  const [year = 0, month = 0] = (ledgerId.split('/')[2] ?? '').split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 + MONTHS_KEPT, 1));
}

function keyOfGrant(grantId: string): LedgerKey {
  const parsed = parseGrantId(grantId);
  if (!parsed) throw new Fault('invalid_argument', 'not a grant id of this service');
  return parsed.key;
}

function cellsWrite({ grantId, used, cells }: GrantUsage): AnyBulkWriteOperation<GrantCellsDoc> {
  const isNews = { $lt: [{ $ifNull: ['$used', -1] }, used] };
  return {
    updateOne: {
      filter: { _id: grantId },
      update: [
        {
          $set: {
            ledgerId: ledgerIdOf(keyOfGrant(grantId)),
            cells: { $cond: [isNews, { $literal: cells }, '$cells'] },
            used: { $max: ['$used', used] },
          },
        },
      ],
      upsert: true,
    },
  };
}

function usageWrite({ grantId, used, returned }: GrantUsage): AnyBulkWriteOperation<LedgerDoc> {
  const number = parseGrantId(grantId)?.number ?? 0;
  return {
    updateOne: {
      filter: { _id: ledgerIdOf(keyOfGrant(grantId)), 'grants.number': number },
      update: { $max: { 'grants.$.used': used, 'grants.$.returned': returned }, $inc: { version: 1 } },
    },
  };
}

function dailyWrite(ledgerId: string, cell: UsageCell): AnyBulkWriteOperation<DailyUsageDoc> {
  const { keyId, route, status, day, count } = cell;
  return {
    updateOne: {
      filter: { _id: `${ledgerId}/${cellName(cell)}` },
      update: {
        $inc: { count },
        $setOnInsert: { ledgerId, keyId, route, status, day, expiresAt: expiryOf(ledgerId) },
      },
      upsert: true,
    },
  };
}

function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11_000;
}
