import type { LastCall, LedgerUsage } from '@brand-data/contracts';
import type { Mongo } from '@brand-data/runtime';
import type { ClientSession } from 'mongodb';
import { grantIdOf, outOf, usedOf } from './ledger.ts';
import { withLedgerDeadline } from './ledger-deadline.ts';
import { CONCERNS, type DayDoc, type GrantCellsDoc, type LedgerDoc } from './mongo-ledger-database.ts';
import { cellFromName } from './usage-merge.ts';

/** The usage of many accounts, for operators. Reads only. Rejects with Fault `unavailable` if the database does not answer in time. */
export interface UsageLists {
  /** Ledgers of one month, by account and pool, at most `limit`. */
  list(page: UsagePage): Promise<{ ledgers: LedgerUsage[]; next: string; anyOpen: boolean }>;
  /** The day of the last billed call of each of these accounts. An account without one is missing. */
  lastCalls(accountIds: readonly string[]): Promise<LastCall[]>;
}

interface UsagePage {
  month: string;
  /** Empty: all accounts. */
  accountIds: readonly string[];
  limit: number;
  /** The id of the ledger with which the page before ended. */
  after: { accountId: string; ledgerId: string } | undefined;
}

/** What the lists read of a ledger. A ledger with many gateways and breakdowns would otherwise be some 100 KB. */
const FIGURES = {
  accountId: 1,
  pool: 1,
  month: 1,
  limit: 1,
  closedUsed: 1,
  'grants.size': 1,
  'grants.used': 1,
  'grants.returned': 1,
} as const;
type FiguresDoc = Pick<LedgerDoc, '_id' | 'accountId' | 'pool' | 'month' | 'limit' | 'closedUsed' | 'grants'>;

/** Opens the lists in metering's database, and creates their index. */
export async function openUsageLists({ client, db }: Mongo): Promise<UsageLists> {
  const ledgers = db.collection<LedgerDoc>('ledgers', CONCERNS);
  const grantCells = db.collection<GrantCellsDoc>('grant_breakdowns', CONCERNS);
  const days = db.collection<DayDoc>('daily_breakdowns', CONCERNS);
  await ledgers.createIndex({ month: 1, accountId: 1, _id: 1 });

  const asOfOneMoment = <T>(read: (session: ClientSession) => Promise<T>): Promise<T> =>
    client.withSession({ snapshot: true }, read);
  const inSnapshot = (session: ClientSession) => ({ session, readConcern: 'snapshot' }) as const;

  const list: UsageLists['list'] = ({ month, accountIds, limit, after }) =>
    asOfOneMoment(async (session) => {
      const docs = await ledgers
        .find(
          {
            month,
            ...(accountIds.length > 0 && { accountId: { $in: [...accountIds] } }),
            ...(after && {
              $and: [
                { accountId: { $gte: after.accountId } },
                { $or: [{ accountId: { $gt: after.accountId } }, { _id: { $gt: after.ledgerId } }] },
              ],
            }),
          },
          { ...inSnapshot(session), projection: FIGURES },
        )
        .sort({ accountId: 1, _id: 1 })
        .limit(limit)
        .toArray();
      const last = docs.length < limit ? undefined : docs.at(-1);
      return {
        ledgers: docs.map(usageFromDoc),
        next: last?._id ?? '',
        anyOpen: docs.some(({ grants }) => grants.length > 0),
      };
    });

  /** The ledgers of each account's last month with a billed call. */
  const lastUsed = async (accountIds: readonly string[], session: ClientSession): Promise<FiguresDoc[]> => {
    const used = new Map<string, FiguresDoc[]>();
    const docs = ledgers
      .find({ accountId: { $in: [...accountIds] } }, { ...inSnapshot(session), projection: FIGURES })
      .sort({ accountId: 1, month: 1, _id: 1 });
    for await (const doc of docs) {
      if (usedOf(doc) === 0) continue;
      const ofMonth = (used.get(doc.accountId) ?? []).filter(({ month }) => month === doc.month);
      used.set(doc.accountId, [...ofMonth, doc]);
    }
    return [...used.values()].flat();
  };

  /** The days of these ledgers' billed calls: of those merged into days, of closed grants that are not, and of open grants. */
  const daysOf = async (ids: readonly string[], session: ClientSession): Promise<Map<string, string[]>> => {
    const found = new Map<string, string[]>(ids.map((id) => [id, []]));
    const merged = days.find(
      { ledgerId: { $in: [...ids] } },
      { ...inSnapshot(session), projection: { ledgerId: 1, day: 1 } },
    );
    for await (const { ledgerId, day } of merged) found.get(ledgerId)?.push(day);
    const unmerged = {
      accountId: 1,
      pool: 1,
      month: 1,
      'closed.cells': 1,
      'grants.number': 1,
      'grants.secret': 1,
    };
    const docs = await ledgers
      .find({ _id: { $in: [...ids] } }, { ...inSnapshot(session), projection: unmerged })
      .toArray();
    const open = new Map(docs.flatMap((doc) => doc.grants.map((grant) => [grantIdOf(doc, grant), doc._id])));
    for (const { _id, closed = [] } of docs)
      for (const { cells = [] } of closed) found.get(_id)?.push(...cells.map(({ day }) => day));
    for await (const { _id, cells } of grantCells.find(
      { _id: { $in: [...open.keys()] } },
      inSnapshot(session),
    ))
      found.get(open.get(_id) ?? '')?.push(...Object.keys(cells).map((name) => cellFromName(name, 0).day));
    return found;
  };

  const lastCalls: UsageLists['lastCalls'] = (accountIds) =>
    asOfOneMoment(async (session) => {
      const used = await lastUsed(accountIds, session);
      const found = await daysOf(
        used.map(({ _id }) => _id),
        session,
      );
      const last = new Map<string, string>();
      for (const { _id, accountId, month } of used) {
        // A billed call whose breakdown is lost may have been on any day of its month, so this takes the first one.
        const day = (found.get(_id) ?? []).reduce(later, `${month}-01`);
        last.set(accountId, later(last.get(accountId) ?? '', day));
      }
      return [...last].map(([accountId, day]) => ({ accountId, day }));
    });

  return {
    list: (page) => withLedgerDeadline(list(page)),
    lastCalls: (accountIds) => withLedgerDeadline(lastCalls(accountIds)),
  };
}

function usageFromDoc({ accountId, pool, limit, ...figures }: FiguresDoc): LedgerUsage {
  return { accountId, pool, allowance: limit, used: usedOf(figures), heldByGateways: outOf(figures) };
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}
