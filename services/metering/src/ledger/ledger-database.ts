import { boundsOfMonth, MONTH_MARGIN_MS, type UsageCell } from '@brand-data/contracts';
import {
  type ClosedGrant,
  grantIdOf,
  type Ledger,
  type LedgerKey,
  ledgerIdOf,
  type OpenGrant,
} from './ledger.ts';
import type { Breakdowns } from './ledger-usage.ts';
import { breakdownOf, sumCells } from './usage-merge.ts';

/** A stored ledger. Each write increases `version`. */
export interface StoredLedger extends Ledger {
  version: number;
}

/** The breakdown of a ledger's closed grants on one day (UTC). */
export interface DayOfLedger {
  ledgerId: string;
  day: string;
  cells: UsageCell[];
  /** The calls that grants below this number have on this day are merged into `cells`. */
  mergedBelow: number;
  /** Further grants that are merged into `cells`. */
  merged: number[];
}

/** One ledger of an account with its breakdowns, read as of one moment. */
export interface StoredMonth {
  ledger: StoredLedger;
  breakdowns: Breakdowns;
  days: DayOfLedger[];
}

export interface LedgerChange {
  /** Absent: the ledger is new. */
  before?: StoredLedger | undefined;
  after: Ledger;
}

/** Whether a change is stored. `over`: it is not, because it opens a grant of a month that is over. */
export type Stored = boolean | 'over';

/** New numbers of used and returned permits for some open grants of one ledger. */
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

/**
 * A position in the list of open grants. The list is ordered by ledger: first by the end of the ledger's first grant, then by
 * the ledger's id.
 */
export interface OpenCursor {
  endMs: number;
  ledgerId: string;
}

export interface OpenGrants {
  grantIds: string[];
  /** The position from which to continue. undefined: the list is complete. */
  next: OpenCursor | undefined;
}

/**
 * The database operations that ledgers need. Each rejects with Fault `unavailable` if the database does not answer in time. A
 * write may still take effect after that.
 *
 * Reads show a state that a majority of the database's members has stored, so no election can undo it. That state may be out of
 * date in two cases: for up to a second after an election, and when a deposed primary answers before it learns of its successor.
 * The database answers a write once the write is durable, and checks a write's condition against the latest state.
 */
export interface LedgerDatabase {
  /** Returns those of these ledgers that exist. */
  readLedgers(ids: readonly string[]): Promise<StoredLedger[]>;
  /** A ledger and the breakdowns of its open grants, as of one moment. */
  readWithBreakdowns(id: string): Promise<{ ledger: StoredLedger | undefined; breakdowns: Breakdowns }>;
  /**
   * Stores each new state if the ledger's stored version is still that of `before` or, without `before`, if the ledger does not
   * exist yet. It opens a grant only before `opensUntilMs`, by the clock of the database at the moment of the write. Returns
   * whether each state is stored.
   */
  storeLedgers(changes: readonly LedgerChange[]): Promise<Stored[]>;
  /**
   * Stores how much of these open grants is used and returned. It changes a ledger only if all of the ledger's grants that are to
   * change are still as in `before`. Other changes of the ledger do not matter. Returns for each ledger whether it is changed.
   */
  replaceUse(changes: readonly UseChange[]): Promise<boolean[]>;
  /** Stores breakdowns of open grants. If a cell is stored already, the larger count is kept. */
  raiseCells(grants: readonly GrantCells[]): Promise<void>;
  /**
   * Deletes breakdowns of closed grants. Returns at once. If the deletion fails, the breakdown stays until it expires, and no
   * operation reads it.
   */
  dropCells(grantIds: readonly string[]): void;
  /** Adds each grant's breakdown to its ledger's days, except where the day already contains the grant. */
  mergeIntoDays(
    key: LedgerKey,
    grants: readonly { number: number; cells: readonly UsageCell[] }[],
    mergedBelow: number,
  ): Promise<void>;
  /** An account's ledgers of one month, one for each pool, with their breakdowns, as of one moment. */
  readMonth(accountId: string, month: string): Promise<StoredMonth[]>;
  /**
   * Returns a time that the clock of the database has reached, in milliseconds since 1970. This clock never goes back, not even in an
   * election: every later write has a later time.
   */
  nowMs(): Promise<number>;
  /** Open grants that ended before `nowMs` by the wall clock, at most `limit`, the earliest end first. */
  listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]>;
  /**
   * Returns open grants after the position `after`, or from the beginning. The list ends with the ledger whose grants fill
   * `limit`. It contains all grants of that ledger, so it may be longer than `limit`.
   */
  listOpen(after: OpenCursor | undefined, limit: number): Promise<OpenGrants>;
}

