import type { LastCall, LedgerUsage } from '@brand-data/contracts';
import type { Mongo } from '@brand-data/runtime';
import type { Filter } from 'mongodb';
import { grantIdOf, outOf, usedOf } from './ledger.ts';
import { asOfOneMoment, type InSnapshot, type LedgerDoc, ledgerCollections } from './ledger-collections.ts';
import { cellFromName } from './usage-merge.ts';

interface UsagePage {
  month: string;
  /** Empty: all accounts. */
  accountIds: readonly string[];
  limit: number;
  /** The id of the ledger with which the page before ended. */
  after: { accountId: string; ledgerId: string } | undefined;
}

/** The fields of a ledger that the lists read. A whole ledger with many gateways and breakdowns has some 100 KB. */
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

/** The usage of many accounts, for operators. Reads only. Rejects with Fault `unavailable` if the database does not answer in time. */
export class UsageLists {
  readonly #mongo: Mongo;
  readonly #stored: ReturnType<typeof ledgerCollections>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#stored = ledgerCollections(mongo.db);
  }

  /** Returns ledgers of one month, by account and pool, at most `limit`. */
  list(page: UsagePage): Promise<{ ledgers: LedgerUsage[]; next: string; anyOpen: boolean }> {
    return asOfOneMoment(this.#mongo, async (inSnapshot) => {
      const docs = await this.#stored.ledgers
        .find(filterOf(page), { ...inSnapshot, projection: FIGURES })
        .sort({ accountId: 1, _id: 1 })
        .limit(page.limit)
        .toArray();
      const last = docs.length < page.limit ? undefined : docs.at(-1);
      return {
        ledgers: docs.map(usageFromDoc),
        next: last?._id ?? '',
        anyOpen: docs.some(({ grants }) => grants.length > 0),
      };
    });
  }

  /** Returns the day of the last billed call of each of these accounts. An account without one is missing. */
  lastCalls(accountIds: readonly string[]): Promise<LastCall[]> {
    return asOfOneMoment(this.#mongo, async (inSnapshot) => {
      const used = await this.#lastUsed(accountIds, inSnapshot);
      const ids = used.map(({ _id }) => _id);
      const found = await this.#daysOf(ids, inSnapshot);
      const last = new Map<string, string>();
      for (const { _id, accountId, month } of used) {
        // A billed call whose breakdown is lost may have been on any day of its month, so this takes the first one.
        const day = (found.get(_id) ?? []).reduce(later, `${month}-01`);
        last.set(accountId, later(last.get(accountId) ?? '', day));
      }
      return [...last].map(([accountId, day]) => ({ accountId, day }));
    });
  }

  /** Returns the ledgers of each account's last month with a billed call. */
  async #lastUsed(accountIds: readonly string[], inSnapshot: InSnapshot): Promise<FiguresDoc[]> {
    const used = new Map<string, FiguresDoc[]>();
    const docs = this.#stored.ledgers
      .find({ accountId: { $in: [...accountIds] } }, { ...inSnapshot, projection: FIGURES })
      .sort({ accountId: 1, month: 1, _id: 1 });
    for await (const doc of docs) {
      if (usedOf(doc) === 0) continue;
      const ofMonth = (used.get(doc.accountId) ?? []).filter(({ month }) => month === doc.month);
      used.set(doc.accountId, [...ofMonth, doc]);
    }
    return [...used.values()].flat();
  }

  /**
   * Returns, by ledger id, the days that have billed calls. Three places have them: the totals of days, the closed grants that are
   * not yet merged into those totals, and the open grants.
   */
  async #daysOf(ids: string[], inSnapshot: InSnapshot): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>(ids.map((id) => [id, []]));
    const merged = this.#stored.days.find(
      { ledgerId: { $in: ids } },
      { ...inSnapshot, projection: { ledgerId: 1, day: 1 } },
    );
    for await (const { ledgerId, day } of merged) found.get(ledgerId)?.push(day);
    const docs = await this.#stored.ledgers
      .find({ _id: { $in: ids } }, { ...inSnapshot, projection: UNMERGED })
      .toArray();
    for (const { _id, closed = [] } of docs)
      for (const { cells = [] } of closed) found.get(_id)?.push(...cells.map(({ day }) => day));
    const open = new Map(docs.flatMap((doc) => doc.grants.map((grant) => [grantIdOf(doc, grant), doc._id])));
    const unmerged = this.#stored.grantCells.find({ _id: { $in: [...open.keys()] } }, inSnapshot);
    for await (const { _id, cells } of unmerged)
      found.get(open.get(_id) ?? '')?.push(...Object.keys(cells).map((name) => cellFromName(name, 0).day));
    return found;
  }
}

/** The fields of a ledger that the days of calls need. */
const UNMERGED = {
  accountId: 1,
  pool: 1,
  month: 1,
  'closed.cells': 1,
  'grants.number': 1,
  'grants.secret': 1,
};

function filterOf({ month, accountIds, after }: UsagePage): Filter<LedgerDoc> {
  return {
    month,
    ...(accountIds.length > 0 && { accountId: { $in: [...accountIds] } }),
    ...(after && {
      $and: [
        { accountId: { $gte: after.accountId } },
        { $or: [{ accountId: { $gt: after.accountId } }, { _id: { $gt: after.ledgerId } }] },
      ],
    }),
  };
}

function usageFromDoc({ accountId, pool, limit, ...figures }: FiguresDoc): LedgerUsage {
  return { accountId, pool, allowance: limit, used: usedOf(figures), heldByGateways: outOf(figures) };
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}
