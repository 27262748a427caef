import type { UsageCell } from '@brand-data/contracts';
import { grantIdOf, type Ledger, type LedgerKey, ledgerIdOf, type OpenGrant } from './ledger.ts';
import type { Breakdowns } from './ledger-usage.ts';

/** A ledger as it is stored; `version` grows with each write. */
export interface StoredLedger extends Ledger {
  version: number;
}

/** The use of a ledger's closed grants on one day (UTC). */
export interface DayOfLedger {
  ledgerId: string;
  day: string;
  cells: UsageCell[];
  /** Grants below this number are merged into it, as far as they have calls of the day. */
  mergedBelow: number;
  /** These grants are merged into it too. */
  merged: number[];
}

/** An account's month as of one moment. */
export interface StoredMonth {
  ledger: StoredLedger;
  /** The breakdowns of its open grants. */
  breakdowns: Breakdowns;
  days: DayOfLedger[];
}

/** The used and returned permits of some open grants of one ledger. */
export interface UseChange {
  ledger: LedgerKey;
  grants: readonly { before: OpenGrant; after: OpenGrant }[];
}

/** An open grant's breakdown, or a part of it. */
export interface GrantCells {
  grantId: string;
  cells: readonly UsageCell[];
}

export interface OverdueGrant {
  grantId: string;
  ttlMs: number;
}

/** A place in the order in which open grants are listed: ledgers by when their first grant ends, then by their ids. */
export interface OpenCursor {
  endMs: number;
  ledgerId: string;
}

export interface OpenGrants {
  grantIds: string[];
  /** Where the list goes on; undefined: it is at its end. */
  next: OpenCursor | undefined;
}

/**
 * The reads and writes that ledgers need. Each rejects with Fault `unavailable` when it is not answered in time: a write may
 * then be done all the same, even later.
 *
 * Reads show a durable state: a majority has it, so that no election takes it back. They may be behind, for up to a second
 * after an election and on a primary that does not know yet that it was deposed. Writes are answered once they are durable.
 * The database checks a write's condition against the latest state.
 */
export interface LedgerDatabase {
  /** The ledgers among these that exist. */
  readLedgers(ids: readonly string[]): Promise<StoredLedger[]>;
  /** A ledger, and the breakdowns of its open grants, as of one moment. */
  readWithBreakdowns(id: string): Promise<{ ledger: StoredLedger | undefined; breakdowns: Breakdowns }>;
  /** false: there is one already. */
  insertLedger(ledger: Ledger): Promise<boolean>;
  /** Stores each over the version that it was decided on, and answers how many still had that version. */
  replaceLedgers(changes: readonly { before: StoredLedger; after: Ledger }[]): Promise<number>;
  /**
   * Stores what these open grants used and returned, where all of them are as they were decided on, whatever else of
   * their ledger has changed; answers how many ledgers still had them so.
   */
  replaceUse(changes: readonly UseChange[]): Promise<number>;
  /** Stores counts of open grants; of two counts the larger wins. */
  raiseCells(grants: readonly GrantCells[]): Promise<void>;
  /** Forgets breakdowns of closed grants. Returns at once; a breakdown that stays counts nowhere and expires. */
  dropCells(grantIds: readonly string[]): void;
  /** Adds each grant's breakdown to the days of its ledger, unless they have it. */
  mergeIntoDays(
    key: LedgerKey,
    grants: readonly { number: number; cells: readonly UsageCell[] }[],
    mergedBelow: number,
  ): Promise<void>;
  /** An account's ledgers of one month with their breakdowns, as of one moment; by pool. */
  readMonth(accountId: string, month: string): Promise<StoredMonth[]>;
  /** Open grants whose time was over before `nowMs` by the wall clock, the oldest first, at most `limit` of them. */
  listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]>;
  /**
   * Open grants, those of one ledger together, from behind `after` or from the beginning: as many as are asked for, and
   * the rest of the last ledger.
   */
  listOpen(after: OpenCursor | undefined, limit: number): Promise<OpenGrants>;
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

/** When the first of these grants is over, by the wall clock; undefined: no grant is open. */
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
): Promise<OpenGrants> {
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
