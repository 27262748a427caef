import type { GrantUsage } from '@brand-data/contracts';
import type { LedgerStore } from './ledger-store.ts';
import { usageDefect } from './usage-check.ts';

/**
 * Applies what makes sense of some usage. What does not is never applied and spoils nothing that came with it. Answers the
 * ids of the grants that are not open, and of those whose usage makes no sense. Rejects with Fault `unavailable`.
 */
export async function applyReadable(
  store: LedgerStore,
  usage: readonly GrantUsage[],
): Promise<{ refused: string[]; unreadable: string[] }> {
  const { readable = [], defective = [] } = Object.groupBy(usage, (grant) =>
    usageDefect(grant) === undefined ? 'readable' : 'defective',
  );
  const { refused, impossible } = await store.applyUsage(readable);
  return { refused, unreadable: [...defective.map(({ grantId }) => grantId), ...impossible] };
}
