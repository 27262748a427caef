import { setTimeout as delay } from 'node:timers/promises';
import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { answerWithin, Fault, type Mongo } from '@brand-data/runtime';
import { type AnyBulkWriteOperation, MongoServerError } from 'mongodb';
import {
  grantIdOf,
  type Ledger,
  type LedgerKey,
  ledgerIdOf,
  newLedger,
  type OpenGrant,
  parseGrantId,
} from './ledger.ts';
import { firstEndOf, type LedgerStore, type NotApplied, openOf, overdueOf } from './ledger-store.ts';
import { createTurns, gatherForTurn } from './turns.ts';
import { fitsGrant } from './usage-check.ts';
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
  /** A crash while another closes the grant leaves a document of no use to anybody. */
  expiresAt: Date;
}

/** Closed grants' use, merged. */
interface DailyUsageDoc extends UsageCell {
  _id: string;
  ledgerId: string;
  expiresAt: Date;
}

interface LedgerDecision {
  key: LedgerKey;
  /** The ledger after the decision; the one before, when nothing changes. */
  change(before: Ledger): Ledger;
}

const ATTEMPTS = 50;
const LONGEST_PAUSE_MS = 20;
const MOST_WAITING = 1_000;
const LEDGERS_AT_ONCE = 16;
const LEDGERS_READ_AT_ONCE = 500;
const ANSWER_WITHIN_MS = 10_000;
/** The month, and 24 more. */
const MONTHS_KEPT = 25;

/**
 * Ledgers on MongoDB: one document each, whose `version` guards it. Nothing takes longer than ten seconds; what was begun
 * may still be done after.
 */
