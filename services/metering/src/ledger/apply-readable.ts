import type { LedgerStore } from './ledger-store.ts';
import type { SentUsage } from './sender.ts';
import type { NotApplied } from './usage-by-ledger.ts';
import { usageDefect } from './usage-check.ts';

/** Ids of the grants whose usage was not applied completely. */
export interface UsageAnswer extends NotApplied {
  /** Their usage contradicts itself. */
  unreadable: string[];
}

/** Applies usage. Usage that contradicts itself is never applied, and does not prevent the rest from being applied. */
export async function applyReadable(
  store: Pick<LedgerStore, 'applyUsage'>,
  usage: readonly SentUsage[],
): Promise<UsageAnswer> {
  const { readable = [], defective = [] } = Object.groupBy(usage, (grant) =>
    usageDefect(grant) === undefined ? 'readable' : 'defective',
  );
  const notApplied = await store.applyUsage(readable);
  return { ...notApplied, unreadable: defective.map(({ grantId }) => grantId) };
}