/** From this time on, no grant of the month is opened. In milliseconds since 1970, by the clock of the database. */
export function opensUntilMs(month: string): number {
  return boundsOfMonth(month).endMs + MONTH_MARGIN_MS;
}

export function opensGrant(before: Ledger | undefined, after: Ledger): boolean {
  const next = before?.nextGrant ?? 1;
  return after.grants.some(({ number }) => number >= next);
}

/**
 * Returns the overdue grants of these ledgers, as `listOverdue` returns them. Grants that ended together are ordered by their
 * ids.
 */
export function overdueOf(
  ledgers: readonly (LedgerKey & Pick<Ledger, 'grants'>)[],
  nowMs: number,
  limit: number,
): OverdueGrant[] {
  return ledgers
    .flatMap((ledger) =>
      ledger.grants.map((grant) => ({
        grantId: grantIdOf(ledger, grant),
        ttlMs: grant.ttlMs,
        endMs: grant.openedAtMs + grant.ttlMs,
      })),
    )
    .filter(({ endMs }) => endMs < nowMs)
    .sort((a, b) => a.endMs - b.endMs || (a.grantId < b.grantId ? -1 : 1))
    .slice(0, limit)
    .map(({ grantId, ttlMs }) => ({ grantId, ttlMs }));
}

/** When the first of these grants ends, by the wall clock. undefined: no grant is open. */
export function firstEndOf(grants: Ledger['grants']): number | undefined {
  if (grants.length === 0) return undefined;
  return grants.reduce(
    (first, { openedAtMs, ttlMs }) => Math.min(first, openedAtMs + ttlMs),
    Number.POSITIVE_INFINITY,
  );
}

/**
 * One part of the list of open grants.
 *
 * @param ledgers in the order of the list
 */
export async function openOf(
  ledgers: Iterable<OpenLedger> | AsyncIterable<OpenLedger>,
  limit: number,
): Promise<OpenGrants> {
  const grantIds: string[] = [];
  for await (const { endMs, ...ledger } of ledgers) {
    for (const grant of ledger.grants) grantIds.push(grantIdOf(ledger, grant));
    if (grantIds.length >= limit) return { grantIds, next: { endMs, ledgerId: ledgerIdOf(ledger) } };
  }
  return { grantIds, next: undefined };
}

interface OpenLedger extends LedgerKey {
  /** When its first grant ends. */
  endMs: number;
  grants: readonly Pick<OpenGrant, 'number' | 'secret'>[];
}

/**
 * Returns a ledger's breakdown of its month: its days, the closed grants that are not merged into the days yet, and the billed
 * part of the open grants.
 */
export function breakdownOfMonth({ ledger, breakdowns, days }: StoredMonth): UsageCell[] {
  const byDay = new Map(days.map((day) => [day.day, day]));
  const unmerged = ledger.closed.flatMap((grant) => cellsNotIn(byDay, grant));
  const open = ledger.grants.flatMap(({ number, used }) =>
    billedPart(breakdowns.get(number) ?? [], used, ledger.month),
  );
  return sumCells([...days.flatMap(({ cells }) => cells), ...unmerged, ...open]);
}

function cellsNotIn(
  days: ReadonlyMap<string, DayOfLedger>,
  { number, cells = [] }: ClosedGrant,
): UsageCell[] {
  return cells.filter(({ day }) => {
    const known = days.get(day);
    return !known || (number >= known.mergedBelow && !known.merged.includes(number));
  });
}

/**
 * The store writes an open grant's breakdown before `used`, so the breakdown may have more calls than are billed. This cuts it to
 * `used`. It may also have fewer, while messages with other parts of it are not applied yet. This adds nothing for those calls.
 */
function billedPart(cells: readonly UsageCell[], used: number, month: string): UsageCell[] {
  return breakdownOf(cells, used, month).filter(({ status }) => status !== 0);
}
