import type { GrantUsage } from '@brand-data/contracts';
import type { LedgerStore, NotApplied } from './ledger-store.ts';
import { usageDefect } from './usage-check.ts';

/** Ids of the grants of which not all was applied. */
export interface UsageAnswer extends NotApplied {
  /** What was said of them makes no sense. */
  unreadable: string[];
}

/** Applies what makes sense of some usage. What does not is never applied and spoils nothing that came with it. */
export async function applyReadable(store: LedgerStore, usage: readonly GrantUsage[]): Promise<UsageAnswer> {
  const { readable = [], defective = [] } = Object.groupBy(usage, (grant) =>
    usageDefect(grant) === undefined ? 'readable' : 'defective',
  );
  const notApplied = await store.applyUsage(readable);
  return { ...notApplied, unreadable: defective.map(({ grantId }) => grantId) };
}
