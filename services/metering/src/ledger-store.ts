import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import type { Ledger, LedgerKey } from './ledger.ts';

export interface OverdueGrant {
  grantId: string;
  ttlMs: number;
}

/** Where ledgers are kept. What a method has answered is durable. */
export interface LedgerStore {
  /**
   * Reads one ledger (a new one if there is none), decides, and stores the decision's ledger before it returns, unless it
   * is the very one that was read; runs `decide` again when somebody else changed the ledger meanwhile. Rejects with
   * Fault `unavailable`.
   */
  update<T>(key: LedgerKey, decide: (ledger: Ledger) => { ledger: Ledger; result: T }): Promise<T>;
  /**
   * Applies cumulative usage: in any order, any number of times, the result is the same. Answers the ids of those
   * grants that are not open, for which nothing was applied.
   */
  applyUsage(usage: readonly GrantUsage[]): Promise<{ refused: string[] }>;
  /** Open grants whose time was over before `nowMs` by the wall clock, at most `limit` of them. */
  listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]>;
  /** An account's ledgers of one month, each with its breakdown, open grants included. */
  readUsage(accountId: string, month: string): Promise<{ ledger: Ledger; cells: UsageCell[] }[]>;
}