export async function openMongoLedgerStore({ client, db }: Mongo): Promise<LedgerStore> {
  const ledgers = db.collection<LedgerDoc>('ledgers');
  const grantCells = db.collection<GrantCellsDoc>('grant_cells');
  const dailyUsage = db.collection<DailyUsageDoc>('daily_usage');
  await ledgers.createIndex({ accountId: 1, month: 1, _id: 1 });
  await ledgers.createIndex(
    { overdueAtMs: 1, _id: 1 },
    { partialFilterExpression: { overdueAtMs: { $exists: true } } },
  );
  for (const collection of [grantCells, dailyUsage]) await collection.createIndex({ ledgerId: 1 });
  for (const collection of [ledgers, grantCells, dailyUsage])
    await collection.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });

  /** In one process a ledger is changed by one at a time: only replicas get into each other's way. */
  const takeTurn = createTurns();
  const bound = { most: MOST_WAITING, tooMany: tooManyChanges };

  const update: LedgerStore['update'] = async (key, decide) => {
    const made: { outcome?: () => ReturnType<typeof decide>['result'] } = {};
    await decideTogether(ledgerIdOf(key), {
      key,
      change: (before) => {
        try {
          const { ledger, result } = decide(before);
          made.outcome = () => result;
          return ledger;
        } catch (error) {
          made.outcome = () => {
            throw error;
          };
          return before;
        }
      },
    });
    if (!made.outcome) throw tooManyChanges();
    return made.outcome();
  };

  /** Decisions that wait for one ledger are made on one reading of it and stored by one write. */
  const decideTogether = gatherForTurn(takeTurn, bound, (decisions: readonly LedgerDecision[]) =>
    inTime(storeDecisions(decisions)),
  );

  const storeDecisions = async (decisions: readonly LedgerDecision[]): Promise<void> => {
    const [first] = decisions;
    if (!first) return;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const doc = await ledgers.findOne({ _id: ledgerIdOf(first.key) });
      const before = doc ? ledgerFromDoc(doc) : newLedger(first.key);
      const after = decisions.reduce((ledger, { change }) => change(ledger), before);
      if (after === before || (await replaceLedger(after, doc?.version))) return;
      await delay(Math.random() * Math.min(attempt, LONGEST_PAUSE_MS));
    }
    throw tooManyChanges();
  };

  /** false: somebody else stored a change first. */
  const replaceLedger = async (ledger: Ledger, version: number | undefined): Promise<boolean> => {
    const _id = ledgerIdOf(ledger);
    const doc = {
      ...ledger,
      version: (version ?? 0) + 1,
      overdueAtMs: firstEndOf(ledger.grants),
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
    const closing = Map.groupBy(
      merged.filter(({ closed }) => closed),
      ({ grantId }) => ledgerIdOf(keyOfGrant(grantId)),
    );
    const results = [await applyToOpenGrants(merged.filter(({ closed }) => !closed))];
    const groups = [...closing];
    while (groups.length > 0) {
      const now = groups.splice(0, LEDGERS_AT_ONCE);
      results.push(...(await Promise.all(now.map(([ledgerId, grants]) => closeGrants(ledgerId, grants)))));
    }
    return {
      refused: results.flatMap(({ refused }) => refused),
      impossible: results.flatMap(({ impossible }) => impossible),
    };
  };

  const readOpenGrants = async (usage: readonly GrantUsage[]): Promise<Map<string, OpenGrant>> => {
    const ids = [...new Set(usage.map(({ grantId }) => ledgerIdOf(keyOfGrant(grantId))))];
    const docs = await ledgers.find({ _id: { $in: ids } }).toArray();
    return new Map(docs.flatMap((doc) => doc.grants.map((grant) => [grantIdOf(doc, grant.number), grant])));
  };

  /**
   * The breakdown is written first: a crash between the two writes leaves more in it than in the ledger, and whoever
   * closes or reads takes it from there. A grant that is still open afterwards has had its usage applied, since a closed
   * grant never opens again.
   */
  const applyToOpenGrants = async (usage: readonly GrantUsage[]): Promise<NotApplied> => {
    if (usage.length === 0) return { refused: [], impossible: [] };
    const before = await readOpenGrants(usage);
    const { possible, ...notApplied } = judge(usage, before);
    if (possible.length === 0) return notApplied;
    await grantCells.bulkWrite(possible.map(cellsWrite), { ordered: false });
    const { matchedCount } = await ledgers.bulkWrite(possible.map(usageWrite), { ordered: false });
    if (matchedCount === possible.length) return notApplied;
    const after = await readOpenGrants(possible);
    const closed = idsOf(possible.filter(({ grantId }) => !after.has(grantId)));
    await grantCells.deleteMany({ _id: { $in: closed } });
    return { ...notApplied, refused: [...notApplied.refused, ...closed] };
  };

  const closeGrants = async (ledgerId: string, usage: readonly GrantUsage[]): Promise<NotApplied> => {
    const { refused, impossible } = await closeTogether(ledgerId, usage);
    const isAsked = (id: string) => usage.some(({ grantId }) => grantId === id);
    return { refused: refused.filter(isAsked), impossible: impossible.filter(isAsked) };
  };

  const closeTogether = gatherForTurn(takeTurn, bound, (closings: readonly (readonly GrantUsage[])[]) =>
    inTime(storeClosings(mergeByGrant(closings.flat()))),
  );

  /** Closes grants of one ledger: their use goes to the account's sum and to the days, all at once or not at all. */
  const storeClosings = async (usage: readonly GrantUsage[]): Promise<NotApplied> => {
    const [first] = usage;
    if (!first) return { refused: [], impossible: [] };
    const key = keyOfGrant(first.grantId);
    return client.withSession((session) =>
      session.withTransaction(async () => {
        // A write at the very beginning keeps others out, however busy the ledger is, until this is done.
        const doc = await ledgers.findOneAndUpdate(
          { _id: ledgerIdOf(key), 'grants.number': { $in: usage.map(numberOfGrant) } },
          { $inc: { version: 1 } },
          { session },
        );
        const openGrants = new Map(doc?.grants.map((grant) => [grantIdOf(key, grant.number), grant]));
        const { possible, ...notApplied } = judge(usage, openGrants);
        if (!doc || possible.length === 0) return notApplied;
        const ids = idsOf(possible);
        const stored = await grantCells.find({ _id: { $in: ids } }, { session }).toArray();
        const known = new Map(stored.map((cells) => [cells._id, cells]));
        const final = possible.map((given) => {
          const before = known.get(given.grantId);
          return before && before.used > given.used ? before : given;
        });
        const closedUsed = doc.closedUsed + final.reduce((sum, { used }) => sum + used, 0);
        const grants = doc.grants.filter((grant) => !ids.includes(grantIdOf(key, grant.number)));
        const overdueAtMs = firstEndOf(grants);
        await ledgers.updateOne(
          { _id: doc._id },
          overdueAtMs === undefined
            ? { $set: { closedUsed, grants }, $unset: { overdueAtMs: '' } }
            : { $set: { closedUsed, grants, overdueAtMs } },
          { session },
        );
        const cells = sumCells(final.flatMap((grant) => grant.cells));
        if (cells.length > 0) {
          await dailyUsage.bulkWrite(
            cells.map((cell) => dailyWrite(doc._id, cell)),
            { session },
          );
        }
        await grantCells.deleteMany({ _id: { $in: ids } }, { session });
        return notApplied;
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
          const openCells = new Map(open.map((grant) => [grant._id, grant]));
          return docs.map((doc) => {
            const known = doc.grants.map((grant) => openCells.get(grantIdOf(doc, grant.number)));
            const grants = doc.grants.map((grant, index) => ({
              ...grant,
              used: Math.max(grant.used, known[index]?.used ?? 0),
            }));
            const cells = [
              ...closed
                .filter(({ ledgerId }) => ledgerId === doc._id)
                .map(({ keyId, route, status, day, count }) => ({ keyId, route, status, day, count })),
              ...known.flatMap((grant) => grant?.cells ?? []),
            ];
            return { ledger: { ...ledgerFromDoc(doc), grants }, cells: sumCells(cells) };
          });
        },
        { readConcern: { level: 'snapshot' } },
      ),
    );

  const listOverdue: LedgerStore['listOverdue'] = async (nowMs, limit) => {
    // Those of the first `limit` ledgers hold the first `limit` grants, for each ledger stands where its first one does.
    const docs = await ledgers
      .find({ overdueAtMs: { $lt: nowMs } }, { projection: { accountId: 1, pool: 1, month: 1, grants: 1 } })
      .sort({ overdueAtMs: 1, _id: 1 })
      .limit(limit)
      .toArray();
    return overdueOf(docs, nowMs, limit);
  };

  const listOpen: LedgerStore['listOpen'] = async (after, limit) => {
    const isBehind = after
      ? {
          overdueAtMs: { $gte: after.endMs },
          $or: [{ overdueAtMs: { $gt: after.endMs } }, { _id: { $gt: after.ledgerId } }],
        }
      : { overdueAtMs: { $gte: 0 } };
    const numbers = { accountId: 1, pool: 1, month: 1, overdueAtMs: 1, 'grants.number': 1 };
    const docs = ledgers
      .find(isBehind, { projection: numbers })
      .sort({ overdueAtMs: 1, _id: 1 })
      .batchSize(LEDGERS_READ_AT_ONCE)
      .map((doc) => ({ ...doc, endMs: doc.overdueAtMs ?? 0 }));
    return openOf(docs, limit);
  };

  return {
    update,
    applyUsage: (usage) => inTime(applyUsage(usage)),
    listOverdue: (nowMs, limit) => inTime(listOverdue(nowMs, limit)),
    listOpen: (after, limit) => inTime(listOpen(after, limit)),
    readUsage: (accountId, month) => inTime(readUsage(accountId, month)),
  };
}

function tooManyChanges(): Fault {
  return new Fault('unavailable', 'too many changes of this ledger at once: try again');
}

function inTime<T>(answer: Promise<T>): Promise<T> {
  const detail = 'the ledgers did not answer in time: try again';
  return answerWithin(answer, { withinMs: ANSWER_WITHIN_MS, detail });
}

/** Which of the usage can be applied to these open grants, and which not. */
function judge(
  usage: readonly GrantUsage[],
  open: ReadonlyMap<string, OpenGrant>,
): NotApplied & { possible: GrantUsage[] } {
  const verdict = (given: GrantUsage) => {
    const grant = open.get(given.grantId);
    if (!grant) return 'refused';
    return fitsGrant(grant, given) ? 'possible' : 'impossible';
  };
  const { possible = [], refused = [], impossible = [] } = Object.groupBy(usage, verdict);
  return { possible, refused: idsOf(refused), impossible: idsOf(impossible) };
}

function idsOf(usage: readonly GrantUsage[]): string[] {
  return usage.map(({ grantId }) => grantId);
}

function ledgerFromDoc({ _id, version, overdueAtMs, expiresAt, ...ledger }: LedgerDoc): Ledger {
  return ledger;
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

function numberOfGrant({ grantId }: GrantUsage): number {
  return parseGrantId(grantId)?.number ?? 0;
}

function cellsWrite({ grantId, used, cells }: GrantUsage): AnyBulkWriteOperation<GrantCellsDoc> {
  const isNews = { $lt: [{ $ifNull: ['$used', -1] }, used] };
  const ledgerId = ledgerIdOf(keyOfGrant(grantId));
  return {
    updateOne: {
      filter: { _id: grantId },
      update: [
        {
          $set: {
            ledgerId: { $literal: ledgerId },
            expiresAt: expiryOf(ledgerId),
            cells: { $cond: [isNews, { $literal: cells }, '$cells'] },
            used: { $max: ['$used', used] },
          },
        },
      ],
      upsert: true,
    },
  };
}

function usageWrite(usage: GrantUsage): AnyBulkWriteOperation<LedgerDoc> {
  const { grantId, used, returned } = usage;
  return {
    updateOne: {
      filter: { _id: ledgerIdOf(keyOfGrant(grantId)), 'grants.number': numberOfGrant(usage) },
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
