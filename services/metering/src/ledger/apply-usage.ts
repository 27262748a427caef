import type { GrantUsage } from '@brand-data/contracts';
import type { LedgerStore, NotApplied } from './ledger-store.ts';
import { usageDefect } from './usage-check.ts';

/** Ids of the grants of which not all was applied. */
export interface UsageAnswer extends NotApplied {
  /** Their usage contradicts itself. */
  unreadable: string[];
}

/** Applies usage except what contradicts itself, which is never applied and keeps no other usage from it. */
export async function applyReadable(store: LedgerStore, usage: readonly GrantUsage[]): Promise<UsageAnswer> {
  const { readable = [], defective = [] } = Object.groupBy(usage, (grant) =>
    usageDefect(grant) === undefined ? 'readable' : 'defective',
  );
  const notApplied = await store.applyUsage(readable);
  return { ...notApplied, unreadable: defective.map(({ grantId }) => grantId) };
}
