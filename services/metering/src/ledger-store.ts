import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { grantIdOf, type Ledger, type LedgerKey, ledgerIdOf } from './ledger.ts';

export interface OverdueGrant {
  grantId: string;
  ttlMs: number;
}

/** A place in the order in which open grants are listed: ledgers by when their first grant ends, then by their ids. */
export interface OpenCursor {
  endMs: number;
  ledgerId: string;
}

/** Ids of the grants for which nothing was applied. */
export interface NotApplied {
  /** They are not open. */
  refused: string[];
  /** More is said to be used and returned than they hold: their holder is at fault. */
  impossible: string[];
}

/** Where ledgers are kept. What a method has answered is durable. Each rejects with Fault `unavailable`. */
export interface LedgerStore {
  /**
   * Reads one ledger (a new one if there is none), decides, and stores the decision's ledger before it returns, unless it
   * is the very one that was read; runs `decide` again when somebody else changed the ledger meanwhile.
   */
  update<T>(key: LedgerKey, decide: (ledger: Ledger) => { ledger: Ledger; result: T }): Promise<T>;
  /**
   * Applies cumulative usage: in any order, any number of times, the result is the same. Closing adds a grant's use and
   * its breakdown to those of the month, once. Rejects with Fault `invalid_argument`, having applied nothing, when an id is
   * none of this service.
   */
  applyUsage(usage: readonly GrantUsage[]): Promise<NotApplied>;
  /** Open grants whose time was over before `nowMs` by the wall clock, the oldest first, at most `limit` of them. */
  listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]>;
  /**
   * Open grants, those of one ledger together, from behind `after` or from the beginning: as many as are asked for, and the
   * rest of the last ledger. `next`: where the list goes on; undefined: it is at its end.
   */
  listOpen(
    after: OpenCursor | undefined,
    limit: number,
  ): Promise<{ grantIds: string[]; next: OpenCursor | undefined }>;
  /** An account's ledgers of one month, each with its breakdown, open grants included; all as of one moment. */
  readUsage(accountId: string, month: string): Promise<{ ledger: Ledger; cells: UsageCell[] }[]>;
}

/** The grants of some ledgers as `listOverdue` gives them; of two that ended together, that of the lesser id is first. */
export function overdueOf(
  ledgers: readonly (LedgerKey & Pick<Ledger, 'grants'>)[],
  nowMs: number,
  limit: number,
): OverdueGrant[] {
  return ledgers
    .flatMap((ledger) =>
      ledger.grants.map(({ number, openedAtMs, ttlMs }) => ({
        grantId: grantIdOf(ledger, number),
        ttlMs,
        endMs: openedAtMs + ttlMs,
      })),
    )
    .filter(({ endMs }) => endMs < nowMs)
    .sort((a, b) => a.endMs - b.endMs || (a.grantId < b.grantId ? -1 : 1))
    .slice(0, limit)
    .map(({ grantId, ttlMs }) => ({ grantId, ttlMs }));
}

/** When the first of these grants is over, by the wall clock; undefined: there is none. */
export function firstEndOf(grants: Ledger['grants']): number | undefined {
  if (grants.length === 0) return undefined;
  return grants.reduce(
    (first, { openedAtMs, ttlMs }) => Math.min(first, openedAtMs + ttlMs),
    Number.POSITIVE_INFINITY,
  );
}

/** A part of the list of open grants, from ledgers that come in its order. */
export async function openOf(
  ledgers: Iterable<OpenLedger> | AsyncIterable<OpenLedger>,
  limit: number,
): Promise<{ grantIds: string[]; next: OpenCursor | undefined }> {
  const grantIds: string[] = [];
  for await (const { endMs, ...ledger } of ledgers) {
    for (const { number } of ledger.grants) grantIds.push(grantIdOf(ledger, number));
    if (grantIds.length >= limit) return { grantIds, next: { endMs, ledgerId: ledgerIdOf(ledger) } };
  }
  return { grantIds, next: undefined };
}

interface OpenLedger extends LedgerKey {
  /** When its first grant ends. */
  endMs: number;
  grants: readonly { number: number }[];
}
