import type { Grant, GrantUsage, Route, UsageCell } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';

/** A grant in this gateway's hands. */
export interface HeldGrant {
  readonly id: string;
  /** Whose holding it belongs to. */
  readonly holdingKey: string;
  readonly size: number;
  readonly ttlMs: number;
  readonly idleMs: number;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** When its seq was first sent: its time runs from here. */
  readonly since: Instant;
  /** Calls that have a permit and no outcome. */
  reserved: number;
  used: number;
  /** Calls among the used whose usage is not known to be durable. */
  unsettled: number;
  /** Given back while it is open. */
  returned: number;
  lastUse: Instant;
  /** Nothing more is admitted on it. */
  retired: boolean;
  /** Retired with nothing in flight: what it used is final. */
  closed: boolean;
  /** When the stream acknowledged its close; absent: it has not. */
  storedAt: Instant | undefined;
  /** Metering closed it without this gateway: no usage of it counts any more. */
  refused: boolean;
  /** The breakdown of what is used. */
  readonly cells: Map<string, UsageCell>;
  /** Those of the cells whose present count is not known to be durable. */
  readonly unsureCells: Set<UsageCell>;
  /** As much as this of what is used and returned has been told to metering itself; the stream may know more. */
  reported: number;
  /** The same of what comes back. */
  reportedFreed: number;
}

/** What a message tells of a grant. */
export interface UsageSnapshot {
  readonly usage: GrantUsage;
  /** Permits used and returned. */
  readonly progress: number;
  /** Permits that come back by it. */
  readonly freed: number;
  /** The cells that `usage.cells` are copies of. */
  readonly cells: readonly UsageCell[];
}

/** A breakdown of up to so many cells always goes out whole. */
const CELLS_ALWAYS_REPORTED = 8;

export function newHeldGrant(
  { id, size, ttlMs, idleMs, periodStartMs, periodEndMs }: Grant,
  holdingKey: string,
  since: Instant,
  now: Instant,
): HeldGrant {
  return {
    ...{ id, holdingKey, size, ttlMs, idleMs, periodStartMs, periodEndMs, since },
    ...{ reserved: 0, used: 0, unsettled: 0, returned: 0, lastUse: now, reported: 0, reportedFreed: 0 },
    ...{ retired: false, closed: false, storedAt: undefined, refused: false },
    ...{ cells: new Map(), unsureCells: new Set() },
  };
}

/** A reserved permit is used by a call that is answered on this day, YYYY-MM-DD. */
export function useOne(
  grant: HeldGrant,
  { keyId, route, status, day }: { keyId: string; route: Route; status: number; day: string },
): void {
  grant.reserved -= 1;
  grant.used += 1;
  grant.unsettled += 1;
  const name = `${keyId} ${route} ${status} ${day}`;
  let cell = grant.cells.get(name);
  if (!cell) {
    cell = { keyId, route, status, day, count: 0 };
    grant.cells.set(name, cell);
  }
  cell.count += 1;
  grant.unsureCells.add(cell);
}

/**
 * The use of a grant so far, as it goes to metering: cumulative, but of a large breakdown only what is not known to be
 * durable. A close tells the whole.
 */
export function snapshotOf(grant: HeldGrant): UsageSnapshot {
  const { id, used, returned, closed } = grant;
  const partial = cellsToReport(grant) < grant.cells.size;
  const cells = [...(partial ? grant.unsureCells : grant.cells.values())];
  return {
    usage: { grantId: id, used, returned, closed, cells: cells.map((cell) => ({ ...cell })), partial },
    ...{ progress: progressOf(grant), freed: freedOf(grant) },
    cells,
  };
}

/** How many cells `snapshotOf` gives. */
export function cellsToReport({ closed, cells, unsureCells }: HeldGrant): number {
  return closed || cells.size <= CELLS_ALWAYS_REPORTED ? cells.size : unsureCells.size;
}

/** What was told is durable: what has not changed since need not be told again. */
export function markDurable(grant: HeldGrant, { usage, cells }: UsageSnapshot): void {
  for (const [index, cell] of cells.entries())
    if (cell.count === usage.cells[index]?.count) grant.unsureCells.delete(cell);
}

/** As one figure that only grows. */
export function progressOf({ used, returned }: HeldGrant): number {
  return used + returned;
}

/** Permits that nobody has any more. */
export function freedOf({ closed, size, used, returned }: HeldGrant): number {
  return closed ? size - used : returned;
}

/** Permits that a call may have. */
export function freeOf(grant: HeldGrant): number {
  return grant.retired ? 0 : grant.size - grant.returned - grant.used - grant.reserved;
}

/** Nothing is in flight on it. */
export function isQuiet(grant: HeldGrant): boolean {
  return grant.reserved === 0 && grant.unsettled === 0;
}

export function isSpent(grant: HeldGrant): boolean {
  return grant.used + grant.returned >= grant.size;
}

/** Nothing more can be admitted on it, or need be: it is to be closed as soon as it is quiet. */
export function isToRetire(grant: HeldGrant, now: Instant): boolean {
  const isIdle = grant.idleMs > 0 && isQuiet(grant) && elapsedMs(grant.lastUse, now) >= grant.idleMs;
  return isSpent(grant) || isIdle || leftMs(grant, now) <= 0;
}

/** Until its time or its month is over, by whichever clock is first. */
export function leftMs(grant: HeldGrant, now: Instant): number {
  return Math.min(grant.ttlMs - elapsedMs(grant.since, now), grant.periodEndMs - now.wallMs);
}
