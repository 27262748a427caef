import { addMonths, monthOf, type RepairedLimit } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { Allowances } from './allowances.ts';

/**
 * Gives the ledgers of an account, of this month and the next, the limits and the revision that accounts has just signed, whatever
 * revision they had. Does not create ledgers.
 */
export async function repairLimits(
  { store, allowances }: { store: LedgerStore; allowances: Allowances },
  token: string,
  nowMs: number,
): Promise<{ accountId: string; limits: RepairedLimit[] }> {
  const allowance = await allowances.verify(token);
  if (!allowance || nowMs >= allowance.untilMs)
    throw new Fault('unauthenticated', 'accounts has not signed this allowance, or its time is over');
  const { accountId, limitRevision, limits } = allowance;
  const month = monthOf(nowMs);
  const repaired: RepairedLimit[] = [];
  for (const each of [month, addMonths(month, 1)]) {
    for (const { ledger } of await store.readUsage(accountId, each)) {
      // A pool that the plan no longer has gives no permits.
      const limit = limits.get(ledger.pool) ?? 0;
      const before = await store.update(ledger, (stored: Ledger) => {
        const isRight = stored.limit === limit && stored.limitRevision === limitRevision;
        return { ledger: isRight ? stored : { ...stored, limit, limitRevision }, result: stored };
      });
      repaired.push({
        pool: ledger.pool,
        month: each,
        limit,
        revision: limitRevision,
        limitBefore: before.limit,
        revisionBefore: before.limitRevision,
      });
    }
  }
  return { accountId, limits: repaired };
}
